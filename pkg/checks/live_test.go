package checks_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/evidence"
	"github.com/mvpcheck/mvpcheck/pkg/handoff"
)

const evidenceDir = "../../testdata/evidence"

func readEvidence(t *testing.T, name string) *evidence.ControlPlane {
	t.Helper()
	f, err := os.Open(filepath.Join(evidenceDir, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cp, err := evidence.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

// summary is a judgement in a few lines: servers, pairs, findings with what follows from them, and what is not known.
func summary(res checks.LiveResult) string {
	var b strings.Builder
	for _, s := range res.Servers {
		fmt.Fprintf(&b, "server %s: gate %s, peer CA %s, %d/%d resources: %s: %s\n", s.Name, s.Gate, s.PeerCA, s.Local, s.Merged, s.Result, s.Says)
	}
	for _, p := range res.Pairs {
		fmt.Fprintf(&b, "pair %s -> %s: %s %v\n", p.From, p.To, p.Verdict, p.Causes)
	}
	for _, f := range res.Findings {
		fmt.Fprintf(&b, "%s %s [%s] %s\n", f.Severity, f.Rule.ID, strings.Join(f.Servers, " "), f.Message)
		for _, e := range f.Effects {
			fmt.Fprintf(&b, "    effect %v %s: %s\n", e.Rules, e.Server, e.Message)
		}
		for _, s := range f.Seen {
			fmt.Fprintf(&b, "    seen %s\n", s)
		}
	}
	for _, n := range res.Unknown {
		fmt.Fprintf(&b, "unknown %s: %s\n", n.Rule.ID, n.Reason)
	}
	if res.CannotTell != "" {
		fmt.Fprintf(&b, "cannot tell: %s\n", res.CannotTell)
	}
	return b.String()
}

func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// TestEvidence judges what real control planes said, recorded in the lab, one for each row of the facts.
func TestEvidence(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(evidenceDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no evidence in %s: %v", evidenceDir, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			got := summary(checks.RunLive(readEvidence(t, name), checks.All()))
			golden := filepath.Join(evidenceDir, name+".want")
			if updating() {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s (-want +got):\n%s", golden, d)
			}
		})
	}
}

// fired lists the rules that fired, each once.
func fired(res checks.LiveResult) []string {
	var ids []string
	for _, f := range res.Findings {
		if !slices.Contains(ids, f.Rule.ID) {
			ids = append(ids, f.Rule.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// TestLive changes the evidence of a control plane in one respect each.
func TestLive(t *testing.T) {
	forbidden := evidence.Told{State: evidence.Forbidden, Reason: "403 Forbidden"}
	for _, tc := range []struct {
		name, from string
		change     func(*evidence.ControlPlane)
		want       []string
		cannotTell string
	}{
		{name: "nothing", from: "H1", change: func(*evidence.ControlPlane) {}, want: []string{"MVP512"}},
		{
			name: "published address differs", from: "H11",
			change: func(c *evidence.ControlPlane) { c.Servers[1].Flags.Values["secure-port"] = "8443" },
			want:   []string{"MVP509", "MVP512", "MVP514", "MVP518"},
		},
		{
			name: "three minors apart", from: "H11",
			change: func(c *evidence.ControlPlane) { c.Servers[0].Version.GitVersion = "v1.34.4" },
			want:   []string{"MVP512", "MVP514", "MVP518"},
		},
		{
			name: "merged document without a resource that is handed off", from: "H1",
			change: func(c *evidence.ControlPlane) { c.Servers[0].Merged = c.Servers[0].Local },
			want:   []string{"MVP502", "MVP512"},
		},
		{
			name: "no source shows the cause", from: "H4",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					c.Servers[i].Metrics = evidence.Metrics{Told: forbidden}
				}
				c.Shared.Leases = evidence.Leases{Told: forbidden}
				c.Shared.Dials = nil
			},
			want: []string{"MVP501", "MVP513"},
		},
		{
			name: "readyz forbidden: metrics tell", from: "H3",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					c.Servers[i].Hooks = evidence.Hooks{Told: forbidden}
				}
			},
			want: []string{"MVP501", "MVP513"},
		},
		{
			name: "one release, counters forbidden", from: "H13",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					c.Servers[i].Metrics = evidence.Metrics{Told: forbidden}
				}
			},
			want: []string{"MVP513", "MVP517"}, cannotTell: "/metrics cannot be read",
		},
		{
			name: "one release, peers not read yet", from: "H13",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					r := &c.Servers[i].Metrics.Readings[0]
					r.Rerouted, r.Started = nil, r.Time.Add(-7*time.Second)
				}
			},
			want: []string{"MVP517"}, cannotTell: "started 7 s ago",
		},
		{
			name: "one release, refused at some time", from: "H13",
			change: func(c *evidence.ControlPlane) {
				r := &c.Servers[0].Metrics.Readings[0]
				r.Rerouted = append(r.Rerouted, evidence.Count{Code: "401", Value: 3})
			},
			want: []string{"MVP506", "MVP517"}, cannotTell: "nothing shows whether cp-1 would hand requests to its peers",
		},
		{
			name: "documents alone, nothing merged", from: "H3",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					c.Servers[i].Objects = nil
				}
			},
			want: []string{"MVP504"},
		},
		{
			name: "documents alone, handed off", from: "H1",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					c.Servers[i].Objects = nil
				}
			},
			want: []string{"MVP512"},
		},
		{
			name: "objects forbidden", from: "H1",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					for j := range c.Servers[i].Objects {
						c.Servers[i].Objects[j].Asked, c.Servers[i].Objects[j].Alone = evidence.Denied, evidence.Denied
					}
				}
			},
			want: []string{"MVP512", "MVP513"},
		},
		{
			name: "documents forbidden", from: "H1",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					s := &c.Servers[i]
					s.Core, s.Local, s.Merged = evidence.Document{Told: forbidden}, evidence.Document{Told: forbidden}, evidence.Document{Told: forbidden}
					s.Objects = nil
				}
			},
			want: []string{"MVP513"},
		},
		{
			name: "a server that nothing names", from: "H13-three",
			change: func(c *evidence.ControlPlane) { c.Servers, c.Shared.Pods.Items = c.Servers[:2], c.Shared.Pods.Items[:2] },
			want:   []string{"MVP510", "MVP517"}, cannotTell: "not all API servers that run could be asked",
		},
		{
			name: "the binding of discovery is gone, and nobody was refused yet", from: "H13",
			change: func(c *evidence.ControlPlane) { c.Shared.Discovery = evidence.Binding{Told: evidence.Told{State: evidence.Absent}} },
			want:   []string{"MVP515", "MVP517"},
		},
		{
			name: "a certificate of another CA", from: "H5",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Shared.Dials {
					c.Shared.Dials[i].Trusted = false
				}
			},
			want: []string{"MVP505"},
		},
		{
			name: "the server itself answers elsewhere, and a peer reaches it all the same", from: "H1",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Shared.Dials {
					c.Shared.Dials[i] = evidence.Dial{Address: c.Shared.Dials[i].Address, Error: "no connection in time"}
				}
			},
			want: []string{"MVP512"},
		},
		{
			name: "published addresses answer the peers, and not us", from: "H13",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Shared.Dials {
					c.Shared.Dials[i] = evidence.Dial{Address: c.Shared.Dials[i].Address, Error: "no connection in time"}
				}
			},
			want: []string{"MVP517"},
		},
		{
			name: "the kubeconfig's CA is not the one that the peers use", from: "H13",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Shared.Dials {
					c.Shared.Dials[i].Trusted = false
				}
			},
			want: []string{"MVP517"},
		},
		{
			name: "a server of two has just started and has no lease yet", from: "H13",
			change: func(c *evidence.ControlPlane) {
				c.Shared.Leases.Items = c.Shared.Leases.Items[:1]
				c.Servers[1].Identity = ""
				r := &c.Servers[1].Metrics.Readings[0]
				r.Rerouted, r.Started = nil, r.Time.Add(-4*time.Second)
			},
			want: []string{"MVP517"}, cannotTell: "cp-2",
		},
		{
			name: "a document lies: its server answers that it does not serve", from: "H2",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					for j := range c.Servers[i].Objects {
						c.Servers[i].Objects[j].Alone = evidence.NotServed
					}
				}
			},
			want: []string{"MVP503"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cp := readEvidence(t, tc.from)
			tc.change(cp)
			res := checks.RunLive(cp, checks.All())
			if d := cmp.Diff(tc.want, fired(res)); d != "" {
				t.Errorf("rules (-want +got):\n%s%s", d, summary(res))
			}
			if tc.cannotTell == "" && res.CannotTell != "" || !strings.Contains(res.CannotTell, tc.cannotTell) {
				t.Errorf("cannot tell %q, want %q\n%s", res.CannotTell, tc.cannotTell, summary(res))
			}
		})
	}
}

// TestEveryLiveRuleFires makes sure that each rule about live control planes has evidence at which it fires.
func TestEveryLiveRuleFires(t *testing.T) {
	seen := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(evidenceDir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		res := checks.RunLive(readEvidence(t, strings.TrimSuffix(filepath.Base(file), ".json")), checks.All())
		for _, f := range res.Findings {
			seen[f.Rule.ID] = true
			for _, e := range f.Effects {
				for _, id := range e.Rules {
					seen[id] = true
				}
			}
		}
	}
	// These need evidence that a lab does not give; TestLive has it.
	for _, id := range []string{"MVP509", "MVP513"} {
		seen[id] = true
	}
	for _, r := range checks.All() {
		if r.Live != nil && !seen[r.ID] {
			t.Errorf("no evidence lets %s fire", r.ID)
		}
	}
}

// TestHealthy judges healthy control planes by each rule: no error, no warning.
func TestHealthy(t *testing.T) {
	for _, name := range []string{"H1", "H11", "H12", "H13", "H13-three", "H13-old", "H15-covered", "NotBuiltIn", "one-server"} {
		res := checks.RunLive(readEvidence(t, name), checks.All())
		for _, f := range res.Findings {
			if f.Severity != checks.Info {
				t.Errorf("%s: %s %s: %s", name, f.Severity, f.Rule.ID, f.Message)
			}
		}
		if res.CannotTell != "" {
			t.Errorf("%s: cannot tell: %s", name, res.CannotTell)
		}
		for _, p := range res.Pairs {
			if p.Verdict != handoff.Yes {
				t.Errorf("%s: %s -> %s: %s %v", name, p.From, p.To, p.Verdict, p.Causes)
			}
		}
	}
}

// FuzzRunLive judges evidence of any kind: no panic, and never a verdict where a server could not be asked.
func FuzzRunLive(f *testing.F) {
	for _, name := range []string{"H10-at-once", "one-server"} {
		text, err := os.ReadFile(filepath.Join(evidenceDir, name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var cp evidence.ControlPlane
		if json.Unmarshal(text, &cp) != nil {
			return
		}
		res := checks.RunLive(&cp, checks.All())
		for i := range cp.Servers {
			if !cp.Servers[i].Reached.OK() && res.CannotTell == "" {
				t.Errorf("server %q could not be asked, and there is a verdict", cp.Servers[i].Address)
			}
		}
	})
}
