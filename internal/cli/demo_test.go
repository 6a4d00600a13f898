package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// The story must take no longer than anyone is willing to wait for it.
func TestDemoIsQuick(t *testing.T) {
	begin := time.Now()
	r := runMain(t, "demo")
	if r.code != exitOK || r.err != "" {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("%s", took)
	}
}

func BenchmarkDemo(b *testing.B) {
	for b.Loop() {
		if code := Main(context.Background(), []string{"mvpcheck", "demo"}, Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}); code != exitOK {
			b.Fatalf("exit code %d", code)
		}
	}
}

// served is a run of mvpcheck demo --serve.
type served struct {
	kubeconfig string
	// end is ctrl-C; it returns the exit code and standard error.
	end func() (int, string)
}

// serveDemo starts the servers and waits until they are announced.
func serveDemo(t *testing.T, args ...string) served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, w := io.Pipe()
	var errs bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- Main(ctx, append([]string{"mvpcheck", "demo", "--serve", "--quiet"}, args...), Streams{In: strings.NewReader(""), Out: w, Err: &errs})
		w.Close()
	}()
	end := func() (int, string) {
		cancel()
		select {
		case c := <-code:
			code <- c
			return c, errs.String()
		case <-time.After(20 * time.Second):
			t.Fatal("ctrl-C does not end it")
		}
		return 0, ""
	}
	t.Cleanup(func() { end() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_, text := end()
		t.Fatalf("%v: %s", err, text)
	}
	return served{strings.TrimSuffix(line, "\n"), end}
}

// The servers are what probe, started as people start it, takes for a control plane; nothing is left of them after ctrl-C.
func TestDemoServe(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{nil, exitFindings, "1 answers false 404s, 2 failing. Do not go on with the upgrade."},
		{[]string{"--state", "unprepared"}, exitFindings, "1 answers false 404s, 2 failing. Do not go on with the upgrade."},
		{[]string{"--state", "prepared"}, exitOK, "3 ok. The hand-off is proved."},
		{[]string{"--state", "prepared", "--kubeconfig", "own"}, exitOK, "3 ok. The hand-off is proved."},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			t.Chdir(t.TempDir())
			before := runtime.NumGoroutine()
			s := serveDemo(t, tt.args...)
			info, err := os.Stat(s.kubeconfig)
			if err != nil {
				t.Fatal(err)
			}
			if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
			if strings.Contains(strings.Join(tt.args, " "), "own") != (s.kubeconfig == "own") {
				t.Errorf("kubeconfig %s", s.kubeconfig)
			}
			if r := runMain(t, "probe", "--kubeconfig", s.kubeconfig); r.code != tt.code || !strings.Contains(r.out, tt.want) {
				t.Errorf("probe: exit code %d\n%s%s", r.code, r.out, r.err)
			}
			hosts := hostsOf(t, s.kubeconfig)
			if code, text := s.end(); code != exitOK || text != "" {
				t.Errorf("exit code %d: %s", code, text)
			}
			if _, err := os.Stat(s.kubeconfig); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", s.kubeconfig, err)
			}
			if dir := filepath.Dir(s.kubeconfig); dir != "." {
				if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is still there: %v", dir, err)
				}
			}
			for _, host := range hosts {
				if conn, err := net.Dial("tcp", host); err == nil {
					conn.Close()
					t.Errorf("%s still listens", host)
				}
			}
			waitForGoroutines(t, before)
		})
	}
}

func hostsOf(t *testing.T, kubeconfig string) (hosts []string) {
	t.Helper()
	cfg, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cfg.Clusters {
		u, err := url.Parse(c.Server)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, u.Host)
	}
	return hosts
}

func waitForGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}

// What is printed can be typed.
func TestDemoServeText(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out := &cancelingWriter{cancel: cancel}
	file := filepath.Join(dir, "k")
	code := Main(ctx, []string{"kubectl-mvpcheck", "demo", "--serve", "--kubeconfig", file}, Streams{In: strings.NewReader(""), Out: out, Err: io.Discard})
	if code != exitOK {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"   cp-1  1.35.4  https://127.0.0.1:",
		"\n   " + file + "\n",
		"   kubectl mvpcheck probe --kubeconfig '" + file + "'\n",
		" -o yaml | kubectl mvpcheck check -\n",
		"The same with the hand-off set up: kubectl mvpcheck demo --serve --state prepared\n",
	} {
		if !strings.Contains(out.text.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.text.String())
		}
	}
}

// A cancelingWriter is where somebody types ctrl-C as soon as there is something to read.
type cancelingWriter struct {
	text   strings.Builder
	cancel func()
}

func (w *cancelingWriter) Write(p []byte) (int, error) {
	w.cancel()
	return w.text.Write(p)
}

// Ctrl-C in the middle of the story ends it, wherever it is.
func TestDemoInterrupted(t *testing.T) {
	for _, after := range []time.Duration{0, 5 * time.Millisecond, 30 * time.Millisecond, 80 * time.Millisecond} {
		before := runtime.NumGoroutine()
		ctx, cancel := context.WithTimeout(context.Background(), after)
		var errs bytes.Buffer
		code := Main(ctx, []string{"mvpcheck", "demo"}, Streams{In: strings.NewReader(""), Out: io.Discard, Err: &errs})
		cancel()
		if code == exitOK && after > 0 {
			continue // it was quicker
		}
		if code != exitFailed || errs.String() != "mvpcheck: interrupted\n" {
			t.Errorf("after %s: exit code %d: %s", after, code, errs.String())
		}
		waitForGoroutines(t, before)
	}
}

func TestDemoThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"demo"}, {"demo", "--quiet"}, {"demo", "--serve"}} {
		var errs bytes.Buffer
		code := Main(context.Background(), append([]string{"mvpcheck"}, args...), Streams{In: strings.NewReader(""), Out: failingWriter{}, Err: &errs})
		if code != exitFailed || errs.String() != "mvpcheck: disk full\n" {
			t.Errorf("%v: exit code %d, %q", args, code, errs.String())
		}
	}
}
