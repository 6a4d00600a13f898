package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

const githubToken = "3UNFORESEEN"

func githubOf(t testing.TB, d documented) string { return string(write(t, "github", d)) }

// workflowCommand is a command as the runner reads it.
type workflowCommand struct {
	name       string
	properties map[string]string
	data       string
}

// runnerCommands are those of the runner that matter here; it knows more.
var runnerCommands = rules("error warning notice group endgroup stop-commands add-mask set-output set-env add-path debug echo add-matcher save-state")

// runLog does what the runner does with a log: it returns the commands that it carries out, and the lines that it shows. In
// each line it looks for ::command:: at the start, else for ##[command] anywhere, until stop-commands.
func runLog(log string) (commands []workflowCommand, shown []string) {
	known := map[string]bool{}
	for _, name := range runnerCommands {
		known[name] = true
	}
	stopped := ""
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		c := parseCommand(line, known)
		switch {
		case c == nil:
			shown = append(shown, line)
		case stopped != "" && c.name == stopped:
			delete(known, stopped)
			stopped = ""
		case stopped != "":
			shown = append(shown, line)
		case c.name == "stop-commands":
			stopped = c.data
			known[stopped] = true
		default:
			commands = append(commands, *c)
		}
	}
	return commands, shown
}

func parseCommand(line string, known map[string]bool) *workflowCommand {
	if text, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); ok {
		if head, data, ok := strings.Cut(text, "::"); ok {
			name, list, _ := strings.Cut(head, " ")
			if known[name] {
				c := &workflowCommand{name, map[string]string{}, unescapeCommand(data, "\r", "%0D", "\n", "%0A", "%", "%25")}
				for pair := range strings.SplitSeq(strings.TrimSpace(list), ",") {
					if key, value, ok := strings.Cut(pair, "="); ok && value != "" {
						c.properties[key] = unescapeCommand(value, "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C", "%", "%25")
					}
				}
				return c
			}
		}
	}
	if _, text, ok := strings.Cut(line, "##["); ok {
		if head, data, ok := strings.Cut(text, "]"); ok {
			if name, _, _ := strings.Cut(head, " "); known[name] {
				return &workflowCommand{name: name, data: data}
			}
		}
	}
	return nil
}

func unescapeCommand(s string, mappings ...string) string {
	for i := 0; i < len(mappings); i += 2 {
		s = strings.ReplaceAll(s, mappings[i+1], mappings[i])
	}
	return s
}

func TestGitHub(t *testing.T) {
	for name, r := range map[string]*CheckReport{"complete": withEdits(), "empty": finish(CheckReport{}), "ready": finish(CheckReport{Clusters: []Cluster{ready()}})} {
		golden(t, name+".github", []byte(githubOf(t, r)))
	}
	for name, r := range map[string]*ProbeReport{"complete": completeProbe(), "unreachable": replayed(unreachable())} {
		golden(t, "probe-"+name+".github", write(t, "github", r))
	}
}

func TestGitHubPlaces(t *testing.T) {
	tests := map[string]struct {
		at   Location
		want string
	}{
		"region":         {*in("a.yaml", 7, 3, 12), "file=a.yaml,line=7,col=3,endLine=7,endColumn=12"},
		"point":          {Location{File: "a.yaml", Line: 7, Column: 3}, "file=a.yaml,line=7,col=3"},
		"line":           {Location{File: "a.yaml", Line: 7}, "file=a.yaml,line=7"},
		"file":           {Location{File: "a.yaml"}, "file=a.yaml"},
		"nothing":        {Location{}, ""},
		"several lines":  {Location{File: "a.yaml", Line: 7, Column: 3, EndLine: 9, EndColumn: 2}, "file=a.yaml,line=7,endLine=9"},
		"dots":           {Location{File: "./b/../a.yaml"}, "file=a.yaml"},
		"special":        {Location{File: "a:b,c=d%0A.yaml"}, "file=a%3Ab%2Cc=d%250A.yaml"},
		"does not print": {Location{File: "a\n\x1b.yaml"}, `file=a\n\x1b.yaml`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := annotation{at: test.at, title: "t", lines: []Text{"50%", "", "b\nc"}}
			want := "::error " + strings.TrimPrefix(test.want+",title=t", ",") + "::50%25%0Ab\\nc\n"
			if diff := cmp.Diff(want, a.command("error")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// GitHub shows ten annotations of a level: the others are counted, and errors never give way to warnings.
func TestGitHubLimits(t *testing.T) {
	var c Cluster
	severities := []Severity{SeverityInfo, SeverityWarning, SeverityError}
	for i := range 36 {
		c.Findings = append(c.Findings, Finding{Rule: "MVP101", Severity: severities[i%3], Message: Text(fmt.Sprint(i)), Location: in("a.yaml", i+1, 1, 2)})
	}
	commands, shown := runLog(githubOf(t, finish(CheckReport{Clusters: []Cluster{c}})))
	var levels []string
	for _, c := range commands {
		levels = append(levels, c.name)
	}
	want := "group endgroup" + strings.Repeat(" error", 10) + strings.Repeat(" warning", 10) + strings.Repeat(" notice", 10)
	if diff := cmp.Diff(want, strings.Join(levels, " ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantLines := []string{
		"GitHub shows 10 annotations of each level; without one: 2 more of level error, 2 more of level warning, 2 more of level notice. The group above has them all.",
		"mvpcheck: NOT READY: 12 errors, 12 warnings.",
	}
	if diff := cmp.Diff(wantLines, shown[len(shown)-2:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever a file holds, the runner carries out no command of it.
func TestGitHubInjection(t *testing.T) {
	for _, text := range []string{
		"::set-env name=PATH::/evil", "  ::add-mask::x", "x ##[add-matcher]evil.json", "##[error]x", "\n::error::x", "\r::error::x", "::stop-commands::x",
		"::" + githubToken[1:] + "::", "::endgroup::", ",title=x::error::", "%0A::error::x",
	} {
		c, _ := oddCluster(text, text, 1, 1, 1, 2)
		c.Silenced = nil
		r := finish(CheckReport{Clusters: []Cluster{c}, Errors: []InputError{{Text(text), 1, 1, Text(text)}}, PassedOver: []PassedOver{{Text(text), Text(text)}}})
		commands, _ := runLog(githubOf(t, r))
		var names []string
		for _, c := range commands {
			names = append(names, c.name)
		}
		if diff := cmp.Diff("group endgroup error error warning", strings.Join(names, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// FuzzGitHub: any text gives the commands that are ours and no other, and the runner reads the text from them.
func FuzzGitHub(f *testing.F) {
	for _, s := range oddTexts {
		f.Add(s, 21, 3, 21, 12)
	}
	f.Fuzz(func(t *testing.T, text string, line, column, endLine, endColumn int) {
		if strings.Contains(text, githubToken) {
			return // a token that is foreseen is none
		}
		c, _ := oddCluster(text, text, line, column, endLine, endColumn)
		log := githubOf(t, finish(CheckReport{Clusters: []Cluster{c}, Errors: []InputError{{Text(text), line, column, Text(text)}}}))
		checkPrintable(t, []byte(log))
		commands, _ := runLog(log)
		var names []string
		for _, c := range commands {
			names = append(names, c.name)
		}
		wantNames := "group endgroup error error warning"
		if text == "" { // there is nothing that could not be told
			wantNames = "group endgroup error error"
		}
		if diff := cmp.Diff(wantNames, strings.Join(names, " ")); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, log)
		}
		finding := commands[2]
		want := Printable(text) + " [" + Printable(text) + "]"
		if text != "" {
			want += "\nwhy: " + Printable(text) + "\nfix: " + Printable(text)
		}
		if diff := cmp.Diff(want, finding.data); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		title := strings.TrimSpace(Printable(strings.TrimSuffix(text+" "+text, " ")))
		if diff := cmp.Diff(title, strings.TrimSpace(finding.properties["title"])); diff != "" {
			t.Errorf("title (-want +got):\n%s", diff)
		}
		if file := Printable(githubFile(text)); text != "" && strings.TrimSpace(file) != strings.TrimSpace(finding.properties["file"]) {
			t.Errorf("file %q, want %q", finding.properties["file"], file)
		}
		probe := githubOf(t, spoilt(text, false))
		checkPrintable(t, []byte(probe))
		commands, _ = runLog(probe)
		for _, c := range commands {
			if c.name != "group" && c.name != "endgroup" && c.properties["title"] == "" {
				t.Errorf("a command that is not ours: %+v", c)
			}
		}
	})
}

func BenchmarkGitHub(b *testing.B) {
	r := thousand()
	b.ReportAllocs()
	for b.Loop() {
		githubOf(b, r)
	}
}
