package commands

import (
	"fmt"
	"slices"
	"strings"
)

// plain are the programs whose arguments are not checked: those of every shell and node.
var plain = []string{
	"[", "cat", "cd", "cp", "curl", "cut", "diff", "docker", "echo", "exit", "export", "false", "git", "grep", "journalctl", "ls", "make",
	"mkdir", "mv", "printf", "rm", "sed", "set", "sleep", "sort", "tail", "tee", "test", "true", "crictl", "openssl", "chmod", "id",
}

// many is more arguments than anybody types.
const many = 1000

// programs are those whose subcommands and flags are known. The lab holds kubeadm's against the real ones
// (tables_lab_test.go).
func programs() map[string]program {
	return map[string]program{"kubeadm": kubeadm, "kubectl": kubectl, "kinder": kinder()}
}

// kubeadm: what kubeadm 1.35 and 1.36 both have.
var kubeadm = program{
	global: flags{"--v": true, "-v": true},
	commands: map[string]command{
		"version":                            {flags: flags{"--output": true, "-o": true}},
		"config validate":                    {flags: flags{"--config": true, "--kubeconfig": true, "--allow-experimental-api": false}},
		"config migrate":                     {flags: flags{"--old-config": true, "--new-config": true, "--allow-experimental-api": false}},
		"init phase upload-config kubeadm":   {flags: flags{"--config": true, "--kubeconfig": true, "--dry-run": false}},
		"init phase control-plane apiserver": {flags: flags{"--config": true, "--patches": true, "--dry-run": false}},
		"certs renew apiserver":              {flags: flags{"--config": true, "--cert-dir": true}},
		"certs check-expiration":             {flags: flags{"--config": true}},
		"upgrade plan":                       {flags: flags{"--config": true, "--kubeconfig": true}, most: 1},
		"upgrade diff":                       {flags: flags{"--config": true, "--kubeconfig": true}, most: 1},
		"upgrade apply":                      {flags: flags{"--config": true, "--kubeconfig": true, "--patches": true, "--dry-run": false, "--yes": false, "-y": false}, most: 1},
		"upgrade node":                       {flags: flags{"--config": true, "--kubeconfig": true, "--patches": true, "--dry-run": false}},
	},
}

// kubectl: the commands and flags of k8s.io/kubectl v0.36.3, pkg/cmd; the global ones are those of
// k8s.io/cli-runtime/pkg/genericclioptions.
var kubectl = program{
	global: flags{
		"--kubeconfig": true, "--context": true, "--server": true, "-s": true, "--namespace": true, "-n": true, "--request-timeout": true,
		"--v": true, "-v": true,
	},
	commands: map[string]command{
		"apply":                     {flags: flags{"--filename": true, "-f": true, "--dry-run": true}},
		"api-resources":             {flags: flags{"--api-group": true, "--output": true, "-o": true}},
		"create clusterrolebinding": {flags: flags{"--clusterrole": true, "--group": true, "--user": true}, least: 1, most: 1},
		"create token":              {flags: flags{"--duration": true}, least: 1, most: 1},
		"describe":                  {flags: flags{}, least: 1, most: many},
		"get":                       {flags: flags{"--output": true, "-o": true, "--raw": true, "--selector": true, "-l": true, "--all-namespaces": false, "-A": false}, most: many},
		"krew install":              {flags: flags{}, least: 1, most: many}, // sigs.k8s.io/krew, a plugin
		"logs":                      {flags: flags{"--previous": false, "-p": false, "--tail": true}, least: 1, most: 2},
		"wait":                      {flags: flags{"--for": true, "--timeout": true}, least: 1, most: many},
	},
}

// kinder: kubernetes/kubeadm, kinder/cmd/kinder (build/nodevariant, create/cluster, do, exec, cp, test/workflow) and, for
// what it takes over from kind, delete cluster and export logs.
func kinder() program {
	return program{
		global: flags{"--loglevel": true},
		commands: map[string]command{
			"build node-image-variant": {flags: flags{
				"--base-image": true, "--image": true, "--with-init-artifacts": true, "--with-upgrade-artifacts": true, "--with-images": true,
				"--image-name-prefix": true, "--with-kubeadm": true, "--with-kubelet": true,
			}},
			"create cluster": {flags: flags{
				"--name": true, "--image": true, "--control-plane-nodes": true, "--worker-nodes": true, "--external-etcd": false,
				"--external-load-balancer": false, "--retain": false,
			}},
			"do": {flags: flags{
				"--name": true, "--only-node": true, "--dry-run": false, "--use-phases": false, "--upgrade-version": true, "--copy-certs": true,
				"--discovery-mode": true, "--wait": true, "--kubeadm-verbosity": true, "--patches": true, "--ignore-preflight-errors": true,
				"--kubeadm-config-version": true,
			}, least: 1, most: 1, rest: kinderAction},
			"exec":           {flags: flags{"--name": true}, least: 2, most: many, rest: kinderExec},
			"cp":             {flags: flags{"--name": true}, least: 2, most: 2, rest: kinderCopy},
			"export logs":    {flags: flags{"--name": true}, most: 1},
			"delete cluster": {flags: flags{"--name": true}},
			"test workflow":  {flags: flags{"--dry-run": false, "--verbose": false, "--exit-on-task-error": false}, least: 1, most: 2},
		},
	}
}

// kinderAction: the registry in kinder/pkg/cluster/manager/actions/actions.go.
func kinderAction(args []string) error {
	known := []string{
		"loadbalancer", "kubeadm-config", "kubeadm-init", "kubeadm-join", "kubeadm-upgrade", "kubeadm-reset", "copy-certs", "setup-external-ca",
		"cluster-info", "smoke-test",
	}
	if !slices.Contains(known, args[0]) {
		return fmt.Errorf("no action %s", args[0])
	}
	return nil
}

// kinderNode: SelectNodes in kinder/pkg/cluster/status/cluster.go. A name that no node has selects none, and kinder then
// does nothing and says nothing.
func kinderNode(node string) error {
	switch kind, number, _ := strings.Cut(strings.TrimPrefix(node, "control-plane-"), "worker-"); {
	case slices.Contains([]string{"@all", "@cp*", "@cp1", "@cpN", "@w*", "@lb", "@etcd"}, node):
		return nil
	case strings.HasPrefix(node, "control-plane-") && isNumber(kind), strings.HasPrefix(node, "worker-") && isNumber(number):
		return nil
	}
	return fmt.Errorf("%q selects no node", node)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// kinderExec hands the words behind the node on as docker exec does: without a shell.
func kinderExec(args []string) error {
	if err := kinderNode(args[0]); err != nil {
		return err
	}
	return Args(args[1:]...)
}

// kinderCopy: one of the two paths is on nodes; from one node only.
func kinderCopy(args []string) error {
	from, _, fromNode := strings.Cut(args[0], ":")
	to, _, toNode := strings.Cut(args[1], ":")
	switch {
	case fromNode == toNode:
		return fmt.Errorf("one of %q must be on a node", args)
	case fromNode && (from == "@all" || from == "@cp*"):
		return fmt.Errorf("%s: more than one node to copy from", args[0])
	case fromNode:
		return kinderNode(from)
	}
	return kinderNode(to)
}

// KubeadmFlags returns the flags of each kubeadm command that may stand in documentation, with their dashes.
func KubeadmFlags() map[string][]string {
	out := map[string][]string{}
	for name, c := range kubeadm.commands {
		for _, known := range []flags{kubeadm.global, c.flags} {
			for flag := range known {
				out[name] = append(out[name], flag)
			}
		}
	}
	return out
}
