package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

func writeRuleIndex(out *bytes.Buffer, rules []*checks.Rule) {
	out.WriteString("# Rules\n\n" +
		"A rule is one fact that a person can act on. Its ID and its name never change. The severity\n" +
		"here is the highest that it reports: where both releases of an upgrade serve the same, " +
		"as 1.34 and 1.35 do, what spoils\nnothing but the hand-off is a warning.\n\n" +
		"| ID | name | severity | patch | what it finds |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range rules {
		patch := "no"
		switch {
		case r.Fixable && r.OnRequest:
			patch = "on request"
		case r.Fixable:
			patch = "yes"
		}
		fmt.Fprintf(out, "| [%s](%s.md) | %s | %s | %s | %s |\n", r.ID, r.ID, r.Name, r.Severity, patch,
			markdown(firstSentence(r.Doc.What)))
	}
}

func writeRulePage(out *bytes.Buffer, r *checks.Rule) {
	fmt.Fprintf(out, "# %s: %s\n\n", r.ID, r.Name)
	fmt.Fprintf(out, "Severity: %s. Since %s. Facts: %s. %s.\n", r.Severity, r.Doc.Since,
		strings.Join(r.Doc.Facts, ", "), capital(codeCommand(fixedBy(r))))
	for _, part := range [][2]string{{"What it finds", r.Doc.What}, {"Why it matters", r.Doc.Why},
		{"What to do", r.Doc.Fix}} {
		if part[1] != "" {
			fmt.Fprintf(out, "\n## %s\n\n%s\n", part[0], markdown(part[1]))
		}
	}
	if r.Run == nil {
		fmt.Fprintf(out, "\n## To silence it\n\nLeave the rule out with `mvpcheck probe --skip %s`. "+
			"The table and the verdict tell of false 404s all the same.\n", r.ID)
		return
	}
	fmt.Fprintf(out, "\n## To silence it\n\nWrite the comment `# mvpcheck:ignore %s reason` "+
		"on the line of the finding or above it, or leave the rule out\n"+
		"with `--skip %s` or in [.mvpcheck.yaml](../cli/check.md).\n", r.ID, r.ID)
}

// codeCommand sets the command in a text in type.
func codeCommand(s string) string {
	for _, word := range []string{" makes", " leaves", " asks"} {
		if i := strings.Index(s, word); i >= 0 && strings.HasPrefix(s, "mvpcheck") {
			return "`" + s[:i] + "`" + s[i:]
		}
	}
	return s
}

func capital(s string) string {
	if s == "" || s[0] == '`' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// markdown escapes what Markdown would take for markup.
func markdown(s string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "|", `\|`, "`", "\\`", "[", `\[`).Replace(s)
}
