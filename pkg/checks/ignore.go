package checks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// uselessIgnore is MVP011. A rule's Run sees a Cluster, which has no comments: Silence reports its findings.
var uselessIgnore = &Rule{
	ID: "MVP011", Name: "useless-ignore", Severity: Warning, withoutFlags: true,
	Doc: Doc{
		What: "A comment # mvpcheck:ignore gives no reason, names no rule that exists, or stands where the rule " +
			"finds nothing.",
		Why: "Without a reason nobody can tell later whether it still holds; and a comment that silences nothing " +
			"hides the finding that comes to stand there one day.",
		Fix:   "Write # mvpcheck:ignore MVPnnn reason, on the finding's line or above it, or remove the comment.",
		Facts: []string{"mvpcheck"}, Since: "0.1.0",
	},
	Run: func(*Pass) {},
}

// Silenced is a finding that an ignore comment keeps out of the verdict.
type Silenced struct {
	Finding
	// Reason is what the comment says, empty where it gives none.
	Reason string
	// CommentLine is the line of the comment.
	CommentLine int
}

// ignoreMark begins an ignore comment, behind its #.
const ignoreMark = "mvpcheck:ignore"

// ignoreComment is one comment # mvpcheck:ignore RULE[,RULE] reason.
type ignoreComment struct {
	at yamldoc.Place
	// line is the comment's, target the line whose findings it silences; 0: there is none below it.
	line, target int
	names        []string
	reason       string
}

// Silence takes out the findings of a file that its ignore comments silence. The comments stand on the finding's line,
// or above it with nothing but comments and blank lines between. ran are the rules that were judged: a comment is
// useless, which is MVP011, only where its rule was judged and found nothing.
func Silence(file *yamldoc.File, findings []Finding, ran []*Rule) (kept []Finding, silenced []Silenced,
	unused []Finding) {
	comments := ignoreComments(file)
	if len(comments) == 0 {
		return findings, nil, nil
	}
	lines := findingLines(file, findings)
	used := map[string]bool{}
	for i, f := range findings {
		c := silencing(comments, f.Rule, lines[i])
		if c == nil {
			kept = append(kept, f)
			continue
		}
		silenced = append(silenced, Silenced{Finding: f, Reason: c.reason, CommentLine: c.line})
		used[fmt.Sprint(c.line, f.Rule.ID)] = true
	}
	if !slices.Contains(ran, uselessIgnore) {
		return kept, silenced, nil
	}
	for _, c := range comments {
		unused = append(unused, c.judge(ran, func(r *Rule) (fires bool, nearest int) {
			return used[fmt.Sprint(c.line, r.ID)], nearestLine(findings, lines, r, c.line)
		})...)
	}
	return kept, silenced, unused
}

// findingLines returns the line of each finding of the file, 0 for those of other files.
func findingLines(file *yamldoc.File, findings []Finding) []int {
	lines := make([]int, len(findings))
	for i, f := range findings {
		if f.At.File == file {
			lines[i] = file.Position(f.At.Start).Line
		}
	}
	return lines
}

// silencing returns the first comment that silences a rule on a line.
func silencing(comments []ignoreComment, r *Rule, line int) *ignoreComment {
	if line == 0 {
		return nil
	}
	for i := range comments {
		c := &comments[i]
		if c.target == line && slices.ContainsFunc(c.names, r.named) {
			return c
		}
	}
	return nil
}

// named tells whether a word names the rule, by its ID or its name.
func (r *Rule) named(word string) bool {
	return strings.EqualFold(word, r.ID) || strings.EqualFold(word, r.Name)
}

// nearestLine returns the line of the rule's finding that is nearest to a line, 0 where it has none.
func nearestLine(findings []Finding, lines []int, r *Rule, line int) int {
	best := 0
	for i, f := range findings {
		if f.Rule == r && lines[i] > 0 && (best == 0 || abs(lines[i]-line) < abs(best-line)) {
			best = lines[i]
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// judge returns what is useless about a comment. fires tells whether it silences something of a rule, and where the
// rule's nearest finding is.
func (c *ignoreComment) judge(ran []*Rule, fires func(*Rule) (bool, int)) []Finding {
	var out []Finding
	report := func(subject, message, why, fix string) {
		out = append(out, Finding{Rule: uselessIgnore, Severity: Warning, Subject: subject, At: c.at, Message: message,
			Why: why, Fix: fix,
			Consequence: None, When: []When{Running, Target}})
	}
	const hidden = "it would hide the finding that comes to stand there one day."
	switch {
	case len(c.names) == 0:
		report("", "this ignore comment names no rule and silences nothing.", "",
			"write # mvpcheck:ignore MVPnnn reason, or remove the comment")
		return out
	case c.reason == "":
		report("reason", "this ignore comment gives no reason.", "later nobody can tell whether it still holds.",
			"write the reason behind the rule: # mvpcheck:ignore "+strings.Join(c.names, ",")+" REASON")
	}
	for _, name := range c.names {
		r, ok := Find(name)
		switch {
		case !ok:
			report(name, fmt.Sprintf("this ignore comment names %q, which is no rule.", name), "it silences nothing.",
				"mvpcheck explain lists the rules")
		case !slices.Contains(ran, r):
		default:
			silences, nearest := fires(r)
			if silences {
				continue
			}
			fix := "remove the comment"
			if nearest > 0 {
				fix = fmt.Sprintf("move the comment to line %d, where %s has a finding, or remove it", nearest, r.ID)
			}
			report(r.ID, fmt.Sprintf("%s finds nothing %s: this ignore comment silences nothing.", r.ID, c.where()),
				hidden, fix)
		}
	}
	return out
}

func (c *ignoreComment) where() string {
	switch c.target {
	case 0:
		return "below the last line"
	case c.line:
		return "on this line"
	}
	return fmt.Sprintf("on line %d", c.target)
}

// ignoreComments finds the ignore comments of a file. They are looked for in its lines, not in YAML's comments: a
// ConfigMap holds the configuration, comments included, in a string.
func ignoreComments(file *yamldoc.File) []ignoreComment {
	var comments []ignoreComment
	data := file.Data
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte(ignoreMark))
		if i < 0 {
			return comments
		}
		from += i + len(ignoreMark)
		line := file.Position(from).Line
		text := file.Line(line)
		start := from - len(ignoreMark) - lineOffset(data, from)
		hash := commentStart(text)
		if hash < 0 || start < hash || strings.TrimSpace(text[hash+1:min(start, len(text))]) != "" {
			continue
		}
		c := parseIgnore(text[min(start+len(ignoreMark), len(text)):])
		if c == nil {
			continue
		}
		c.line, c.target = line, line
		if strings.TrimSpace(text[:hash]) == "" {
			c.target = nextContent(file, line)
		}
		begin := from - len(ignoreMark) - start + hash
		c.at = yamldoc.Place{File: file, Start: begin, End: begin + len(strings.TrimRight(text[hash:], " \t"))}
		comments = append(comments, *c)
	}
}

// lineOffset returns the offset at which the line of a byte begins, behind a byte-order mark, as File.Line has it.
func lineOffset(data []byte, at int) int {
	start := bytes.LastIndexAny(data[:at], "\r\n") + 1
	if start == 0 && bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return len("\xef\xbb\xbf")
	}
	return start
}

// commentStart returns the offset of the # that begins a line's comment, -1 where it has none: a # within quotes or a
// word begins none.
func commentStart(line string) int {
	var quote byte
	boundary := true
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case boundary && (c == '"' || c == '\''):
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return i
		}
		boundary = strings.IndexByte(" \t[{,:-", c) >= 0
	}
	return -1
}

// parseIgnore reads what stands behind the mark; nil where the mark was the start of a longer word.
func parseIgnore(text string) *ignoreComment {
	if text != "" && text[0] != ' ' && text[0] != '\t' {
		return nil
	}
	c := &ignoreComment{}
	rest := strings.TrimSpace(text)
	for more := true; more && rest != ""; {
		var word string
		if i := strings.IndexAny(rest, " \t"); i >= 0 {
			word, rest = rest[:i], strings.TrimSpace(rest[i:])
		} else {
			word, rest = rest, ""
		}
		// "MVP303, MVP110 reason" goes on behind the blank.
		more = strings.HasSuffix(word, ",") || strings.HasPrefix(rest, ",")
		rest = strings.TrimSpace(strings.TrimPrefix(rest, ","))
		for name := range strings.SplitSeq(word, ",") {
			if name = strings.TrimSuffix(name, ":"); name != "" {
				c.names = append(c.names, name)
			}
		}
	}
	c.reason = strings.TrimSpace(strings.TrimLeft(rest, "-:–— \t"))
	return c
}

// nextContent returns the next line that is neither blank nor a comment, 0 where there is none.
func nextContent(file *yamldoc.File, line int) int {
	for line++; line <= file.Lines(); line++ {
		if text := strings.TrimSpace(file.Line(line)); text != "" && text[0] != '#' {
			return line
		}
	}
	return 0
}
