//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/mvpcheck/mvpcheck/test/lab"
	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// settings are what the command line says.
type settings struct {
	config string
	plain  bool
	nodes  []controlplane.Node
}

// parse reads the command line of up.
func parse(args []string) (*settings, error) {
	var s settings
	var changes []func(node int, n *controlplane.Node)
	flags := flag.NewFlagSet("lab up", flag.ContinueOnError)
	file := flags.String("config", "", "kubeadm configuration `file` of all nodes (default an empty ClusterConfiguration)")
	flags.BoolVar(&s.plain, "plain", false, "without the gate and --peer-ca-file, which all servers get otherwise")
	flags.Func("set", "set a flag of kube-apiserver, of one node or of all: `[NODE:]NAME=VALUE`, such as cp-2:peer-ca-file=/etc/kubernetes/pki/etcd/ca.crt", func(text string) error {
		node, text := splitNode(text)
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("expected NAME=VALUE")
		}
		changes = append(changes, func(i int, n *controlplane.Node) {
			if node == 0 || node == i {
				n.Flags = append(n.Flags, controlplane.Set(name, value))
			}
		})
		return nil
	})
	flags.Func("remove", "remove a flag of kube-apiserver: `[NODE:]NAME`", func(text string) error {
		node, name := splitNode(text)
		changes = append(changes, func(i int, n *controlplane.Node) {
			if node == 0 || node == i {
				n.Flags = append(n.Flags, controlplane.Remove(name))
			}
		})
		return nil
	})
	flags.Func("env", "set an environment variable of kube-apiserver: `[NODE:]NAME=VALUE`", func(text string) error {
		node, variable := splitNode(text)
		changes = append(changes, func(i int, n *controlplane.Node) {
			if node == 0 || node == i {
				n.Env = append(n.Env, variable)
			}
		})
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if *file != "" {
		text, err := os.ReadFile(*file)
		if err != nil {
			return nil, err
		}
		s.config = string(text)
	}
	if flags.NArg() == 0 {
		return nil, flag.ErrHelp
	}
	for i, minor := range flags.Args() {
		if _, err := lab.FindRelease(minor); err != nil {
			return nil, err
		}
		n := controlplane.Node{Release: minor}
		if !s.plain && s.config == "" {
			n.Flags = append(n.Flags, controlplane.HandOff)
		}
		for _, change := range changes {
			change(i+1, &n)
		}
		s.nodes = append(s.nodes, n)
	}
	return &s, nil
}

// splitNode splits "cp-2:text"; node is 0 for all nodes.
func splitNode(text string) (node int, rest string) {
	if n, err := fmt.Sscanf(text, "cp-%d:", &node); n == 1 && err == nil {
		_, rest, _ = strings.Cut(text, ":")
		return node, rest
	}
	return 0, text
}

// run holds the control plane until it is told to end. It runs in the namespace.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	t := &session{ctx: ctx}
	defer t.end()
	s := &state{Pid: os.Getppid(), Inside: os.Getpid()}
	s.Started = startOf(s.Pid)
	if err := t.try(func() { t.bring(args, s) }); err != nil {
		if ctx.Err() == nil {
			s.Error = err.Error()
			_ = s.write()
		}
		return 1
	}
	<-ctx.Done()
	return 0
}

// bring brings the control plane up, with all that a kubeadm cluster has for probe to look at.
func (t *session) bring(args []string, s *state) {
	settings, err := parse(args)
	if err != nil {
		t.Fatalf("%v", err)
	}
	cp := controlplane.New(t, controlplane.Options{Config: settings.config})
	servers := cp.Start(t, settings.nodes...)
	cp.AddMirrorPods(t)
	servers[0].UploadConfig(t)
	for _, server := range servers {
		s.Kubeconfigs = append(s.Kubeconfigs, server.Kubeconfig(t))
		s.Nodes = append(s.Nodes, fmt.Sprintf("%s %s %s", server.Name, server.Release, server.URL()))
	}
	if err := s.write(); err != nil {
		t.Fatalf("%v", err)
	}
}

// session is to the control plane what a test is otherwise.
type session struct {
	ctx      context.Context
	cleanups []func()
	failed   bool
}

var _ controlplane.TB = (*session)(nil)

// fatal is what Fatalf panics with.
type fatal struct{ error }

func (t *session) try(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fatal:
			t.failed = true
			err = p
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

func (t *session) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}

// Helper and Name are of no use here.
func (t *session) Helper()      {}
func (t *session) Name() string { return "lab" }

// Context ends when the control plane is to.
func (t *session) Context() context.Context { return t.ctx }

// Logf writes to the log.
func (t *session) Logf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// Errorf writes to the log.
func (t *session) Errorf(format string, args ...any) {
	t.failed = true
	t.Logf(format, args...)
}

// Fatalf ends what try runs.
func (t *session) Fatalf(format string, args ...any) { panic(fatal{fmt.Errorf(format, args...)}) }

// Cleanup registers what is done at the end.
func (t *session) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Failed tells whether something went wrong.
func (t *session) Failed() bool { return t.failed }
