//go:build unix

package certs

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
)

func TestPaths(t *testing.T) {
	n := certstest.NewNode(t)
	outside := certstest.Files{"/secret.crt": certstest.PEM(n.EtcdCA)}.Write(t)
	root := n.Files(t).Write(t)
	link := func(target, name string) {
		t.Helper()
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
	}
	link("ca.crt", certstest.Dir+"/relative.crt")
	link(certstest.Dir+"/ca.crt", "/absolute.crt")
	link(certstest.Dir, "/pki")
	link("pki/../pki/ca.crt", "/twice.crt")
	link("../../../../../../../../etc/kubernetes/pki/ca.crt", "/a/climbs.crt")
	link(outside+"/secret.crt", "/escapes.crt")
	link("../"+filepath.Base(outside)+"/secret.crt", "/escapes-relative.crt")
	link("loop-b", "/loop-a")
	link("loop-a", "/loop-b")
	link("/nowhere", "/dangling.crt")
	link("/etc/kubernetes", "/folder")
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}

	s := open(t, root)
	got := map[string]string{}
	paths := []string{
		certstest.Dir + "/ca.crt", "//etc/./kubernetes/x/../pki/ca.crt", "etc/kubernetes/pki/../pki/ca.crt", "/../../etc/kubernetes/pki/ca.crt",
		certstest.Dir + "/relative.crt", "/absolute.crt", "/pki/ca.crt", "/twice.crt", "/a/climbs.crt",
		"/escapes.crt", "/escapes-relative.crt", "/loop-a", "/dangling.crt", "/folder", "/", "", "/fifo",
		certstest.Dir + "/nothing.crt", certstest.Dir + "/ca.crt/x", "/nul\x00",
	}
	for _, name := range paths {
		b := s.Bundle(name)
		got[name] = fmt.Sprint(b.Problem, names(b))
	}
	good := "ok [kubernetes]"
	want := map[string]string{
		certstest.Dir + "/ca.crt": good, "etc/kubernetes/pki/../pki/ca.crt": good, "/../../etc/kubernetes/pki/ca.crt": good,
		"//etc/./kubernetes/x/../pki/ca.crt": "missing []", // as the kernel sees it: x does not exist
		certstest.Dir + "/relative.crt":      good, "/absolute.crt": good, "/pki/ca.crt": good, "/twice.crt": good, "/a/climbs.crt": good,
		"/escapes.crt": "missing []", "/escapes-relative.crt": "missing []", "/loop-a": "unreadable []", "/dangling.crt": "missing []",
		"/folder": "directory []", "/": "directory []", "": "directory []", "/fifo": "special file []",
		certstest.Dir + "/nothing.crt": "missing []", certstest.Dir + "/ca.crt/x": "missing []", "/nul\x00": "unreadable []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDenied(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	n := certstest.NewNode(t)
	root := n.Files(t).Write(t)
	if err := os.Chmod(filepath.Join(root, certstest.Dir, "ca.crt"), 0); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(root, certstest.Dir, "etcd")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	s := open(t, root)
	for _, name := range []string{"/ca.crt", "/etcd/ca.crt"} {
		if b := s.Bundle(certstest.Dir + name); b.Problem != Denied || !b.Problem.Unknown() {
			t.Errorf("%s: %v, want denied", name, b.Problem)
		}
	}
}
