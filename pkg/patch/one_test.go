package patch

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

func ofRule(rule *checks.Rule) func(int, *checks.Finding) bool {
	return func(_ int, f *checks.Finding) bool { return f.Rule == rule }
}

const oneFile = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer:
  extraArgs:
  - name: advertise-address # of cp-1
    value: 192.0.2.11
  - name: v
    value: "2"
`

// One finding is fixed, and no other.
func TestFixOne(t *testing.T) {
	tests := map[string]struct {
		rule *checks.Rule
		want string
	}{
		"add": {gateRule, `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer:
  extraArgs:
  - name: feature-gates
    value: UnknownVersionInteroperabilityProxy=true
  - name: advertise-address # of cp-1
    value: 192.0.2.11
  - name: v
    value: "2"
`},
		"remove": {addrRule, `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer:
  extraArgs:
  - name: v
    value: "2"
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := FixOne("a.yaml", []byte(oneFile), Options{Judge: needs}, ofRule(test.rule))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(r.After)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(r.Applied) != 1 || r.Applied[0].Rules[0] != test.rule {
				t.Errorf("applied %v", r.Applied)
			}
		})
	}
}

func TestFixOneRefuses(t *testing.T) {
	old := []byte("apiVersion: kubeadm.k8s.io/v1beta2\nkind: ClusterConfiguration\n")
	var refusal *Refusal
	if r, err := FixOne("a.yaml", old, Options{Judge: needs}, ofRule(gateRule)); r != nil || !errors.As(err, &refusal) {
		t.Errorf("got %v, %v", r, err)
	}
	// A change that does not do away with its finding is none.
	stubborn := func(c *config.Cluster) []checks.Finding {
		changes := []checks.Change{{Op: checks.SetFlag, Flag: "v", Value: "3"}}
		return []checks.Finding{{Rule: gateRule, Message: "gate", At: c.FlagsPlace(), Changes: changes}}
	}
	if r, err := FixOne("a.yaml", []byte(oneFile), Options{Judge: stubborn}, ofRule(gateRule)); r != nil || !errors.As(err, &refusal) {
		t.Errorf("got %v, %v", r, err)
	}
	if r, err := FixOne("a.yaml", []byte(oneFile), Options{Judge: needs}, ofRule(formRule)); r != nil || err != nil {
		t.Errorf("a finding that is not there: %v, %v", r, err)
	}
}

// What Edits returns makes the patched file of every case that we have, finding by finding.
func TestEditsMakeTheResult(t *testing.T) {
	made := 0
	for name, data := range caseFiles(t) {
		for _, rule := range []*checks.Rule{gateRule, caRule, addrRule, textRule, formRule} {
			r, err := FixOne(name, data, Options{Judge: needs}, ofRule(rule))
			if err != nil || r == nil {
				continue
			}
			made++
			if diff := cmp.Diff(string(r.After), string(yamldoc.Apply(data, r.Edits()...))); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, rule.ID, diff)
			}
		}
	}
	if made < 40 {
		t.Errorf("%d edits were made", made)
	}
}
