package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("../../testdata/cases/*")
	if err != nil || len(names) == 0 {
		f.Fatalf("no case files: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		in, err := Read("fuzz.yaml", data)
		if err != nil {
			var se *yamldoc.SyntaxError
			var ce *Error
			if !errors.As(err, &se) && !errors.As(err, &ce) {
				t.Fatalf("the error has no place: %T %v", err, err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("the error has more than one line: %q", err)
			}
			return
		}
		if len(in.Clusters) == 0 && len(in.Notes) == 0 && len(in.Patches) == 0 {
			t.Fatal("neither a cluster nor a word why there is none")
		}
		for _, c := range in.Clusters {
			for _, p := range append(c.Problems, c.Refused()...) {
				inFile(t, p.At)
			}
			for _, s := range c.Servers() {
				for _, flag := range s.Flags {
					inFile(t, flag.At)
					if strings.Contains(flag.Name, "_") {
						t.Fatalf("flag name %q is not normalised", flag.Name)
					}
				}
			}
			inFile(t, c.FlagsPlace())
		}
	})
}

func inFile(t *testing.T, p yamldoc.Place) {
	t.Helper()
	if p.IsZero() {
		return
	}
	if p.Start < 0 || p.End < p.Start || p.End > len(p.File.Data) {
		t.Fatalf("place %d-%d is outside the file of %d bytes", p.Start, p.End, len(p.File.Data))
	}
}

func FuzzCommandLine(f *testing.F) {
	f.Add("kube-apiserver --secure-port=6443 --allow-privileged --v 2 >/log 2>&1", true)
	f.Add("exec /usr/local/bin/kube-apiserver \"--feature-gates=A=true\" --peer-ca-file='/a b' \\\n --v=2 || exit 1", true)
	f.Add("kube-apiserver\x00--peer_ca_file\x00/srv/ca.crt\x00--profiling\x00--", false)
	f.Add("/go-runner\x00--log-file=x\x00kube-apiserver\x00--v=$(V)", false)
	f.Fuzz(func(t *testing.T, text string, shell bool) {
		words := []string{"/bin/sh", "-c", text}
		if !shell {
			words = strings.Split(text, "\x00")
		}
		var m Manifest
		var command []Word
		for _, w := range words {
			command = append(command, Word{Text: w})
		}
		m.findServer(command)
		for _, flag := range m.Flags() {
			if flag.Name == "" && flag.Spelling != "" && strings.Trim(flag.Spelling, "-_") != "" {
				t.Fatalf("flag %q has no name", flag.Spelling)
			}
			if !flag.Unknown && strings.Contains(flag.Value, "$(") {
				t.Fatalf("--%s=%s counts as known", flag.Spelling, flag.Value)
			}
		}
		if !m.Unreadable && m.Program.Text == "" {
			t.Fatal("a readable command has no program")
		}
	})
}
