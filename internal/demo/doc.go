// Package demo is a control plane of embedded API servers on loopback, for mvpcheck demo: they answer what mvpcheck
// probe and simple clients ask as real kube-apiservers of two releases do, and hand requests to each other by the same
// rules, over TLS with the same certificates and headers.
//
// Each server runs with the command line that kubeadm would write for it from a ClusterConfiguration; gate, CAs and
// addresses are taken from there. Documents and objects are those that a real control plane was recorded to have; who may
// ask, who is asked and how an answer is written is the code's. There is no etcd, and nothing can be changed.
//
// test/lab/demo makes the recordings, and compares the answers with those of real servers.
package demo
