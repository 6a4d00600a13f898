package checks_test

import (
	"fmt"
	"log"
	"time"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

const document = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.35.4
controlPlaneEndpoint: api.example.com:6443
apiServer:
  extraArgs:
    - name: peer-ca-file
      value: /etc/kubernetes/pki/ca.crt
`

// Whether a configuration can be upgraded with, for the releases that it leads to by itself.
func ExampleJudge() {
	in, err := config.Read("cluster.yaml", []byte(document))
	if err != nil {
		log.Fatal(err)
	}
	j, err := checks.Judge(in.Clusters[0], checks.Options{Now: time.Now()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(j.Pairs[0])
	for _, f := range j.Findings {
		start, _ := f.At.Range()
		fmt.Printf("line %d: %s %s, %s\n", start.Line, f.Severity, f.Rule.ID, f.Consequence)
	}
	// Output:
	// 1.35.4 -> 1.36
	// line 6: error MVP101, false-404
	// line 8: error MVP103, will-not-start
}
