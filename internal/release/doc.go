// Package release says what each Kubernetes release does, as far as mvpcheck needs it: the defaults
// and stages of the feature gates, how kube-apiserver reads --feature-gates and --emulated-version,
// which kubeadm reads which apiVersion and with which fields.
//
// It is a leaf: it imports no other package of the project, reads no file and asks no network.
//
// Facts have numbers (S1, H2, ...). The comments here name the number that a function rests on, or
// the file of the Kubernetes source that it was read from and compared with.
package release
