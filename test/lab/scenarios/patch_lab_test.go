//go:build lab && linux

package scenarios

import (
	"os"
	"path/filepath"
	"testing"

	cp "github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// faulty has what people write, and what keeps servers from handing off or from starting.
const faulty = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: VERSION
controlPlaneEndpoint: api.example.com:6443
apiServer:
  extraArgs:
  - name: advertise-address
    value: 192.0.2.100
  - name: feature-gates
    value: "UnknownVersionInteroperabilityProxy=false"
  - name: event-ttl
    value: 2h
`

const plain = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: VERSION
controlPlaneEndpoint: api.example.com:6443
`

// TestPatchedHandsOff has mvpcheck patch a configuration, the kubeadm of each release make the command lines from it, and
// the real servers hand off.
func TestPatchedHandsOff(t *testing.T) {
	for _, tc := range []struct{ name, config, version, from, to string }{
		{"plain-1.35-1.36", plain, "v1.35.4", "1.35", "1.36"},
		{"faulty-1.35-1.36", faulty, "v1.35.4", "1.35", "1.36"},
		{"plain-1.36-1.37", plain, "v1.36.3", "1.36", "1.37"},
		{"faulty-1.36-1.37", faulty, "v1.36.3", "1.36", "1.37"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "cluster.yaml")
			if err := os.WriteFile(file, []byte(replaced(tc.config, tc.version)), 0o644); err != nil {
				t.Fatal(err)
			}
			run(t, 0, "patch", "--in-place", "--to", tc.to, file)
			run(t, 0, "check", "--to", tc.to, file)
			patched, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := cp.New(t, cp.Options{Config: string(patched)})
			servers := c.Start(t, cp.Node{Release: tc.from}, cp.Node{Release: tc.to})
			c.WaitPeers(t)
			r := probe(t, "--kubeconfig", servers[0].Kubeconfig(t))
			diff(t, "findings", []string(nil), r.findings())
			if len(r.report.HandedOff) == 0 {
				t.Error("nothing is handed off")
			}
			r.judgeTruth(t, servers)
		})
	}
}
