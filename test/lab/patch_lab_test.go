//go:build lab

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

// TestPatched asks every release's kubeadm about what mvpcheck patch makes of the files of testdata/cases and the samples
// of the rules, for every upgrade: what was accepted before must be accepted after, and the command line that kubeadm
// writes must have the gate and the CA, unless both releases serve the same.
func TestPatched(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../testdata/cases/*.*", "../../testdata/rules/*/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, names...)
	}
	patched := 0
	for _, file := range files {
		t.Run(filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, p := range checks.KnownPairs() {
				var judged checks.Result
				r, err := patch.Fix(file, text, patch.Options{Judge: func(c *config.Cluster) []checks.Finding {
					judged = checks.Run(checks.Input{Cluster: c, Pair: p}, fixable())
					return judged.Findings
				}})
				if err != nil || !r.Changed() || seen[string(r.After)] {
					continue
				}
				seen[string(r.After)] = true
				patched++
				checkPatched(t, r, !servesTheSame(judged), p.From.Minor() < 36)
			}
		})
	}
	t.Logf("%d patched files asked about", patched)
	if patched < 20 {
		t.Errorf("only %d patched files; more of the cases can be patched", patched)
	}
}

// fixable returns the rules whose findings mvpcheck patch fixes by default.
func fixable() []*checks.Rule {
	return slices.DeleteFunc(checks.All(), func(r *checks.Rule) bool { return r.OnRequest })
}

// servesTheSame tells whether mvpcheck says that the two releases serve the same, so that no CA is needed.
func servesTheSame(judged checks.Result) bool {
	return slices.ContainsFunc(judged.Skipped, func(n checks.Note) bool {
		return n.Rule.ID == "MVP201" && strings.Contains(n.Reason, "nothing to hand off")
	})
}

var peerCA = regexp.MustCompile(`--peer[-_]ca[-_]file=\S`)

// checkPatched compares before and after. handOff: the servers are to hand off. gate: the running release has the gate off by
// default, so it must be named, or come with AllAlpha.
func checkPatched(t *testing.T, result *patch.Result, handOff, gate bool) {
	t.Helper()
	before, after := string(result.Before), string(result.After)
	// What patch leaves to be done by hand may keep kubeadm from writing a manifest; then mvpcheck must say so.
	refused := slices.ContainsFunc(result.Left, func(f checks.Finding) bool { return f.Consequence == checks.RefusedByKubeadm })
	for _, r := range Releases(t) {
		k := r.Kubeadm(t)
		output, err := k.ConfigValidate(t.Context(), write(t, r.Pin(before)))
		wasAccepted := err == nil
		if err != nil && !errors.Is(err, ErrRefused) {
			t.Fatal(err, output)
		}
		output, err = k.ConfigValidate(t.Context(), write(t, r.Pin(after)))
		if wasAccepted && err != nil {
			t.Errorf("%s accepted the file before it was patched, and now says: %s", r, output)
		}
		if err != nil {
			continue
		}
		args, output := command(t, r, after)
		if args == nil {
			// A file without an InitConfiguration or a ClusterConfiguration.
			if !refused && !strings.Contains(output, "no InitConfiguration or ClusterConfiguration") {
				t.Errorf("%s validates the patched file and writes no manifest: %s", r, output)
			}
			continue
		}
		line := strings.Join(args, " ")
		if !handOff {
			continue
		}
		if !peerCA.MatchString(line) {
			t.Errorf("%s writes no --peer-ca-file from the patched file: %s", r, line)
		}
		if gate && !strings.Contains(line, release.Gate+"=true") && !strings.Contains(line, "AllAlpha=true") {
			t.Errorf("%s writes a --peer-ca-file without the gate: %s", r, line)
		}
	}
}
