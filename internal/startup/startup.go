// Package startup judges whether kube-apiserver would start: the values of its flags, what the flags demand of each
// other, and the files that they name, as kube-apiserver does when it starts. It reads no file but through the
// certs.Store that it is given.
//
// A judgement is a clause for people that says what the server exits on, such as `has rules[0] with the level
// "metadata"`, and "" where it starts. Secrets are never quoted. What only a server can tell, whether a CEL expression
// compiles or a KMS plugin answers, is left out. The tables and functions name the source that they follow, of
// Kubernetes 1.33 to 1.37 where they name none.
package startup
