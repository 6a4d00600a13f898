package lab

import (
	"strings"
	"testing"
)

func TestToldVersion(t *testing.T) {
	for _, test := range []struct {
		program    program
		told, want string
	}{
		{program{told: lastWord}, "Kubernetes v1.36.3\n", "v1.36.3"},
		{program{told: lastWord}, "v1.38.0-beta.0\n", "v1.38.0-beta.0"},
		{program{told: lastWord}, "no version\n", ""},
		{program{told: etcdVersion}, "etcd Version: 3.6.16\nGit SHA: Not provided\nGo Version: go1.26.0\n", "v3.6.16"},
		{program{told: etcdVersion}, "Go Version: go1.26.0\n", ""},
	} {
		if got := test.program.versionIn([]byte(test.told)); got != test.want {
			t.Errorf("%q: got %q, want %q", test.told, got, test.want)
		}
	}
}

func TestEtcdProgram(t *testing.T) {
	p, err := etcdProgram()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(p.version, "v3.") || p.file() == "" {
		t.Errorf("%s: %s", p, p.file())
	}
}
