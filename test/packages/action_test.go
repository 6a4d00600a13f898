package packages

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// step is what the runner of GitHub's has of a step: its files, and what it makes of the step's output.
type step struct {
	result
	dir              string
	outputs, summary string
	// commands are those that the runner took from the output, shown what stood where it takes none.
	commands, shown []string
}

// runStep runs a script of the action as the runner does, in the folder dir/work.
func runStep(t *testing.T, script, dir string, env ...string) *step {
	t.Helper()
	need(t, "bash")
	s := &step{dir: filepath.Join(dir, "work")}
	temp := filepath.Join(dir, "temp")
	for _, d := range []string{s.dir, filepath.Join(temp, "mvpcheck")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if script == "run.sh" {
		if err := os.Symlink(filepath.Join(bin, "mvpcheck"), filepath.Join(temp, "mvpcheck", "mvpcheck")); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	s.result = execute(t, s.dir, append([]string{
		"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + file("outputs"), "GITHUB_STEP_SUMMARY=" + file("summary"), "GITHUB_PATH=" + file("path"),
		"GITHUB_ACTION_PATH=" + root, "RUNNER_OS=Linux", "RUNNER_ARCH=X64",
	}, env...), "bash", filepath.Join(root, "ci", "github", script))
	for name, to := range map[string]*string{"outputs": &s.outputs, "summary": &s.summary} {
		data, err := os.ReadFile(file(name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		*to = string(data)
	}
	s.take(t)
	return s
}

// take reads the output as the runner does: a command stands at the beginning of a line, or in its old form anywhere in it.
func (s *step) take(t *testing.T) {
	t.Helper()
	token := ""
	for line := range strings.Lines(s.out) {
		line = strings.TrimSpace(line)
		switch {
		case token != "" && line == "::"+token+"::":
			token = ""
		case token != "":
			s.shown = append(s.shown, line)
		case strings.HasPrefix(line, "::stop-commands::"):
			token = strings.TrimPrefix(line, "::stop-commands::")
		case strings.HasPrefix(line, "::"):
			s.commands = append(s.commands, line)
		case strings.Contains(line, "##["):
			t.Errorf("a command in its old form: %s", line)
		}
	}
	if token != "" {
		t.Error("commands stay stopped")
	}
}

// names counts the commands by their names.
func (s *step) names() map[string]int {
	names := map[string]int{}
	for _, c := range s.commands {
		name, _, _ := strings.Cut(strings.TrimPrefix(c, "::"), "::")
		name, _, _ = strings.Cut(name, " ")
		names[name]++
	}
	return names
}

const bad, ready, unreadable = "cases/086-peer-flags-gate-off.yaml", "scripts/files/ready.yaml", "cases/038-tab-indentation.yaml"

func TestActionRun(t *testing.T) {
	marked := map[string]int{"group": 1, "endgroup": 1}
	with := func(more map[string]int) map[string]int {
		all := maps.Clone(marked)
		maps.Copy(all, more)
		return all
	}
	matchers := map[string]int{"add-matcher": 1, "remove-matcher": 3}
	for name, tc := range map[string]struct {
		env            []string
		code, errors   int
		verdict, sarif string
		commands       map[string]int
		// summary and shown are parts of the summary, - where there is none, and of the log.
		summary, shown string
	}{
		"bad": {env: []string{"MVPCHECK_PATHS=bad.yaml"}, code: 1, verdict: "not-ready", errors: 2,
			commands: with(map[string]int{"error": 2, "notice": 1}), summary: "NOT READY for 1.35", shown: "2 errors, 0 warnings, 1 info"},
		"ready": {env: []string{"MVPCHECK_PATHS=ready.yaml"}, verdict: "ready", commands: marked, summary: "READY for", shown: "ready.yaml: ready for"},
		"cannot be read": {env: []string{"MVPCHECK_PATHS=tab.yaml"}, code: 3, verdict: "cannot-tell",
			commands: with(map[string]int{"error": 1}), summary: "a tab is used", shown: "a tab is used"},
		"several": {env: []string{"MVPCHECK_PATHS=\n  bad.yaml \r\n\nready.yaml\n"}, code: 1, verdict: "not-ready", errors: 2,
			commands: with(map[string]int{"error": 2, "notice": 1}), summary: "2 files", shown: "1 ready, 1 not ready"},
		"folder, never": {env: []string{"MVPCHECK_PATHS=.", "MVPCHECK_FAIL_ON=never", "MVPCHECK_ARGS=--skip=MVP309\n--nodes=5"}, code: 3, verdict: "not-ready", errors: 2,
			commands: with(map[string]int{"error": 3}), summary: "3 files"},
		"flags": {env: []string{"MVPCHECK_PATHS=bad.yaml", "MVPCHECK_FROM=1.35", "MVPCHECK_TO=1.36", "MVPCHECK_ONLY=MVP103,MVP309", "MVPCHECK_SKIP=MVP309"},
			code: 1, verdict: "not-ready", errors: 1, commands: with(map[string]int{"error": 1}), shown: "--from 1.35 --to 1.36 --only MVP103,MVP309 --skip MVP309"},
		"without": {env: []string{"MVPCHECK_PATHS=bad.yaml", "MVPCHECK_SUMMARY=false", "MVPCHECK_ANNOTATIONS=false"}, code: 1,
			verdict: "not-ready", errors: 2, commands: map[string]int{}, summary: "-", shown: "NOT READY for 1.35 -> 1.36"},
		"sarif": {env: []string{"MVPCHECK_PATHS=bad.yaml", "MVPCHECK_SARIF=out/a b.sarif", "MVPCHECK_FAIL_ON=never"}, verdict: "not-ready", errors: 2, sarif: "out/a b.sarif",
			commands: with(map[string]int{"error": 2, "notice": 1})},
		"plan": {env: []string{"MVPCHECK_PATHS=bad.yaml", "MVPCHECK_COMMAND=plan"}, code: 1, verdict: "not-ready", errors: 1,
			commands: matchers, summary: "| Step |", shown: "upgrade cp-1"},
		"plan, cannot be read": {env: []string{"MVPCHECK_PATHS=tab.yaml", "MVPCHECK_COMMAND=plan"}, code: 3, verdict: "cannot-tell",
			commands: map[string]int{"add-matcher": 1, "remove-matcher": 3, "error": 1}, shown: "a tab is used"},

		"no path":      {env: []string{"MVPCHECK_PATHS= \n "}, code: 2, verdict: "cannot-tell", commands: map[string]int{"error": 1}},
		"no such rule": {env: []string{"MVPCHECK_PATHS=bad.yaml", "MVPCHECK_ONLY=MVP999"}, code: 2, verdict: "cannot-tell", commands: map[string]int{"error": 1}, shown: `unknown rule "MVP999"`},
		"command":      {env: []string{"MVPCHECK_PATHS=bad.yaml", "MVPCHECK_COMMAND=probe"}, code: 2, verdict: "cannot-tell", commands: map[string]int{"error": 1}},
		"summary":      {env: []string{"MVPCHECK_PATHS=bad.yaml", "MVPCHECK_SUMMARY=yes"}, code: 2, verdict: "cannot-tell", commands: map[string]int{"error": 1}},
		"plan, sarif":  {env: []string{"MVPCHECK_PATHS=bad.yaml", "MVPCHECK_COMMAND=plan", "MVPCHECK_SARIF=x"}, code: 2, verdict: "cannot-tell", commands: map[string]int{"error": 1}},
		"two sarifs":   {env: []string{"MVPCHECK_PATHS=bad.yaml", "MVPCHECK_SARIF=x\nverdict=ready"}, code: 2, verdict: "cannot-tell", commands: map[string]int{"error": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			copyCase(t, bad, filepath.Join(dir, "work", "bad.yaml"))
			copyCase(t, ready, filepath.Join(dir, "work", "ready.yaml"))
			copyCase(t, unreadable, filepath.Join(dir, "work", "tab.yaml"))
			s := runStep(t, "run.sh", dir, tc.env...)
			if s.code != tc.code {
				t.Errorf("exit code %d, want %d", s.code, tc.code)
			}
			if d := cmp.Diff(fmt.Sprintf("verdict=%s\nerrors=%d\nsarif=%s\n", tc.verdict, tc.errors, tc.sarif), s.outputs); d != "" {
				t.Errorf("outputs, -want +got:\n%s", d)
			}
			if d := cmp.Diff(tc.commands, s.names()); d != "" {
				t.Errorf("commands, -want +got:\n%s", d)
			}
			if tc.summary == "-" && s.summary != "" || tc.summary != "-" && !strings.Contains(s.summary, tc.summary) {
				t.Errorf("summary:\n%s", s.summary)
			}
			if !strings.Contains(strings.Join(s.shown, "\n"), tc.shown) {
				t.Errorf("the log does not have %q", tc.shown)
			}
			if tc.sarif != "" {
				var log struct{ Version string }
				if err := json.Unmarshal(readFile(t, filepath.Join(s.dir, tc.sarif)), &log); err != nil || log.Version != "2.1.0" {
					t.Errorf("SARIF %q: %v", log.Version, err)
				}
			}
			if t.Failed() {
				t.Logf("standard output:\n%s\nstandard error:\n%s", s.out, s.errs)
			}
			left, err := filepath.Glob(filepath.Join(dir, "temp", "*-run.*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestActionUntrusted: neither inputs nor the names and contents of files run anything or speak to the runner.
func TestActionUntrusted(t *testing.T) {
	evil := []string{
		"$(touch pwned)`touch pwned`; touch pwned ' \"; touch pwned #", "*", "--fail-on=never",
		"::error::pwned\n::error::pwned ##[error]pwned\x1b[31m\n##[error]pwned",
	}
	for _, where := range []string{"PATHS", "FROM", "TO", "FAIL_ON", "ONLY", "SKIP", "ARGS", "SARIF", "COMMAND", "SUMMARY", "ANNOTATIONS"} {
		dir := t.TempDir()
		copyCase(t, bad, filepath.Join(dir, "work", "bad.yaml"))
		for i, text := range evil {
			s := runStep(t, "run.sh", dir, "MVPCHECK_PATHS=bad.yaml", "MVPCHECK_"+where+"="+text)
			if _, err := os.Stat(filepath.Join(s.dir, "pwned")); err == nil {
				t.Fatalf("%s=%s was run", where, text)
			}
			checkSpeech(t, s)
			if strings.Count(s.outputs, "verdict=") != i+1 {
				t.Errorf("%s=%s: outputs\n%s", where, text, s.outputs)
			}
		}
	}
}

func TestActionUntrustedFiles(t *testing.T) {
	dir := t.TempDir()
	text := string(readFile(t, filepath.Join(root, "testdata", bad)))
	for i, name := range []string{"::error::pwned.yaml", "##[error]pwned.yaml", "a\n::error::pwned.yaml", "$(touch pwned).yaml", "%0A::error::pwned.yaml"} {
		writeFile(t, filepath.Join(dir, "work", name), strings.ReplaceAll(text, "/etc/kubernetes/pki/ca.crt", `"/a\n::error::pwned ##[error]pwned"`))
		writeFile(t, filepath.Join(dir, "work", fmt.Sprintf("%d.yaml", i)), name+": {{ ::error::pwned }}\n\t##[error]pwned")
	}
	for _, annotations := range []string{"true", "false"} {
		for _, command := range []string{"check", "plan"} {
			s := runStep(t, "run.sh", dir, "MVPCHECK_PATHS=.\n::error::pwned.yaml", "MVPCHECK_COMMAND="+command, "MVPCHECK_ANNOTATIONS="+annotations)
			checkSpeech(t, s)
			if s.code == 0 {
				t.Error("exit code 0")
			}
		}
	}
}

// known are the commands that the action gives, each as it gives it.
var known = regexp.MustCompile(`^::(((error|warning|notice) (file=[^,:]*[^:]*,)?title=[^:]*)|group|endgroup|add-matcher|remove-matcher owner=[a-z-]+)::`)

func checkSpeech(t *testing.T, s *step) {
	t.Helper()
	for _, c := range s.commands {
		if !known.MatchString(c) {
			t.Errorf("the runner was told: %s", c)
		}
	}
}

// TestActionSummaryLimit: the runner would refuse a longer summary, and say so in the middle of the night.
func TestActionSummaryLimit(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "temp", "mvpcheck", "mvpcheck"), `#!/usr/bin/env bash
for arg; do
  case $arg in
  markdown=*) head -c 1048577 /dev/zero | tr '\0' x >"${arg#*=}" ;;
  yaml=*) printf 'summary:\n  errors: 0\n  verdict: ready\n' >"${arg#*=}" ;;
  esac
done
`)
	if err := os.Chmod(filepath.Join(dir, "temp", "mvpcheck", "mvpcheck"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := runStep(t, "run.sh", dir, "MVPCHECK_PATHS=x")
	if s.code != 0 || s.outputs != "verdict=ready\nerrors=0\nsarif=\n" || len(s.summary) > 200 || !strings.Contains(s.summary, "too long") {
		t.Errorf("exit code %d, outputs %q, %d bytes of summary", s.code, s.outputs, len(s.summary))
	}
}

// action is action.yml as its documentation describes it.
type action struct {
	Name, Description, Author string
	Branding                  struct{ Icon, Color string }
	Inputs                    map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, If, Uses, Shell, Run string
			With, Env                      map[string]string
		}
	}
}

// TestActionFile: each input reaches the script through the environment, and nothing through the text of a script.
func TestActionFile(t *testing.T) {
	var a action
	readYAML(t, "action.yml", &a)
	if a.Runs.Using != "composite" {
		t.Errorf("using %q", a.Runs.Using)
	}
	scripts := string(readFile(t, filepath.Join(root, "ci", "github", "run.sh"))) + string(readFile(t, filepath.Join(root, "ci", "github", "install.sh")))
	passed := map[string]bool{}
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") || s.Run != "" && s.Shell != "bash" {
			t.Errorf("the step %q runs %q with %q", s.Name, s.Run, s.Shell)
		}
		for name, value := range s.Env {
			input, ok := strings.CutPrefix(value, "${{ inputs.")
			input = strings.TrimSuffix(input, " }}")
			if !ok || name != "MVPCHECK_"+strings.ReplaceAll(strings.ToUpper(input), "-", "_") {
				t.Errorf("%s: %s", name, value)
			}
			if !strings.Contains(scripts, "{"+name+":-") {
				t.Errorf("no script reads %s", name)
			}
			passed[input] = true
		}
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(a.Inputs)), slices.Sorted(maps.Keys(passed))); d != "" {
		t.Errorf("inputs, -declared +passed on:\n%s", d)
	}
	for name, o := range a.Outputs {
		if o.Value != "${{ steps.run.outputs."+name+" }}" || !strings.Contains(scripts, name+"=%s") {
			t.Errorf("the output %s is %s", name, o.Value)
		}
	}
}

// TestPinned: whoever can move a tag of another action must not get into a release.
func TestPinned(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("workflows: %v, %v", files, err)
	}
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`)
	pinned := regexp.MustCompile(`^([\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./)$`)
	for _, name := range append(files, filepath.Join(root, "action.yml")) {
		for _, m := range uses.FindAllStringSubmatch(string(readFile(t, name)), -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s uses %s", filepath.Base(name), m[1])
			}
		}
	}
}
