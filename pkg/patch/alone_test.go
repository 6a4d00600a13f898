package patch

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// alone makes the changes of the first finding of a rule by itself; nil where there is none.
func alone(name string, data []byte, judge func(c *config.Cluster) []checks.Finding, rule *checks.Rule) ([]byte, error) {
	in, err := config.Read(name, data)
	if err != nil {
		return nil, err
	}
	findings := make([][]checks.Finding, len(in.Clusters))
	for i, c := range in.Clusters {
		findings[i] = judge(c)
	}
	a := NewAlone(in, findings, Options{Every: judge})
	for i := range findings {
		for k := range findings[i] {
			if f := &findings[i][k]; f.Rule == rule && len(f.Changes) > 0 {
				edits, err := a.Edits(i, f)
				if err != nil {
					return nil, err
				}
				return yamldoc.Apply(data, edits...), nil
			}
		}
	}
	return nil, nil
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
func TestAlone(t *testing.T) {
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
			got, err := alone("a.yaml", []byte(oneFile), needs, test.rule)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAloneRefuses(t *testing.T) {
	// A change that does not do away with its finding is none.
	stubborn := func(c *config.Cluster) []checks.Finding {
		changes := []checks.Change{{Op: checks.SetFlag, Flag: "v", Value: "3"}}
		return []checks.Finding{{Rule: gateRule, Message: "gate", At: c.FlagsPlace(), Changes: changes}}
	}
	old := "apiVersion: kubeadm.k8s.io/v1beta2\nkind: ClusterConfiguration\n"
	for text, judge := range map[string]func(c *config.Cluster) []checks.Finding{old: needs, oneFile: stubborn} {
		var refusal *Refusal
		if got, err := alone("a.yaml", []byte(text), judge, gateRule); got != nil || !errors.As(err, &refusal) {
			t.Errorf("got %s, %v", got, err)
		}
	}
}

// Each finding of every case that we have takes one reading of the file and one judgement, and both once more for each
// finding that must be fixed with it.
func TestAloneCosts(t *testing.T) {
	made := 0
	for name, data := range caseFiles(t) {
		in, err := config.Read(name, data)
		if err != nil {
			continue
		}
		findings := make([][]checks.Finding, len(in.Clusters))
		for i, c := range in.Clusters {
			findings[i] = needs(c)
		}
		read, judged := 0, 0
		a := NewAlone(in, findings, Options{
			Every: func(c *config.Cluster) []checks.Finding {
				judged++
				return needs(c)
			},
			Prepare: func(*config.Input) error {
				read++
				return nil
			},
		})
		for i := range findings {
			for k := range findings[i] {
				if len(findings[i][k].Changes) == 0 {
					continue
				}
				read, judged = 0, 0
				if _, err := a.Edits(i, &findings[i][k]); err != nil {
					continue
				}
				made++
				if read != 1 || judged != len(in.Clusters) {
					t.Errorf("%s, %s: read %d times, judged %d times", name, findings[i][k].Rule.ID, read, judged)
				}
			}
		}
	}
	if made < 40 {
		t.Errorf("%d edits were made", made)
	}
}
