// Package kinder holds a workflow for kinder, the test tool of kubeadm. Its tests check the workflow against kinder's own
// format and run its scripts; they do not run kinder, which takes docker.
package kinder
