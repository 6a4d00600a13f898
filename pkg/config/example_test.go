package config_test

import (
	"fmt"
	"log"

	"github.com/mvpcheck/mvpcheck/pkg/config"
)

const document = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.35.4
apiServer:
  extraArgs:
    - name: peer-ca-file
      value: /etc/kubernetes/pki/ca.crt
`

// The effective command line of a kube-apiserver, with the place of each flag.
func ExampleRead() {
	in, err := config.Read("cluster.yaml", []byte(document))
	if err != nil {
		log.Fatal(err)
	}
	server := in.Clusters[0].Servers()[0]
	f := server.Flags.Last("peer-ca-file")
	start, _ := f.At.Range()
	fmt.Printf("line %d: %s=%s\n", start.Line, f.Name, f.Value)
	fmt.Println("client-ca-file:", server.Flags.Last("client-ca-file").Value)
	// Output:
	// line 7: peer-ca-file=/etc/kubernetes/pki/ca.crt
	// client-ca-file: /etc/kubernetes/pki/ca.crt
}
