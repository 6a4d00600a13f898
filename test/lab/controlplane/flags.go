//go:build linux

package controlplane

import (
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// A Change changes the arguments of a kube-apiserver.
type Change func(args []string) []string

// Set gives a flag a value, or several by naming it once for each, instead of those that it has.
func Set(name string, values ...string) Change {
	return func(args []string) []string {
		args = Remove(name)(args)
		for _, value := range values {
			args = append(args, "--"+name+"="+value)
		}
		return args
	}
}

// Add names a flag once more.
func Add(name, value string) Change { return Raw("--" + name + "=" + value) }

// Remove takes a flag away, wherever it stands.
func Remove(name string) Change {
	return func(args []string) []string {
		return slices.DeleteFunc(args, func(arg string) bool { return flagName(arg) == name })
	}
}

// Raw appends words as they are.
func Raw(words ...string) Change {
	return func(args []string) []string { return append(args, words...) }
}

// Files of a node, as kubeadm names them.
const (
	PKI       = "/etc/kubernetes/pki"
	CA        = PKI + "/ca.crt"
	OtherCA   = PKI + "/etcd/ca.crt" // has signed nothing that servers show each other
	ServerCrt = PKI + "/apiserver.crt"
	ServerKey = PKI + "/apiserver.key"
)

// GateOn turns the feature gate on by name.
func GateOn(args []string) []string { return Add(release.FlagFeatureGates, release.Gate+"=true")(args) }

// HandOff sets what servers need to hand off to each other: the gate and the right CA.
func HandOff(args []string) []string { return Set(release.FlagPeerCAFile, CA)(GateOn(args)) }

// flagName is the name in --name=value, with dashes for underscores.
func flagName(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	return release.NormalizeFlag(strings.TrimPrefix(name, "--"))
}

// flagValue returns the last value of a flag; ok is false where it is not set.
func flagValue(args []string, name string) (value string, ok bool) {
	for _, arg := range args {
		if flagName(arg) == name {
			_, value, _ = strings.Cut(arg, "=")
			ok = true
		}
	}
	return value, ok
}
