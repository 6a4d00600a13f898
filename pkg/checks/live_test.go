package checks_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
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
			change: func(c *evidence.ControlPlane) {
				c.Servers, c.Shared.Pods.Items = c.Servers[:2], c.Shared.Pods.Items[:2]
			},
			want: []string{"MVP510", "MVP517"}, cannotTell: "not all API servers that run could be asked",
		},
		{
			name: "the binding of discovery is gone, and nobody was refused yet", from: "H13",
			change: func(c *evidence.ControlPlane) {
				c.Shared.Discovery = evidence.Binding{Told: evidence.Told{State: evidence.Absent}}
			},
			want: []string{"MVP515", "MVP517"},
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
			name: "three servers of 1.34: what one has read may be one peer, again and again", from: "H13-three",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Servers {
					c.Servers[i].Version.GitVersion = "v1.34.4"
					c.Servers[i].Metrics.Readings[0].Rerouted = []evidence.Count{{Code: "200", Value: 12}}
				}
			},
			want: []string{"MVP517"}, cannotTell: "nothing shows whether cp-1, cp-2 and cp-3 would hand requests",
		},
		{
			name: "what clients got is no discovery document", from: "H13-three",
			change: func(c *evidence.ControlPlane) {
				r := &c.Servers[0].Metrics.Readings[0]
				client := evidence.Resource{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"}
				r.Rerouted = []evidence.Count{{Code: "200", Value: 2}, {Code: "200", Value: 40, Resource: client}}
			},
			want: []string{"MVP517"}, cannotTell: "nothing shows whether cp-1 would hand requests",
		},
		{
			name: "the kubeconfig has no CA", from: "H4",
			change: func(c *evidence.ControlPlane) {
				for i := range c.Shared.Dials {
					c.Shared.Dials[i].Trusted, c.Shared.Dials[i].Unverified = false, true
				}
			},
			want: []string{"MVP505"},
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

// TestRandomPeer has a server that may ask a peer which does not have what it is asked for: one answer shows nothing of the
// next. Measured: a server of 1.34 beside one of 1.35 that lists what a third one serves; subresources that one of two peers
// lacks.
func TestRandomPeer(t *testing.T) {
	taints := evidence.Resource{Group: "resource.k8s.io", Version: "v1", Resource: "devicetaintrules"}
	status := taints
	status.Resource += "/status"
	early := func(c *evidence.ControlPlane) {
		for i, version := range []string{"v1.34.4", "v1.35.4", "v1.35.4"} {
			c.Servers[i].Version.GitVersion = version
		}
	}
	for _, tc := range []struct {
		name     string
		change   func(*evidence.ControlPlane)
		resource evidence.Resource
		want     handoff.Outcome
		seen     string
	}{
		{"one peer lists it", func(*evidence.ControlPlane) {}, status, handoff.HandedOff, ""},
		{"to a server of 1.34 two list it", early, taints, handoff.Unsure, ""},
		{"one of the two has answered 404", func(c *evidence.ControlPlane) {
			early(c)
			c.Servers[0].Object(taints).Asked = evidence.NotServed
		}, taints, handoff.NotFound, "which cp-3 serves; it asks one of its peers at random, also cp-2, which cannot answer."},
		{"two have the resource, one of them with the subresource", func(c *evidence.ControlPlane) {
			d := &c.Servers[1].Local
			d.Resources = append(d.Resources, taints)
			slices.SortFunc(d.Resources, evidence.CompareResources)
		}, status, handoff.Unsure, ""},
		{"one of the two cannot be asked", func(c *evidence.ControlPlane) {
			early(c)
			c.Servers[1].Hooks.Names = slices.DeleteFunc(c.Servers[1].Hooks.Names, func(name string) bool { return strings.Contains(name, "peer") })
			c.Servers[1].Flags.Values["feature-gates"] = "UnknownVersionInteroperabilityProxy=false"
		}, taints, handoff.HandedOff, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cp := readEvidence(t, "H11")
			tc.change(cp)
			res := checks.RunLive(cp, checks.All())
			i := slices.IndexFunc(res.Routes, func(r handoff.Route) bool {
				return r.Server == "cp-1" && r.Resource == handoff.Resource{Group: tc.resource.Group, Version: tc.resource.Version, Name: tc.resource.Resource}
			})
			if i < 0 || res.Routes[i].Outcome != tc.want {
				t.Errorf("%v\n%s", res.Routes, summary(res))
			}
			if tc.seen != "" && !strings.Contains(summary(res), tc.seen) {
				t.Errorf("%q is not in\n%s", tc.seen, summary(res))
			}
			if tc.want == handoff.Unsure && !strings.HasPrefix(res.CannotTell, "cp-1 asks one of its peers at random, also cp-2 for what that lacks") {
				t.Errorf("cannot tell: %s", res.CannotTell)
			}
			unknown := strings.Contains(res.Servers[0].Says, "may ask peers that lack them for ")
			if unknown != (tc.want == handoff.Unsure) {
				t.Errorf("says %q", res.Servers[0].Says)
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

// FuzzRunLive judges evidence that is changed at random: no panic, no verdict where a server could not be asked or does what
// it should not, and no false 404 without an error.
func FuzzRunLive(f *testing.F) {
	names := []string{"H1", "H5", "H9-pods", "H10-at-once", "H11", "H13-three", "H15", "shared-host-name", "unprepared"}
	texts := make([][]byte, len(names))
	for i, name := range names {
		text, err := os.ReadFile(filepath.Join(evidenceDir, name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		texts[i] = text
	}
	for seed := range uint64(200) {
		f.Add(seed, uint8(seed%7+1))
	}
	f.Fuzz(func(t *testing.T, seed uint64, changes uint8) {
		cp, err := evidence.Read(bytes.NewReader(texts[seed%uint64(len(texts))]))
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, uint64(changes)))
		for range changes % 20 {
			disturb(r, cp)
		}
		res := checks.RunLive(cp, checks.All())
		isError := func(f checks.Finding) bool { return f.Severity == checks.Error }
		failed := slices.ContainsFunc(res.Findings, isError)
		for i := range cp.Servers {
			if !cp.Servers[i].Reached.OK() && res.CannotTell == "" {
				t.Errorf("server %q could not be asked, and there is a verdict\n%s", cp.Servers[i].Address, summary(res))
			}
		}
		for _, route := range res.Routes {
			if route.Outcome == handoff.NotFound && !route.Subresource && !failed {
				t.Errorf("%s answers a false 404 for %s, and no error says so\n%s", route.Server, route.Resource, summary(res))
			}
		}
		for _, s := range res.Servers {
			if s.Result != handoff.Yes && !failed && res.CannotTell == "" {
				t.Errorf("%s: %s, and the verdict is good\n%s", s.Name, s.Says, summary(res))
			}
		}
	})
}

// disturb changes the evidence in one respect.
func disturb(r *rand.Rand, cp *evidence.ControlPlane) {
	told := func(t *evidence.Told) {
		*t = evidence.Told{State: []evidence.State{evidence.OK, evidence.Absent, evidence.Forbidden, evidence.Failed}[r.IntN(4)], Reason: "disturbed"}
	}
	answers := []evidence.Answer{evidence.Served, evidence.NotServed, evidence.Unavailable, evidence.Denied, evidence.Unclear, evidence.NotAnswered}
	addresses := []string{"", "192.0.2.11:6443", "192.0.2.12:6443", "192.0.2.100:6443", "[2001:db8::1]:6443", "nonsense"}
	one := func(n int) int { return r.IntN(max(n, 1)) }
	var s *evidence.Server
	if len(cp.Servers) > 0 {
		s = &cp.Servers[one(len(cp.Servers))]
	}
	shared := &cp.Shared
	switch n := r.IntN(24); {
	case n < 12 && s == nil:
	case n == 0:
		told(&s.Reached)
	case n == 1:
		told(&s.Hooks.Told)
		s.Hooks.Names = [][]string{nil, {evidence.HookReconciler}, {evidence.HookReconciler, evidence.HookPeerProxy}}[r.IntN(3)]
	case n == 2:
		told(&s.Metrics.Told)
		if r.IntN(2) == 0 {
			s.Metrics.Readings = nil
		}
	case n == 3 && len(s.Metrics.Readings) > 0:
		reading := &s.Metrics.Readings[0]
		reading.Rerouted = append(reading.Rerouted, evidence.Count{Code: []string{"200", "401", "403", "404", "503"}[r.IntN(5)], Value: float64(r.IntN(9))})
	case n == 4 && len(s.Metrics.Readings) > 0:
		s.Metrics.Readings[0].Rerouted, s.Metrics.Readings[0].Started = nil, s.Metrics.Readings[0].Time.Add(-time.Duration(r.IntN(40))*time.Second)
	case n == 5:
		told(&s.Local.Told)
	case n == 6:
		told(&s.Merged.Told)
		s.Merged.Resources = s.Local.Resources
	case n == 7:
		told(&s.Core.Told)
	case n == 8 && len(s.Objects) > 0:
		o := &s.Objects[r.IntN(len(s.Objects))]
		o.Asked, o.Alone = answers[r.IntN(len(answers))], answers[r.IntN(len(answers))]
	case n == 9:
		s.Version.GitVersion = []string{"v1.34.4", "v1.35.4", "v1.36.3", "v1.38.0", "", "nonsense"}[r.IntN(6)]
	case n == 10:
		s.Identity, s.Node, s.Pod = "", "", ""
	case n == 11:
		s.Flags = evidence.Flags{Told: evidence.Told{State: evidence.OK}, Source: "flagz", Values: map[string]string{"secure-port": "8443", "advertise-address": "192.0.2.12"}}
	case n == 12:
		told(&shared.Leases.Told)
	case n == 13 && len(shared.Leases.Items) > 0:
		l := &shared.Leases.Items[r.IntN(len(shared.Leases.Items))]
		l.Published = addresses[r.IntN(len(addresses))]
	case n == 14 && len(shared.Leases.Items) > 0:
		l := &shared.Leases.Items[r.IntN(len(shared.Leases.Items))]
		l.Renewed = l.Renewed.Add(-time.Hour)
	case n == 15 && len(shared.Leases.Items) > 0:
		shared.Leases.Items = shared.Leases.Items[1:]
	case n == 16:
		shared.Leases.Items = append(shared.Leases.Items, evidence.Lease{Name: "another", Hostname: "another", Renewed: shared.Leases.Now})
	case n == 17:
		shared.Dials = nil
	case n == 18 && len(shared.Dials) > 0:
		d := &shared.Dials[r.IntN(len(shared.Dials))]
		d.Connected, d.Named, d.Trusted, d.Unverified = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(4) == 0
	case n == 19:
		told(&shared.Discovery.Told)
		shared.Discovery.Authenticated = r.IntN(2) == 0
	case n == 20:
		shared.Pods.Items = nil
	case n == 21 && len(cp.Servers) > 1:
		cp.Servers = cp.Servers[1:]
	case n == 22:
		told(&shared.APIServices.Told)
		shared.APIServices.Items = nil
	case n == 23 && s != nil:
		s.Objects = nil
	}
}
