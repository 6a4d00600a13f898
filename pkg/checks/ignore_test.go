package checks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// at makes a finding of a rule at the first place where a text stands in a file.
func findingAt(t *testing.T, file *yamldoc.File, rule, text string) Finding {
	t.Helper()
	r, ok := Find(rule)
	if !ok {
		t.Fatalf("no rule %s", rule)
	}
	i := strings.Index(string(file.Data), text)
	if i < 0 {
		t.Fatalf("no %q in the file", text)
	}
	return Finding{Rule: r, Severity: r.Severity, Message: text, At: yamldoc.Place{File: file, Start: i, End: i + len(text)}}
}

func TestSilence(t *testing.T) {
	tests := []struct {
		name, data string
		// findings are RULE@TEXT; ran are the rules that were judged, all of them where it is empty.
		findings, ran []string
		// silenced are RULE:LINE OF THE COMMENT:REASON; useless are parts of messages.
		kept, silenced, useless []string
	}{
		{
			name:     "on the line",
			data:     "a: 1 # mvpcheck:ignore MVP303 kept for 1.39\nb: 2\n",
			findings: []string{"MVP303@a", "MVP303@b"},
			kept:     []string{"MVP303@b"}, silenced: []string{"MVP303:1:kept for 1.39"},
		},
		{
			name:     "above the line, with comments and blank lines between",
			data:     "# mvpcheck:ignore MVP303 one\n# else\n\n  # mvpcheck:ignore peer-advertise-half-set two\nb: 2\n",
			findings: []string{"MVP303@b", "MVP304@b"},
			silenced: []string{"MVP303:1:one", "MVP304:4:two"},
		},
		{
			name:     "a comment behind a value does not reach the next line",
			data:     "a: 1 # mvpcheck:ignore MVP303 x\nb: 2\n",
			findings: []string{"MVP303@b"},
			kept:     []string{"MVP303@b"}, useless: []string{"MVP303 finds nothing on this line"},
		},
		{
			name:     "several rules, blanks behind commas, a dash in front of the reason",
			data:     "a: 1 # mvpcheck:ignore MVP303, mvp304 -- both kept\n",
			findings: []string{"MVP303@a", "MVP304@a", "MVP305@a"},
			kept:     []string{"MVP305@a"}, silenced: []string{"MVP303:1:both kept", "MVP304:1:both kept"},
		},
		{
			name:     "one of two rules is useless",
			data:     "a: 1 # mvpcheck:ignore MVP303,MVP304 kept\n",
			findings: []string{"MVP303@a"},
			silenced: []string{"MVP303:1:kept"}, useless: []string{"MVP304 finds nothing on this line"},
		},
		{
			name:     "without a reason it silences and is reported",
			data:     "a: 1 #mvpcheck:ignore MVP303\n",
			findings: []string{"MVP303@a"},
			silenced: []string{"MVP303:1:"}, useless: []string{"gives no reason"},
		},
		{
			name:    "no rule",
			data:    "a: 1 # mvpcheck:ignore\n",
			useless: []string{"names no rule"},
		},
		{
			name:    "unknown rule",
			data:    "a: 1 # mvpcheck:ignore MVP999 because\n",
			useless: []string{`names "MVP999", which is no rule`},
		},
		{
			name: "a rule that did not run is not useless",
			data: "a: 1 # mvpcheck:ignore MVP303 kept\n",
			ran:  []string{"MVP011", "MVP304"},
		},
		{
			name:     "nothing is useless when MVP011 is not chosen",
			data:     "a: 1 # mvpcheck:ignore MVP304\n",
			findings: []string{"MVP303@a"}, ran: []string{"MVP303", "MVP304"},
			kept: []string{"MVP303@a"},
		},
		{
			name:     "in the text of a ConfigMap",
			data:     "data:\n  ClusterConfiguration: |\n    # mvpcheck:ignore MVP303 kept\n    b: 2\n",
			findings: []string{"MVP303@b: 2"},
			silenced: []string{"MVP303:3:kept"},
		},
		{
			name:     "within quotes and words it is no comment",
			data:     "a: \"x # mvpcheck:ignore MVP303 no\"\nb: y#mvpcheck:ignore MVP303 no\nc: 'z # mvpcheck:ignore MVP303 no'\n",
			findings: []string{"MVP303@a", "MVP303@b", "MVP303@c"},
			kept:     []string{"MVP303@a", "MVP303@b", "MVP303@c"},
		},
		{
			name:     "an apostrophe within a word opens no quotes",
			data:     "a: it's # mvpcheck:ignore MVP303 kept\n",
			findings: []string{"MVP303@a"},
			silenced: []string{"MVP303:1:kept"},
		},
		{
			name:     "CRLF and a byte-order mark",
			data:     "\xef\xbb\xbf# mvpcheck:ignore MVP303 kept\r\n\r\nb: 2\r\n",
			findings: []string{"MVP303@b"},
			silenced: []string{"MVP303:1:kept"},
		},
		{
			name:    "nothing below the comment",
			data:    "b: 2\n# mvpcheck:ignore MVP303 kept\n\n",
			useless: []string{"below the last line"},
		},
		{
			name: "a longer word is none of our marks",
			data: "a: 1 # mvpcheck:ignored MVP303\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := yamldoc.NewFile("f.yaml", []byte(tt.data))
			var findings []Finding
			for _, f := range tt.findings {
				rule, text, _ := strings.Cut(f, "@")
				findings = append(findings, findingAt(t, file, rule, text))
			}
			ran := All()
			if len(tt.ran) > 0 {
				ran = nil
				for _, id := range tt.ran {
					r, _ := Find(id)
					ran = append(ran, r)
				}
			}
			kept, silenced, useless := Silence(file, findings, ran)
			var gotKept, gotSilenced []string
			for _, f := range kept {
				gotKept = append(gotKept, f.Rule.ID+"@"+f.Message)
			}
			for _, s := range silenced {
				gotSilenced = append(gotSilenced, fmt.Sprintf("%s:%d:%s", s.Rule.ID, s.CommentLine, s.Reason))
			}
			if fmt.Sprint(gotKept) != fmt.Sprint(tt.kept) || fmt.Sprint(gotSilenced) != fmt.Sprint(tt.silenced) {
				t.Errorf("kept %v and silenced %v, want %v and %v", gotKept, gotSilenced, tt.kept, tt.silenced)
			}
			if len(useless) != len(tt.useless) {
				t.Fatalf("%d useless comments, want %d: %v", len(useless), len(tt.useless), useless)
			}
			for i, want := range tt.useless {
				if !strings.Contains(useless[i].Message, want) {
					t.Errorf("useless: %q, want %q in it", useless[i].Message, want)
				}
			}
		})
	}
}

func TestSilencePointsAtTheComment(t *testing.T) {
	file := yamldoc.NewFile("f.yaml", []byte("a: 1\nb: 2   # mvpcheck:ignore MVP303 kept  \nc: 3\n"))
	_, _, useless := Silence(file, []Finding{findingAt(t, file, "MVP303", "c: 3")}, All())
	if len(useless) != 1 {
		t.Fatalf("%d useless comments, want 1", len(useless))
	}
	f := useless[0]
	if got := string(file.Data[f.At.Start:f.At.End]); got != "# mvpcheck:ignore MVP303 kept" {
		t.Errorf("points at %q", got)
	}
	if !strings.Contains(f.Fix, "move the comment to line 3") {
		t.Errorf("fix: %q does not name the line of the finding", f.Fix)
	}
}
