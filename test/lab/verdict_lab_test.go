//go:build lab

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// TestRefusedVerdicts compares what mvpcheck says of kubeadm with what kubeadm does, for every file of testdata/cases and
// every sample of the rules, in both directions: a file is refused by `config validate` or by the phase that writes the
// manifest if and only if mvpcheck says so.
func TestRefusedVerdicts(t *testing.T) {
	compared, refusals := 0, 0
	for _, pattern := range []string{"../../testdata/cases/*.*", "../../testdata/rules/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			t.Run(filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file)), func(t *testing.T) {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range Releases(t) {
					text := WithNode(r.Pin(string(data)), nodeName, nodeAddress)
					said, why, ok := refusalSaid(t, r, text)
					if !ok {
						continue
					}
					refused, output := refusedBy(t, r, text)
					compared++
					if refused {
						refusals++
					}
					if said != refused {
						t.Errorf("%s: kubeadm refuses: %t (%s); mvpcheck says so: %t (%s)", r, refused, output, said, why)
					}
				}
			})
		}
	}
	t.Logf("%d files and releases compared, %d refused", compared, refusals)
	if refusals < 50 || compared-refusals < 50 {
		t.Errorf("%d of %d refused: too few of one kind to mean something", refusals, compared)
	}
}

// refusalSaid tells whether mvpcheck says that the release's kubeadm refuses a text. ok is false for texts that are not meant
// for kubeadm itself (pods, Cluster API, kind), or of which mvpcheck says that it cannot tell.
func refusalSaid(t *testing.T, r Release, text string) (said bool, why string, ok bool) {
	t.Helper()
	in, err := config.Read("x.yaml", []byte(text))
	if err != nil {
		return true, err.Error(), strings.Contains(text, "kubeadm.k8s.io")
	}
	if len(in.Clusters) != 1 || in.Clusters[0].Form != config.FormKubeadm || in.Clusters[0].Problem(config.Placeholder) != nil {
		return false, "", false
	}
	rel, err := release.Parse(r.Version)
	if err != nil {
		t.Fatal(err)
	}
	res := checks.Run(checks.Input{Cluster: in.Clusters[0], Pair: checks.Pair{From: rel, To: rel}, Now: time.Now()}, checks.All())
	for _, f := range res.Findings {
		// An unknown field is dropped by init, and refused by validate.
		if f.Consequence == checks.RefusedByKubeadm || f.Rule.ID == "MVP005" {
			return true, f.Rule.ID + " " + f.Message, true
		}
	}
	return false, "", true
}

func refusedBy(t *testing.T, r Release, text string) (refused bool, output string) {
	t.Helper()
	k, file := r.Kubeadm(t), write(t, text)
	output, err := k.ConfigValidate(t.Context(), file)
	if err == nil {
		_, output, err = k.Manifest(t.Context(), file)
	}
	if err != nil && !errors.Is(err, ErrRefused) {
		t.Fatal(err)
	}
	return err != nil, output
}
