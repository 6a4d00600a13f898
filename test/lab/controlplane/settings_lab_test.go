//go:build lab && linux

package controlplane

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/test/lab"
)

// trial are settings of one server, and whether it exits on them.
type trial struct {
	release string   // minor
	args    []string // names and values of extraArgs
	exits   bool
	said    []string // the rules that say so
}

// TestSettings has the real servers do what testdata/settings.txt says that they do.
func TestSettings(t *testing.T) {
	file, err := os.Open("../../../testdata/settings.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var trials []trial
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := settingWords(t, lines.Text())
		if words[0] == "#" {
			continue
		}
		for minor := range strings.SplitSeq(words[0], ",") {
			tr := trial{release: minor, exits: words[1] == "exits"}
			for _, word := range words[2:] {
				name, value, _ := strings.Cut(word, "=")
				tr.args = append(tr.args, name, value)
			}
			trials = append(trials, tr)
		}
	}
	runTrials(t, trials)
}

// settingWords splits a line of settings.txt.
func settingWords(t *testing.T, line string) (words []string) {
	for text := strings.TrimSpace(line); text != ""; text = strings.TrimSpace(text) {
		word, rest, _ := strings.Cut(text, " ")
		if text[0] == '"' {
			prefix, err := strconv.QuotedPrefix(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			word, _ = strconv.Unquote(prefix)
			rest = text[len(prefix):]
		}
		words, text = append(words, word), rest
	}
	return words
}

// TestSampleArguments gives each extraArg of the samples in testdata/cases to a real server of each release, which must
// exit where the rules say so, and only there.
func TestSampleArguments(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/cases/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d samples: %v", len(files), err)
	}
	releases, err := lab.ReadReleases()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var trials []trial
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in, err := config.Read(file, text)
		if err != nil {
			continue // a sample of what cannot be read
		}
		for _, c := range in.Clusters {
			for _, a := range c.APIServer.Args {
				if seen[a.Name+"="+a.Value] || a.Name == "" || config.PlaceholderIn(a.Name+a.Value) != "" || ofTheNode(a) {
					continue
				}
				seen[a.Name+"="+a.Value] = true
				for _, r := range releases {
					tr := trial{release: r.Minor, args: []string{a.Name, a.Value}}
					if strings.HasPrefix(release.NormalizeFlag(a.Name), "peer-") {
						tr.args = gated(tr.args...)
					}
					tr.said = willNotStart(t, tr)
					tr.exits = len(tr.said) > 0
					trials = append(trials, tr)
				}
			}
		}
	}
	runTrials(t, trials)
}

// ofTheNode tells whether an argument is about what the lab's nodes have otherwise: files, etcd and addresses.
func ofTheNode(a *config.Arg) bool {
	switch release.NormalizeFlag(a.Name) {
	case release.FlagAdvertiseAddress, release.FlagBindAddress, release.FlagSecurePort, "service-cluster-ip-range":
		return true
	}
	return strings.HasPrefix(a.Name, "etcd-") || strings.HasPrefix(a.Value, "/") && !strings.HasPrefix(a.Value, CA)
}

// willNotStart are the rules that say that a server exits on settings.
func willNotStart(t *testing.T, tr trial) (rules []string) {
	t.Helper()
	in, err := config.Read("cluster.yaml", []byte(emptyConfig+extraArgs(tr.args)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := release.Parse(tr.release)
	if err != nil {
		t.Fatal(err)
	}
	res := checks.Run(checks.Input{Cluster: in.Clusters[0], Pair: checks.Pair{From: r, To: r}}, checks.All())
	for _, f := range res.Findings {
		if f.Consequence == checks.WillNotStart {
			rules = append(rules, f.Rule.ID)
		}
	}
	return rules
}

// runTrials starts servers: one for each trial that is to exit, and one for as many that are to start as go together.
func runTrials(t *testing.T, trials []trial) {
	cp := New(t, Options{})
	addresses := make(chan string, 2)
	addresses <- Addresses[0]
	addresses <- Addresses[1]
	for i, tr := range together(t, trials) {
		t.Run(fmt.Sprintf("%s/%d", tr.release, i+1), func(t *testing.T) {
			t.Parallel()
			address := <-addresses
			defer func() { addresses <- address }()
			exit := tr.outcome(t, cp, i+1, address, false)
			if exit != nil && !tr.exits {
				// A new cluster's objects cannot be made by a server that denies them, and it may end for that alone. mvpcheck
				// speaks of upgrades.
				exit = tr.outcome(t, cp, i+1, address, true)
			}
			switch {
			case exit != nil && !tr.exits:
				t.Errorf("%q: does not start: %v", tr.args, exit)
			case exit == nil && tr.exits:
				t.Errorf("%q: starts (rules that say that it does not: %q)", tr.args, tr.said)
			}
		})
	}
}

// outcome runs a server with the settings and returns how it ends, or nil where it starts. A server that is to end has the time
// of one that ends late: see [TestLateEnds].
func (tr trial) outcome(t *testing.T, cp *ControlPlane, number int, address string, begun bool) *ExitError {
	n := Node{
		Release: tr.release, Name: fmt.Sprintf("set-%d-%s", number, strings.ReplaceAll(tr.release, ".", "-")), Address: address,
		Config: emptyConfig + extraArgs(tr.args),
	}
	prefixes := tr.values("etcd-prefix")
	if prefixes == nil {
		// A control plane of its own: 1.33 and 1.34 crash on a peer that cannot be read, as one that was just killed.
		prefixes = []string{fmt.Sprintf("/registry-%s-%t", n.Name, begun)}
		n.Flags = []Change{Set("etcd-prefix", prefixes[0])}
	}
	if begun {
		cp.Begin(t, Node{Release: tr.release, Name: n.Name + "-before", Address: address, Flags: []Change{
			Set("etcd-prefix", prefixes[len(prefixes)-1]), // the last counts
		}})
		n.Name += "-again"
	}
	s := cp.Add(t, n)
	s.Start(t)
	defer s.Kill()
	if tr.exits {
		s.WaitExit(t, readyTimeout)
	}
	err := s.Outcome(t.Context())
	var exit *ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v", tr.args, err)
	}
	return exit
}

// together puts trials that are to start together, as long as they set different flags and no rule speaks against it.
func together(t *testing.T, trials []trial) (all []trial) {
	for _, tr := range trials {
		if tr.exits {
			all = append(all, tr)
			continue
		}
		at := slices.IndexFunc(all, func(o trial) bool { return !o.exits && o.release == tr.release && o.join(t, tr) })
		if at < 0 {
			all = append(all, tr)
			continue
		}
		all[at].args = slices.Concat(all[at].args, tr.args)
	}
	return all
}

// sets tells whether a flag is among the arguments.
func (tr trial) sets(flag string) bool { return tr.values(flag) != nil }

// values are those that the arguments give a flag.
func (tr trial) values(flag string) (values []string) {
	for pair := range slices.Chunk(tr.args, 2) {
		if release.NormalizeFlag(pair[0]) == flag {
			values = append(values, pair[1])
		}
	}
	return values
}

// join tells whether another trial can go along.
func (tr trial) join(t *testing.T, other trial) bool {
	for pair := range slices.Chunk(other.args, 2) {
		if tr.sets(release.NormalizeFlag(pair[0])) {
			return false
		}
	}
	return len(willNotStart(t, trial{release: tr.release, args: slices.Concat(tr.args, other.args)})) == 0
}
