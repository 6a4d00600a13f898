// Package serverfiles judges the files that configure kube-apiserver, audit policies for one, as kube-apiserver does when it
// starts. It reads nothing but the text that it is given.
//
// A judgement is a clause for people that says what the server exits on, such as `has rules[0] with the level "metadata"`, and
// "" where it takes the file. Secrets are never quoted. What only a server can tell, whether a CEL expression compiles or a
// KMS plugin answers, is left out. Each function names the source that it follows, of Kubernetes 1.33 to 1.37 where it names none.
//
// The functions expect the apiVersion and kind to be right.
package serverfiles
