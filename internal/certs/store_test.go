package certs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
)

func open(t *testing.T, root string) *Store {
	t.Helper()
	s, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// names lists the subjects of a bundle, so that cmp can compare it.
func names(b Bundle) []string {
	var out []string
	for _, c := range b.Certs {
		out = append(out, c.Subject.CommonName)
	}
	return out
}

func TestBundle(t *testing.T) {
	n := certstest.NewNode(t)
	ca, key := string(certstest.PEM(n.CA)), string(n.CA.KeyPEM(t))
	type want struct {
		Certs   []string
		Leaf    bool
		Problem string
	}
	for _, tc := range []struct {
		name, text string
		want       want
	}{
		{"one", ca, want{[]string{"kubernetes"}, true, "ok"}},
		{"text around", "# the CA\n" + ca + "\nthe end\n", want{[]string{"kubernetes"}, true, "ok"}},
		{"CRLF", strings.ReplaceAll(ca, "\n", "\r\n"), want{[]string{"kubernetes"}, true, "ok"}},
		{"two", ca + string(certstest.PEM(n.EtcdCA)), want{[]string{"kubernetes", "etcd-ca"}, true, "ok"}},
		{"with its key", key + ca, want{[]string{"kubernetes"}, true, "ok"}},
		{"empty", "", want{nil, false, "empty"}},
		{"a line break", "\n", want{nil, false, "not PEM"}},
		{"DER", string(n.CA.Cert.Raw), want{nil, false, "not PEM"}},
		{"key", key, want{nil, false, "private key"}},
		{"another block", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n", want{nil, false, "no certificate"}},
		{"trusted certificate", strings.ReplaceAll(ca, "CERTIFICATE", "TRUSTED CERTIFICATE"), want{nil, false, "no certificate"}},
		{"headers", strings.Replace(ca, "-----\n", "-----\nA: b\n\n", 1), want{nil, false, "no certificate"}},
		{"no certificate in the block", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", want{nil, false, "unparsable"}},
		{"second unparsable", ca + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", want{[]string{"kubernetes"}, true, "unparsable"}},
		{"first unparsable", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + ca, want{[]string{"kubernetes"}, false, "unparsable"}},
		{"cut off", ca[:len(ca)/2], want{nil, false, "broken PEM"}},
		{"second cut off", ca + ca[:len(ca)/2], want{[]string{"kubernetes"}, true, "broken PEM"}},
		{"a character changed for a blank", strings.Replace(ca, "MII", "M!!", 1), want{nil, false, "broken PEM"}},
		{"large", ca + strings.Repeat("#", MaxSize), want{nil, false, "too large"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := open(t, certstest.Files{"/f": []byte(tc.text)}.Write(t)).Bundle("/f")
			got := want{names(b), b.Leaf != nil, b.Problem.String()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestCached proves that what changes on the disk meanwhile does not make two rules disagree.
func TestCached(t *testing.T) {
	n := certstest.NewNode(t)
	root := n.Files(t).Write(t)
	s := open(t, root)
	first := s.Pair(certstest.Dir+"/apiserver.crt", certstest.Dir+"/apiserver.key")
	if err := os.RemoveAll(filepath.Join(root, "etc")); err != nil {
		t.Fatal(err)
	}
	if again := s.Pair(certstest.Dir+"/apiserver.crt", certstest.Dir+"/apiserver.key"); again.Key != first.Key || again.Cert.Leaf != first.Cert.Leaf {
		t.Errorf("%+v, want %+v", again, first)
	}
	if b := s.Bundle(certstest.Dir + "/ca.crt"); b.Problem != Missing {
		t.Errorf("a file not read before: %v", b.Problem)
	}
}

func TestOpen(t *testing.T) {
	root := certstest.Files{"/f": nil}.Write(t)
	for _, dir := range []string{filepath.Join(root, "nothing"), filepath.Join(root, "f")} {
		if _, err := Open(dir); err == nil || !strings.HasPrefix(err.Error(), dir+": ") {
			t.Errorf("Open(%q): %v", dir, err)
		}
	}
	if open(t, root).WholeSystem() || !open(t, "/").WholeSystem() {
		t.Error("WholeSystem is about / only")
	}
	if is, known := open(t, root).Folder("/"); !is || !known {
		t.Errorf("Folder: %v, %v", is, known)
	}
}

func TestPair(t *testing.T) {
	n := certstest.NewNode(t)
	cert, key := string(certstest.PEM(n.Server)), string(n.Server.KeyPEM(t))
	for _, tc := range []struct{ name, cert, key, want string }{
		{"good", cert, key, "ok ok"},
		{"both in one", key + cert, cert + key, "ok ok"},
		{"another key", cert, string(n.Proxy.KeyPEM(t)), "ok ok mismatch"},
		{"certificate as key", cert, cert, "ok no key"},
		{"swapped", key, cert, "private key no key"},
		{"key damaged", cert, strings.Replace(key, "MI", "MA", 1), "ok unparsable"},
		{"key cut off", cert, key[:40], "ok not PEM"},
		{"key empty", cert, "", "ok empty"},
		{"key of another kind", cert, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", "ok unparsable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := open(t, certstest.Files{"/c": []byte(tc.cert), "/k": []byte(tc.key)}.Write(t)).Pair("/c", "/k")
			got := fmt.Sprint(p.Cert.Problem, " ", p.Key)
			if p.Mismatch {
				got += " mismatch"
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
