package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// result is what one run of the program did.
type result struct {
	code     int
	out, err string
}

func runMain(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := Main(context.Background(), append([]string{"mvpcheck"}, args...), Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return result{code, out.String(), errs.String()}
}

const gateOff = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.35.4
controlPlaneEndpoint: api.example.test:6443
`

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestProgramName(t *testing.T) {
	for arg, want := range map[string]string{
		"mvpcheck": "mvpcheck", "/usr/bin/mvpcheck": "mvpcheck", "/opt/kubectl-mvpcheck": "kubectl mvpcheck", "kubectl-mvpcheck.exe": "kubectl mvpcheck",
	} {
		if got := programName([]string{arg}); got != want {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
	if got := programName(nil); got != "mvpcheck" {
		t.Errorf("without arguments: %q", got)
	}
}

// Files are checked side by side; the report has them in their order all the same.
func TestFolderKeepsOrder(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 300 {
		name := fmt.Sprintf("%03d.yaml", i)
		text := gateOff
		switch i % 3 {
		case 1: // one that takes longer
			text += "# " + strings.Repeat("x", 20000) + "\n"
		case 2:
			text = "kind: ClusterConfiguration\n\tx"
		}
		writeFile(t, filepath.Join(dir, name), text)
		if i%3 < 2 {
			want = append(want, name)
		}
	}
	r := runMain(t, "check", "-q", "--only", "MVP101", dir)
	if r.code != exitFindings {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	var got []string
	for line := range strings.Lines(r.out) {
		if name, _, ok := strings.Cut(line, ": error: "); ok {
			name, _, _ = strings.Cut(filepath.Base(name), ":")
			got = append(got, name)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("order: %v", got)
	}
	if n := strings.Count(r.err, "\n"); n != 100 {
		t.Errorf("%d lines on standard error, want 100", n)
	}
}

// The files that all clusters share are read by all workers at once; go test -race sees to it.
func TestFolderSharesPatches(t *testing.T) {
	dir := t.TempDir()
	for i := range 50 {
		writeFile(t, filepath.Join(dir, "c", fmt.Sprintf("%d.yaml", i)), gateOff)
	}
	writeFile(t, filepath.Join(dir, "p", "kube-apiserver.yaml"), "spec:\n  containers:\n  - name: kube-apiserver\n    command: [kube-apiserver]\n")
	r := runMain(t, "check", "-q", "--only", "MVP405", "--fail-on", "warning", "--patches", filepath.Join(dir, "p"), filepath.Join(dir, "c"))
	if n := strings.Count(r.out, "[MVP405]"); r.code != exitFindings || n != 50 {
		t.Errorf("exit code %d, %d findings; want %d, 50", r.code, n, exitFindings)
	}
}

func TestInterrupted(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "a.yaml"), gateOff)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	blocked, w := io.Pipe()
	defer w.Close()
	for _, args := range [][]string{{"check", "-"}, {"check", file}, {"check", file, file, file}, {"patch", "-"}} {
		var out, errs bytes.Buffer
		code := Main(ctx, append([]string{"mvpcheck"}, args...), Streams{In: blocked, Out: &out, Err: &errs})
		if code != exitFailed || errs.String() != "mvpcheck: interrupted\n" || out.Len() > 0 {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out.String(), errs.String())
		}
	}
}

// What nobody foresaw is one line and no success, never a stack trace.
func TestPanics(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "a.yaml"), gateOff)
	var out, errs bytes.Buffer
	a := &app{Streams: Streams{Out: &out, Err: &errs}, program: "mvpcheck", lookup: os.LookupEnv, now: func() time.Time { panic("no clock") }}
	code := a.run(context.Background(), []string{"mvpcheck", "check", file})
	if want := "mvpcheck: internal error: no clock; please report it with the input that led to it\n"; code != exitFailed || errs.String() != want {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
	// In a worker it ends that file only.
	j := &judge{}
	if o := j.check(&job{name: file, choices: &choices{}}); o.err == nil || !strings.HasPrefix(o.err.Error(), "internal error: ") {
		t.Errorf("worker: %v", o.err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "a.yaml"), gateOff)
	for _, args := range [][]string{{"check", file}, {"check", file, file}, {"patch", file}, {"explain"}, {"version"}} {
		var errs bytes.Buffer
		code := Main(context.Background(), append([]string{"mvpcheck"}, args...), Streams{In: strings.NewReader(""), Out: failingWriter{}, Err: &errs})
		if code != exitFailed || errs.String() != "mvpcheck: disk full\n" {
			t.Errorf("%v: exit code %d, %q", args, code, errs.String())
		}
	}
}

// Input that is too large is refused before it is in memory.
func TestStdinIsBounded(t *testing.T) {
	var out, errs bytes.Buffer
	endless := endlessReader{}
	code := Main(context.Background(), []string{"mvpcheck", "check", "-"}, Streams{In: endless, Out: &out, Err: &errs})
	if code != exitFailed || !strings.Contains(errs.String(), fmt.Sprintf("more than %d MiB", config.MaxSize>>20)) {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
}

type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	return len(p), nil
}

// A name or a text from a file does not reach the terminal as it is.
func TestEscapesInMessages(t *testing.T) {
	for _, args := range [][]string{{"check", "a\x1b[2J.yaml"}, {"patch", "a\x1b[2J.yaml"}, {"check", "--only", "\x1b[2J", "x"}, {"\x1b[2J"}} {
		r := runMain(t, args...)
		if strings.Contains(r.err+r.out, "\x1b") || !strings.Contains(r.err, `\x1b`) {
			t.Errorf("%q: %q %q", args, r.out, r.err)
		}
	}
}

func TestColor(t *testing.T) {
	tests := []struct {
		mode     colorValue
		terminal bool
		env      map[string]string
		want     bool
	}{
		{"auto", true, nil, true},
		{"auto", false, nil, false},
		{"auto", true, map[string]string{"NO_COLOR": "1"}, false},
		{"auto", true, map[string]string{"NO_COLOR": ""}, true},
		{"auto", true, map[string]string{"TERM": "dumb"}, false},
		{"auto", true, map[string]string{"TERM": "xterm"}, true},
		{"always", false, map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, true},
		{"never", true, nil, false},
	}
	for _, tt := range tests {
		got := tt.mode.use(tt.terminal, func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok })
		if got != tt.want {
			t.Errorf("%s, terminal %v, %v: %v", tt.mode, tt.terminal, tt.env, got)
		}
	}
}

// A terminal gets colour through the whole program.
func TestColorOnTerminal(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "a.yaml"), gateOff)
	for env, want := range map[string]bool{"": true, "1": false} {
		var out bytes.Buffer
		a := &app{Streams: Streams{Out: &out, Err: io.Discard, OutIsTerminal: true}, program: "mvpcheck", now: time.Now,
			lookup: func(name string) (string, bool) {
				if name == "NO_COLOR" {
					return env, true
				}
				return "", false
			}}
		a.run(context.Background(), []string{"mvpcheck", "check", "--only", "MVP101", file})
		if got := strings.Contains(out.String(), "\x1b["); got != want {
			t.Errorf("NO_COLOR=%q: colour %v, want %v", env, got, want)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	if got := firstSentence("One. Two."); got != "One." {
		t.Errorf("firstSentence: %q", got)
	}
	if got := firstSentence("v1.36.0 alone."); got != "v1.36.0 alone." {
		t.Errorf("firstSentence: %q", got)
	}
}
