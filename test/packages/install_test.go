package packages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestActionBuild: the action builds the source that it came with.
func TestActionBuild(t *testing.T) {
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	checkInstalled(t, t.TempDir(), env...)
}

// checkInstalled runs install.sh, which must leave a program in PATH.
func checkInstalled(t *testing.T, dir string, env ...string) {
	t.Helper()
	s := runStep(t, "install.sh", dir, env...)
	where := filepath.Join(dir, "temp", "mvpcheck")
	if s.code != 0 || !strings.Contains(s.out, "kubernetes: ") {
		t.Fatalf("exit code %d\n%s%s", s.code, s.out, s.errs)
	}
	if got := string(readFile(t, filepath.Join(dir, "path"))); got != where+"\n" {
		t.Errorf("added to PATH: %q", got)
	}
	if r := execute(t, dir, nil, filepath.Join(where, "mvpcheck"), "version"); r.code != 0 {
		t.Errorf("what was installed does not run: %s", r.errs)
	}
}

// TestActionDownload: a release is taken only if it is what its checksums say.
func TestActionDownload(t *testing.T) {
	need(t, "curl", "tar")
	const name = "mvpcheck_0.1.0_linux_amd64.tar.gz"
	archive := tarOf(t, "mvpcheck", readFile(t, filepath.Join(bin, "mvpcheck")))
	for test, tc := range map[string]struct {
		version, checksums string
		env                []string
		want               string
	}{
		"good":            {version: "v0.1.0", checksums: fmt.Sprintf("%064d  other.tar.gz\n%x  %s\n", 0, sha256.Sum256(archive), name)},
		"other bytes":     {version: "v0.1.0", checksums: fmt.Sprintf("%064d  %s\n", 0, name), want: "is not what checksums.txt of v0.1.0 says"},
		"not in the list": {version: "v0.1.0", checksums: fmt.Sprintf("%x  x%s\n", sha256.Sum256(archive), name), want: "is not what checksums.txt"},
		"no such release": {version: "v0.2.0", want: "cannot download checksums.txt of v0.2.0"},
		"no version":      {version: "latest", want: "is no release such as"},
		"a path":          {version: "v0.1.0/../../x", want: "is no release such as"},
		"no such system":  {version: "v0.1.0", env: []string{"RUNNER_OS=Plan9"}, want: "no release for this operating system"},
		"no such machine": {version: "v0.1.0", env: []string{"RUNNER_ARCH=ARM"}, want: "no release for this architecture"},
	} {
		t.Run(test, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/owner/fork/releases/download/v0.1.0/checksums.txt":
					_, _ = w.Write([]byte(tc.checksums))
				case "/owner/fork/releases/download/v0.1.0/" + name:
					_, _ = w.Write(archive)
				default:
					http.NotFound(w, r)
				}
			}))
			defer server.Close()
			dir := t.TempDir()
			env := append([]string{"GITHUB_SERVER_URL=" + server.URL, "GITHUB_ACTION_REPOSITORY=owner/fork", "MVPCHECK_VERSION=" + tc.version, "NO_PROXY=*"}, tc.env...)
			if tc.want == "" {
				checkInstalled(t, dir, env...)
				return
			}
			s := runStep(t, "install.sh", dir, env...)
			if s.code != 2 || !strings.Contains(s.out, "::error title=mvpcheck::") || !strings.Contains(s.out, tc.want) {
				t.Errorf("exit code %d\n%s%s", s.code, s.out, s.errs)
			}
			if _, err := os.Stat(filepath.Join(dir, "temp", "mvpcheck", "mvpcheck")); err == nil {
				t.Error("it was unpacked all the same")
			}
		})
	}
}

func tarOf(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
