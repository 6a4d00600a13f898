package report

import (
	"io"
	"strings"
)

// Format is one that reports can be had in.
type Format struct {
	Name  string
	Write func(io.Writer, *Report, Options) error
	// FindingsOnly: it has findings and no other blocks, which is not enough of a plan.
	FindingsOnly bool
}

// Formats are all formats, in the order of the help.
var Formats = []Format{
	{"text", writeText, false},
	{"json", writeJSON, false},
	{"yaml", writeYAML, false},
	{"sarif", writeSARIF, true},
	{"junit", writeJUnit, true},
	{"github", writeGitHub, true},
	{"markdown", writeMarkdown, false},
	{"html", writeHTML, false},
}

// Options are what formats want to know beside the report. What depends on the terminal and the environment has been
// decided by the caller.
type Options struct {
	// Program is what people call: "mvpcheck", or "kubectl mvpcheck" when it runs as a plugin.
	Program string
	// Color colours a text: the level, the rule ID and the caret, nothing else.
	Color bool
	// Verbose adds to a text where the releases come from, the rules that passed and were skipped, and the files that were
	// passed over.
	Verbose bool
	// Quiet leaves of a text one line for each finding, input error and cluster that could not be judged, and one
	// last line with the verdict. Each line stands for itself, without blank lines, source lines and commands, so
	// that grep can choose and count. What is ready only shows in the last line. Quiet wins over Verbose.
	Quiet bool
	// ErrorsElsewhere: whoever reads the text has been told of the input errors already, one by one. The text then only
	// counts them.
	ErrorsElsewhere bool
	// Token is a word that nobody can foresee: the log of a GitHub Actions job ends its quotation with it.
	Token string
	// Rule returns what there is to say of the rule of an ID.
	Rule func(id string) RuleDoc
}

// RuleDoc is the documentation of a rule.
type RuleDoc struct {
	Name     string
	Severity Severity
	// Short is one sentence, Full a few; Text and Markdown are all that there is to say, in two forms.
	Short, Full, Text, Markdown string
	Tags                        []string
}

// Home is where the program comes from; the pages of the rules are below it.
const Home = "https://github.com/mvpcheck/mvpcheck"

// PageURL is the address of a page within the repository; empty stays empty.
func PageURL(page string) string {
	if page == "" {
		return ""
	}
	return Home + "/blob/main/" + page
}

// isRuleID tells an ID such as MVP101 from other text.
func isRuleID(id string) bool {
	number, ok := strings.CutPrefix(id, "MVP")
	return ok && len(number) == 3 && strings.Trim(number, "0123456789") == ""
}

// rulePage is the address of the page of a rule, or empty for what is not the ID of one.
func rulePage(id string) string {
	if !isRuleID(id) {
		return ""
	}
	return PageURL("docs/rules/" + id + ".md")
}
