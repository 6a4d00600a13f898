package patch_test

import (
	"fmt"
	"log"
	"time"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

const document = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.35.4
controlPlaneEndpoint: api.example.com:6443
apiServer:
  extraArgs:
    - name: peer-ca-file # rolled out in March
      value: /etc/kubernetes/pki/ca.crt
`

// The configuration with what the findings ask for; every other byte stays.
func ExampleFix() {
	judge := func(c *config.Cluster) []checks.Finding {
		j, err := checks.Judge(c, checks.Options{Now: time.Now()})
		if err != nil {
			log.Fatal(err)
		}
		return j.Findings
	}
	r, err := patch.Fix("cluster.yaml", []byte(document), patch.Options{Judge: judge})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(patch.Diff(r.Name, r.Before, r.After))
	// Output:
	// --- a/cluster.yaml
	// +++ b/cluster.yaml
	// @@ -4,5 +4,7 @@
	//  controlPlaneEndpoint: api.example.com:6443
	//  apiServer:
	//    extraArgs:
	// +    - name: feature-gates
	// +      value: UnknownVersionInteroperabilityProxy=true
	//      - name: peer-ca-file # rolled out in March
	//        value: /etc/kubernetes/pki/ca.crt
}
