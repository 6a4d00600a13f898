//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	s, err := parse([]string{"-set", "v=4", "-set", "cp-2:peer-ca-file=/x=y", "-remove", "cp-1:secure-port", "-env", "A=b:c", "1.35", "1.36"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ args, env string }{
		{"--feature-gates=UnknownVersionInteroperabilityProxy=true --peer-ca-file=/etc/kubernetes/pki/ca.crt --v=4", "A=b:c"},
		{"--secure-port=1 --feature-gates=UnknownVersionInteroperabilityProxy=true --v=4 --peer-ca-file=/x=y", "A=b:c"},
	} {
		args := []string{"--secure-port=1"}
		for _, change := range s.nodes[i].Flags {
			args = change(args)
		}
		if got := strings.Join(args, " "); got != want.args {
			t.Errorf("node %d: got %s, want %s", i+1, got, want.args)
		}
		if got := strings.Join(s.nodes[i].Env, " "); got != want.env {
			t.Errorf("node %d: got environment %s, want %s", i+1, got, want.env)
		}
	}

	s, err = parse([]string{"-plain", "1.35"})
	if err != nil || len(s.nodes) != 1 || len(s.nodes[0].Flags) != 0 {
		t.Errorf("-plain: %+v, %v", s, err)
	}
	for _, args := range [][]string{nil, {"1.2"}, {"-set", "x", "1.35"}, {"-config", filepath.Join(t.TempDir(), "none"), "1.35"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

func TestStartOf(t *testing.T) {
	if startOf(os.Getpid()) == "" {
		t.Error("this process has no start")
	}
	if start := startOf(1 << 30); start != "" {
		t.Errorf("a process that is not there has started at %s", start)
	}
}
