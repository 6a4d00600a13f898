package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/test/commands"
)

var update = flag.Bool("update", false, "write what the commands print into the pages")

// TestExamples runs the examples of the documentation, and compares what they print.
func TestExamples(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a POSIX shell")
	}
	for _, p := range pages(t) {
		t.Run(p.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil { // no settings are looked for above
				t.Fatal(err)
			}
			fresh := map[*block][]string{} // what the blocks should be
			blocks := p.blocks(t)
			for _, b := range blocks {
				switch b.action {
				case "file":
					writeExample(t, filepath.Join(dir, b.args[0]), b.text())
				case "run":
					fresh[b] = b.run(t, dir)
				case "":
					if b.language == "console" {
						t.Errorf("%s: nothing runs this transcript", b.at())
					}
				default:
					t.Errorf("%s: what is %q?", b.at(), b.action)
				}
			}
			if *update {
				p.rewrite(t, blocks, fresh)
			}
		})
	}
}

func writeExample(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// example is a command of a block with what it prints.
type example struct {
	command string
	printed []string
}

// examples returns the commands of a block. A shell block has one, which prints what nobody compares.
func (b *block) examples(t *testing.T) []example {
	if b.language != "console" {
		return []example{{command: b.text()}}
	}
	var out []example
	for i, line := range b.page.lines[b.first:b.last] {
		switch command, ok := strings.CutPrefix(line, "$ "); {
		case ok:
			out = append(out, example{command: command})
		case i == 0:
			t.Fatalf("%s: begins with no command", b.at())
		default:
			last := &out[len(out)-1]
			if more := strings.HasSuffix(last.command, "\\"); more && len(last.printed) == 0 {
				last.command += "\n" + strings.TrimPrefix(line, "> ")
				continue
			}
			last.printed = append(last.printed, line)
		}
	}
	return out
}

// run runs the commands of a block in a folder, and returns the lines that the block should have.
func (b *block) run(t *testing.T, dir string) []string {
	t.Helper()
	var codes []string
	for _, arg := range b.args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "in":
			from, to, named := strings.Cut(value, ":")
			if !named {
				to = filepath.Base(from)
			}
			copyExample(t, repo+from, filepath.Join(dir, to))
		case "exit":
			codes = strings.Split(value, ",")
		default:
			t.Errorf("%s: what is %q?", b.at(), arg)
		}
	}
	var fresh []string
	for i, e := range b.examples(t) {
		want := 0
		if i < len(codes) {
			want, _ = strconv.Atoi(codes[i])
		}
		cmd := exec.Command("sh", "-c", e.command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "KUBECONFIG=", "TERM=dumb")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatalf("%s: %v", b.at(), err)
		}
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: %s: exit code %d, want %d\n%s", b.at(), e.command, code, want, out)
		}
		printed := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(out) == 0 {
			printed = nil
		}
		if slices.Contains(e.printed, "...") {
			if err := elided(e.printed, printed); err != nil {
				t.Errorf("%s: %s: %v\n%s", b.at(), e.command, err, out)
			}
			printed = e.printed
		} else if b.language == "console" && !*update {
			if diff := cmp.Diff(e.printed, printed); diff != "" {
				t.Errorf("%s: %s prints something else (go test ./cmd/mvpcheck -update): %s", b.at(), e.command, diff)
			}
		}
		fresh = append(append(fresh, strings.Split("$ "+e.command, "\n")...), printed...)
	}
	return fresh
}

// elided compares lines with those of a page, in which "..." stands for any.
func elided(want, got []string) error {
	at, free := 0, false
	for _, line := range want {
		if line == "..." {
			free = true
			continue
		}
		i := slices.Index(got[min(at, len(got)):], line)
		if i < 0 || i > 0 && !free {
			return fmt.Errorf("does not print %q here", line)
		}
		at, free = at+i+1, false
	}
	if at != len(got) && !free {
		return fmt.Errorf("prints more: %q", got[at:])
	}
	return nil
}

func copyExample(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	writeExample(t, to, string(data))
}

// rewrite puts fresh lines into the console blocks of a page.
func (p *page) rewrite(t *testing.T, blocks []*block, fresh map[*block][]string) {
	lines := p.lines
	for _, b := range slices.Backward(blocks) {
		if b.language == "console" && fresh[b] != nil {
			lines = slices.Concat(lines[:b.first], fresh[b], lines[b.last:])
		}
	}
	if err := os.WriteFile(repo+p.name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// TestTypedCommands: every command line that a page shows is one that its program takes; other blocks are well-formed.
func TestTypedCommands(t *testing.T) {
	for _, p := range pages(t) {
		for _, b := range p.blocks(t) {
			switch b.language {
			case "console", "sh":
				for _, e := range b.examples(t) {
					if err := commands.Script(e.command); err != nil {
						t.Errorf("%s: %v", b.at(), err)
					}
				}
			case "yaml", "json":
				var v any
				if err := yaml.Unmarshal([]byte(b.text()), &v); err != nil {
					t.Errorf("%s: %v", b.at(), err)
				}
			case "vim", "elisp": // editors_test.go
			default:
				t.Errorf("%s: nothing tests a block of %q", b.at(), b.language)
			}
		}
		for i, line := range p.prose(t) {
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				word, _, more := strings.Cut(m[1], " ")
				if more && !commands.Topic(m[1]) && slices.Contains([]string{"mvpcheck", "kubectl", "kubeadm", "kinder"}, word) && !strings.Contains(m[1], "...") {
					if err := commands.Script(m[1]); err != nil {
						t.Errorf("%s:%d: %v", p.name, i+1, err)
					}
				}
			}
		}
	}
}

var (
	ruleID   = regexp.MustCompile(`\bMVP\d{3}\b`)
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	unslug   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	ruleLink = regexp.MustCompile(`\[(MVP\d{3})\]\(([^)]+)\)`)
)

// TestLinks: no relative link leads nowhere, and the rules that are named are there.
func TestLinks(t *testing.T) {
	for _, p := range pages(t) {
		for i, line := range p.prose(t) {
			for _, id := range ruleID.FindAllString(line, -1) {
				if _, ok := checks.Find(id); !ok {
					t.Errorf("%s:%d: there is no rule %s", p.name, i+1, id)
				}
			}
			for _, m := range ruleLink.FindAllStringSubmatch(line, -1) {
				if !strings.HasSuffix(m[2], "/"+m[1]+".md") {
					t.Errorf("%s:%d: %s leads to %s", p.name, i+1, m[1], m[2])
				}
			}
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if err := p.follow(m[1]); err != nil {
					t.Errorf("%s:%d: %s: %v", p.name, i+1, m[1], err)
				}
			}
		}
	}
}

// follow looks whether a link leads anywhere within the repository.
func (p *page) follow(target string) error {
	if strings.HasPrefix(target, "https://") {
		return nil
	}
	file, anchor, _ := strings.Cut(target, "#")
	path := p.name
	if file != "" {
		path = filepath.Join(filepath.Dir(p.name), file)
	}
	if strings.HasPrefix(path, "..") {
		return errors.New("leads out of the repository")
	}
	data, err := os.ReadFile(repo + path)
	if anchor == "" {
		_, err = os.Stat(repo + path)
	}
	if err != nil || anchor == "" {
		return err
	}
	for _, m := range heading.FindAllStringSubmatch(string(data), -1) {
		if strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-") == anchor {
			return nil
		}
	}
	return errors.New("there is no such heading")
}

// TestGuideIndex: the guide's first page, and only that, leads to each of the others.
func TestGuideIndex(t *testing.T) {
	data, err := os.ReadFile(repo + "docs/guide/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages(t) {
		if name, ok := strings.CutPrefix(p.name, "docs/guide/"); ok && name != "README.md" && !strings.Contains(string(data), "]("+name+")") {
			t.Errorf("docs/guide/README.md does not lead to %s", name)
		}
	}
}

// TestElided: what the transcripts' "..." lets pass.
func TestElided(t *testing.T) {
	for _, tt := range []struct {
		want, got string
		ok        bool
	}{
		{"a ... d", "a b c d", true},
		{"... d", "a d", true},
		{"a ...", "a b", true},
		{"a ... d", "a d", true},
		{"a ... c", "a b c d", false},
		{"b ...", "a b", false},
		{"a ... x d", "a b d", false},
		{"a b", "a b", true},
		{"a b", "a c b", false},
		{"a b ...", "a", false},
	} {
		if err := elided(strings.Fields(tt.want), strings.Fields(tt.got)); (err == nil) != tt.ok {
			t.Errorf("%s for %s: %v", tt.want, tt.got, err)
		}
	}
}
