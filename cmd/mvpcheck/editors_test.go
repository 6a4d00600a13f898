package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/test/commands"
)

// example returns the block that a page of the guide has for a file.
func exampleFile(t *testing.T, page, file string) string {
	t.Helper()
	for _, p := range pages(t) {
		if p.name != page {
			continue
		}
		for _, b := range p.blocks(t) {
			if b.action == "file" && b.args[0] == file {
				return b.text()
			}
		}
	}
	t.Fatalf("%s has no block for %s", page, file)
	return ""
}

// finding is what an editor makes of a line.
type finding struct{ File, Line, Column, Level, Message string }

// matcher reads a line; nil: it is no finding.
type matcher func(line string) *finding

// byPattern is a matcher by a pattern with these groups; 0 is one that it does not have.
func byPattern(pattern string, file, line, column, level, message int) matcher {
	re := regexp.MustCompile(pattern)
	return func(text string) *finding {
		m := re.FindStringSubmatch(text)
		if m == nil {
			return nil
		}
		f := &finding{Line: m[line], Column: m[column], Level: m[level][:1], Message: m[message]}
		if file > 0 {
			f.File = m[file]
		}
		return f
	}
}

// firstOf tries matchers in turn.
func firstOf(matchers []matcher) matcher {
	return func(line string) *finding {
		for _, m := range matchers {
			if f := m(line); f != nil {
				return f
			}
		}
		return nil
	}
}

// byErrorFormat is a matcher by an item of Vim's errorformat, as far as the guide uses it.
func byErrorFormat(format string) matcher {
	pattern := regexp.QuoteMeta(format)
	for item, group := range map[string]string{"%f": "(.+)", "%l": `(\d+)`, "%c": `(\d+)`, "%t": "(.)", "%m": "(.+)"} {
		pattern = strings.ReplaceAll(pattern, item, group)
	}
	return byPattern("^"+pattern+"$", 1, 2, 3, 4, 5)
}

func vimCompiler(t *testing.T) matcher {
	line := regexp.MustCompile(`(?m)^CompilerSet errorformat=(.*),%-G%\.%#$`).FindStringSubmatch(exampleFile(t, editors, "compiler/mvpcheck.vim"))
	var matchers []matcher
	for format := range strings.SplitSeq(strings.ReplaceAll(line[1], `\ `, " "), ",") {
		matchers = append(matchers, byErrorFormat(format))
	}
	return firstOf(matchers)
}

// ale: Vim's very magic patterns are written like Go's, as far as this one goes.
func ale(t *testing.T) matcher {
	m := regexp.MustCompile(`matchlist\(l:line, '\\v(.*)'\)`).FindStringSubmatch(exampleFile(t, editors, "ale_linters/yaml/mvpcheck.vim"))
	return byPattern(m[1], 1, 2, 3, 4, 5)
}

func efm(t *testing.T) matcher {
	var config struct {
		Languages map[string][]map[string]any
	}
	if err := yaml.Unmarshal([]byte(exampleFile(t, editors, "efm/config.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	var matchers []matcher
	for _, format := range config.Languages["yaml"][0]["lint-formats"].([]any) {
		matchers = append(matchers, byErrorFormat(format.(string)))
	}
	return firstOf(matchers)
}

func vsCode(t *testing.T) matcher {
	var tasks struct {
		Tasks []struct {
			Command        string
			Args           []string
			ProblemMatcher struct {
				Pattern struct {
					Regexp                                      string
					File, Line, Column, Severity, Message, Code int
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(exampleFile(t, editors, ".vscode/tasks.json")), &tasks); err != nil {
		t.Fatal(err)
	}
	task := tasks.Tasks[0]
	if err := commands.Args(append([]string{task.Command}, task.Args...)...); err != nil {
		t.Error(err)
	}
	p := task.ProblemMatcher.Pattern
	return byPattern(p.Regexp, p.File, p.Line, p.Column, p.Severity, p.Message)
}

// flycheck reads its patterns, which are those of Emacs' rx.
func flycheck(t *testing.T) matcher {
	text := exampleFile(t, editors, "mvpcheck.el")
	var matchers []matcher
	for _, m := range regexp.MustCompile(`\((error|warning|info) line-start (.*) line-end\)`).FindAllStringSubmatch(text, -1) {
		pattern := "^"
		for _, word := range regexp.MustCompile(`\(id "MVP" \(one-or-more digit\)\)|\([a-z-]+\)|"[^"]*"|[a-z-]+`).FindAllString(m[2], -1) {
			switch {
			case word == "(file-name)":
				pattern += "(?P<f>.+)"
			case word == "line" || word == "column":
				pattern += `(\d+)`
			case word == "(message)":
				pattern += "(.+)"
			case strings.HasPrefix(word, "(id "):
				pattern += `MVP\d+`
			case strings.HasPrefix(word, `"`):
				literal := regexp.QuoteMeta(strings.Trim(word, `"`))
				pattern += strings.Replace(literal, m[1], "("+m[1]+")", 1)
			default:
				t.Fatalf("what is %s?", word)
			}
		}
		matchers = append(matchers, byPattern(pattern+"$", 1, 2, 3, 4, 5))
	}
	return firstOf(matchers)
}

const editors = "docs/guide/editors.md"

// TestEditors: what the guide gives editors to read findings by reads those of every file that we have: each one, with
// its place, level and message, and nothing else.
func TestEditors(t *testing.T) {
	readers := map[string]matcher{"vim": vimCompiler(t), "ALE": ale(t), "efm": efm(t), "VS Code": vsCode(t), "flycheck": flycheck(t)}
	files, err := filepath.Glob(repo + "testdata/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// A name with what separates the fields.
		name := "sub folder/a:7:1 " + filepath.Base(file)
		want := reported(t, text, name)
		total += len(want)
		out, _ := lint(text, name, "-q")
		for reader, match := range readers {
			var got []finding
			for line := range strings.Lines(out) {
				if f := match(strings.TrimSuffix(line, "\n")); f != nil {
					f.Message = strings.TrimSpace(ruleSuffix.ReplaceAllString(f.Message, ""))
					got = append(got, *f)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s: %s", reader, file, diff)
			}
		}
	}
	if total < 100 {
		t.Errorf("only %d findings", total)
	}
}

var ruleSuffix = regexp.MustCompile(` \[MVP\d+\]$`)

// lint runs check as a linter does.
func lint(text []byte, name string, flags ...string) (out string, code int) {
	var stdout, stderr bytes.Buffer
	args := append([]string{"mvpcheck", "check", "--stdin-filename", name, "-"}, flags...)
	code = cli.Main(context.Background(), args, cli.Streams{In: bytes.NewReader(text), Out: &stdout, Err: &stderr})
	return stdout.String(), code
}

// reported returns the findings that the report for machines has.
func reported(t *testing.T, text []byte, name string) []finding {
	var r struct {
		Clusters []struct {
			Findings []struct {
				Severity, Message string
				Location          struct {
					File         string
					Line, Column int
				}
			}
		}
	}
	out, _ := lint(text, name, "-o", "json")
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	var found []finding
	for _, c := range r.Clusters {
		for _, f := range c.Findings {
			l := f.Location
			found = append(found, finding{l.File, fmt.Sprint(l.Line), fmt.Sprint(l.Column), f.Severity[:1], f.Message})
		}
	}
	return found
}

// TestEditorCommands: the commands that the editors are given.
func TestEditorCommands(t *testing.T) {
	for file, pattern := range map[string]string{
		"compiler/mvpcheck.vim":         `makeprg=(.*)`,
		"ale_linters/yaml/mvpcheck.vim": `'command': '%e (.*)'`,
		"efm/config.yaml":               `lint-command: mvpcheck (.*)`,
		"mvpcheck.el":                   `:command \("mvpcheck" (.*)\)`,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(exampleFile(t, editors, file))
		line := strings.NewReplacer(`\ `, " ", "%:S", "FILE", "%s", "FILE", "${INPUT}", "FILE", "source-original", "FILE", `"`, "").Replace(m[1])
		if !strings.HasPrefix(line, "mvpcheck ") {
			line = "mvpcheck " + line
		}
		if err := commands.Script(line); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if want := "mvpcheck check -q "; !strings.HasPrefix(line, want) || !strings.HasSuffix(line, "FILE") && !strings.HasSuffix(line, "--stdin-filename FILE -") {
			t.Errorf("%s: %s", file, line)
		}
	}
}
