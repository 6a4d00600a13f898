// Package controlplane starts, breaks and stops real control planes for tests: an etcd, and kube-apiservers of any of the
// lab's releases, each with the command line that kubeadm writes for it.
//
// Servers need addresses of their own, so the tests of a package run in a network namespace that nothing can leave:
//
//	func TestMain(m *testing.M) { controlplane.Main(m) }
//
//	func TestHandOff(t *testing.T) {
//		cp := controlplane.New(t, controlplane.Options{})
//		servers := cp.Start(t,
//			controlplane.Node{Release: "1.35", Flags: []controlplane.Change{controlplane.HandOff}},
//			controlplane.Node{Release: "1.36", Flags: []controlplane.Change{controlplane.HandOff}})
//		cp.WaitPeers(t)
//		answer := servers[0].Get(t, "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies")
//		…
//	}
//
// Each node has a folder that is its server's whole file system (Server.Root), with the certificates where kubeadm puts
// them: flags, kubeadm configurations and mirror pods name /etc/kubernetes/pki/ca.crt as on a real node, and mvpcheck
// takes the folder as its --root.
//
// All of it ends with the test that New was given, however that ends.
//
// Everything but this comment is for Linux.
package controlplane
