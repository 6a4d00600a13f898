package packages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// completions are what a user types before pressing the tabulator, and what the shell makes of the last word.
var completions = []struct {
	line string
	// one is what the word becomes where there is one answer; many are some of several answers.
	one  string
	many []string
}{
	{line: "mvpcheck pat", one: "patch"},
	{line: "mvpcheck check --fail-on nev", one: "never"},
	{line: "mvpcheck check --fail-on=nev", one: "never"},
	{line: "mvpcheck check --color al", one: "always"},
	{line: "mvpcheck check --to 1.36", one: "1.36"},
	{line: "mvpcheck plan --from ", many: []string{"1.35", "1.36"}},
	{line: "mvpcheck check --nodes ", many: []string{"1", "3", "5"}},
	{line: "mvpcheck check --only MVP103", one: "MVP103"},
	{line: "mvpcheck check --only MVP101,peer-flags", one: "MVP101,peer-flags-stop-start-up"},
	{line: "mvpcheck probe --skip MVP50", many: []string{"MVP501", "MVP502"}},
	{line: "mvpcheck check -o ", many: []string{"json", "json=", "sarif="}},
	{line: "mvpcheck check -o sar", many: []string{"sarif", "sarif="}},
	{line: "mvpcheck check -o json=sub/o", one: "json=sub/out.json"},
	{line: "mvpcheck check --output=json=sub/o", one: "json=sub/out.json"},
	{line: "mvpcheck explain MVP103", one: "MVP103"},
}

// completionDir has the completion of a shell, and a file to complete.
func completionDir(t *testing.T, shell, name string) string {
	t.Helper()
	dir := t.TempDir()
	r := execute(t, dir, nil, "mvpcheck", "completion", shell)
	if r.code != 0 || r.errs != "" {
		t.Fatalf("exit code %d: %s", r.code, r.errs)
	}
	writeFile(t, filepath.Join(dir, name), r.out)
	writeFile(t, filepath.Join(dir, "sub", "out.json"), "{}")
	return dir
}

// checkAnswers compares the answers of a shell, without what it says of them.
func checkAnswers(t *testing.T, line, one string, many, got []string) {
	t.Helper()
	if one != "" {
		if d := cmp.Diff([]string{one}, got); d != "" {
			t.Errorf("%q: -want +got:\n%s", line, d)
		}
		return
	}
	for _, want := range many {
		if !slices.Contains(got, want) {
			t.Errorf("%q: no %s in %q", line, want, got)
		}
	}
}

// noHelp: no lines of explanation among the answers.
var noHelp = []string{"MVPCHECK_ACTIVE_HELP=0"}

const bashScript = `
source "$1"
source ./mvpcheck.bash
# What readline does: it breaks words at = and : too.
read -ra words <<<"$(sed 's/=/ = /g' <<<"$2")"
COMP_WORDS=("${words[@]}")
if [[ $2 == *' ' ]]; then COMP_WORDS+=(""); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=63 COMP_KEY=9
compopt() { :; }
__start_mvpcheck
printf '%s\n' "${COMPREPLY[@]}"
`

func TestBash(t *testing.T) {
	need(t, "bash")
	lib := "/usr/share/bash-completion/bash_completion"
	if _, err := os.Stat(lib); err != nil {
		missing(t, lib)
	}
	dir := completionDir(t, "bash", "mvpcheck.bash")
	for _, tc := range completions {
		r := execute(t, dir, noHelp, "bash", "-c", bashScript, "bash", lib, tc.line)
		if r.errs != "" {
			t.Errorf("%q: %s", tc.line, r.errs)
		}
		// bash puts an answer in place of what stands behind the last =.
		after := func(s string) string { return s[strings.LastIndex(strings.TrimSuffix(s, "="), "=")+1:] }
		if strings.Contains(tc.line[strings.LastIndex(tc.line, " "):], "=") {
			tc.one = after(tc.one)
		}
		checkAnswers(t, tc.line, tc.one, tc.many, words(r.out))
	}
}

// words returns the answers, one a line, without their descriptions.
func words(out string) []string {
	var all []string
	for line := range strings.Lines(out) {
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		line, _, _ = strings.Cut(line, "  ")
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func TestFish(t *testing.T) {
	need(t, "fish")
	dir := completionDir(t, "fish", "mvpcheck.fish")
	for _, tc := range completions {
		r := execute(t, dir, noHelp, "fish", "--no-config", "-c", "source mvpcheck.fish; complete -C $argv[1]", tc.line)
		if r.errs != "" {
			t.Errorf("%q: %s", tc.line, r.errs)
		}
		if twoEquals(tc.line) {
			continue
		}
		if flag, _, ok := strings.Cut(tc.line[strings.LastIndex(tc.line, " ")+1:], "="); ok && strings.HasPrefix(flag, "--") {
			tc.one = flag + "=" + tc.one // fish completes the whole word
		}
		got := words(r.out)
		if len(got) == 2 && got[1] == got[0]+"." {
			got = got[:1] // the second one keeps fish from adding a blank
		}
		checkAnswers(t, tc.line, tc.one, tc.many, got)
	}
}

// zshScript types lines into an interactive zsh. It lists the answers and completes the word, and prints all that came of
// each line behind @LINE.
const zshScript = `
zmodload zsh/zpty
zpty -b z 'TERM=dumb zsh -f -i'
say() { zpty -w z "$1"; }
all=
wait_for() {
  local chunk i
  for ((i = 0; i < 600; i++)); do
    while zpty -rt z chunk; do all+=$chunk; done
    if [[ $all == *$1* ]]; then return; fi
    sleep 0.05
  done
  print -u2 -r -- "waited in vain for $1: $all"
  exit 1
}
say "PS1= PROMPT_EOL_MARK= LISTMAX=0; unsetopt zle_bracketed_paste; stty -echo columns 300 rows 200; fpath=($PWD \$fpath)"
say "autoload -U compinit; compinit -u -D"
say "show() { print -r -- \"@BEGIN\$BUFFER@END\" }; zle -N show; bindkey '^X' show; bindkey '^T' list-choices; print REA''DY"
wait_for READY
for line; do
  all=
  zpty -w -n z $'\x15'"$line"$'\x14\x18'
  wait_for @END
  print -r -- "@LINE$all"
  all=
  zpty -w -n z $'\t\x18'
  wait_for @END
  print -r -- "$all"
done
zpty -d z
`

func TestZsh(t *testing.T) {
	need(t, "zsh")
	dir := completionDir(t, "zsh", "_mvpcheck")
	args := []string{"-f", "-c", zshScript, "zsh"}
	for _, tc := range completions {
		args = append(args, tc.line)
	}
	r := execute(t, dir, noHelp, "zsh", args...)
	if r.code != 0 || r.errs != "" {
		t.Fatalf("exit code %d: %s", r.code, r.errs)
	}
	parts := strings.Split(strings.ReplaceAll(r.out, "\r", ""), "@LINE")[1:]
	if len(parts) != len(completions) {
		t.Fatalf("%d answers for %d lines:\n%s", len(parts), len(completions), r.out)
	}
	for i, tc := range completions {
		if twoEquals(tc.line) {
			continue
		}
		if tc.one == "" {
			checkAnswers(t, tc.line, "", tc.many, strings.Fields(parts[i]))
			continue
		}
		_, typed, _ := strings.Cut(parts[i][strings.LastIndex(parts[i], "@BEGIN"):], "@BEGIN")
		typed, _, _ = strings.Cut(typed, "@END")
		got := strings.TrimSpace(typed)
		got = got[strings.LastIndex(got, " ")+1:]
		if flag, value, ok := strings.Cut(got, "="); ok && strings.HasPrefix(flag, "--") {
			got = value
		}
		checkAnswers(t, tc.line, tc.one, nil, []string{got})
	}
}

// twoEquals tells of words such as --output=json=FILE: cobra's scripts for fish and zsh take all up to the last = for the flag.
func twoEquals(line string) bool {
	word := line[strings.LastIndex(line, " ")+1:]
	return strings.HasPrefix(word, "--") && strings.Count(word, "=") == 2
}

// TestPowershell: no shell to run it in; the program writes it, with its own name.
func TestPowershell(t *testing.T) {
	dir := completionDir(t, "powershell", "mvpcheck.ps1")
	if text := string(readFile(t, filepath.Join(dir, "mvpcheck.ps1"))); !strings.Contains(text, "Register-ArgumentCompleter -CommandName 'mvpcheck'") {
		t.Errorf("%.500s", text)
	}
}

// TestKubectlComplete: kubectl asks a program of this name for the completion of its plugin.
func TestKubectlComplete(t *testing.T) {
	dir := t.TempDir()
	for link, to := range map[string]string{
		"kubectl-mvpcheck":          filepath.Join(bin, "mvpcheck"),
		"kubectl_complete-mvpcheck": filepath.Join(root, "deploy", "kubectl", "kubectl_complete-mvpcheck"),
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	r := execute(t, dir, env, filepath.Join(dir, "kubectl_complete-mvpcheck"), "check", "--fail-on", "n")
	if r.code != 0 || !strings.Contains(r.out, "\nnever\n:4\n") {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errs)
	}
}
