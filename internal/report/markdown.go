package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxMarkdown is how many bytes a report in Markdown has at most: GitHub takes 65,536 characters in a comment (and a
// mebibyte in the summary of a job), and who posts it may want to add a line.
const maxMarkdown = 65_000

// mdPart is a part of a report in Markdown that takes no more than its room.
type mdPart struct {
	b    strings.Builder
	room int
}

// add appends s if there is room for it.
func (p *mdPart) add(s string) bool {
	if p.b.Len()+len(s) > p.room {
		return false
	}
	p.b.WriteString(s)
	return true
}

// row appends a row of a table.
func (p *mdPart) row(cells ...string) bool { return p.add(mdRow(cells...)) }

// fold appends what is collapsed, or nothing where it does not fit.
func (p *mdPart) fold(summary string, write func(*mdPart)) {
	inner := mdPart{room: p.room - p.b.Len() - len(mdFoldEnd)}
	if inner.add(mdFold(summary)) {
		write(&inner)
		p.add(inner.b.String() + mdFoldEnd)
	}
}

func mdRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// mdHead is the head of a table; the names of the columns are text of our own.
func mdHead(columns ...string) string {
	return mdRow(columns...) + strings.Repeat("| --- ", len(columns)) + "|\n"
}

// mdFold is the beginning of what is collapsed until one opens it, mdFoldEnd its end. The summary is HTML.
func mdFold(summary string) string { return "\n<details><summary>" + summary + "</summary>\n\n" }

const mdFoldEnd = "\n</details>\n"

// mdSeverity is a severity in a table.
func mdSeverity(s Severity) string {
	if s == SeverityError {
		return "**error**"
	}
	return mdText(string(s))
}

// mdPlace is a place as file:line, or the name of what there is no place in.
func mdPlace(l *Location, otherwise string) string {
	if l == nil || l.File == "" {
		return cmp.Or(mdCode(clip(otherwise, mdName)), unknown)
	}
	place := clip(l.File, mdName)
	if l.Line > 0 {
		place += ":" + strconv.Itoa(l.Line)
	}
	return mdCode(place)
}

// How many runes of a name, of a verdict and of another sentence are shown; no honest one is longer.
const (
	mdName     = 160
	mdVerdict  = 240
	mdSentence = 600
)

// mdLinks has the addresses of the rules that a text links to, for the end of it.
type mdLinks struct{ ids []string }

// mdMaxLinks is how many rules a text links to; there are fewer.
const (
	mdMaxLinks  = 100
	mdLinksRoom = mdMaxLinks * (len("[MVP000]: \n") + len(Home) + len("/blob/main/docs/rules/MVP000.md"))
)

// rule is a link to the page of a rule.
func (l *mdLinks) rule(id string) string {
	switch {
	case !isRuleID(id):
		return mdText(clip(id, mdName))
	case slices.Contains(l.ids, id):
	case len(l.ids) == mdMaxLinks:
		return id
	default:
		l.ids = append(l.ids, id)
	}
	return "[" + id + "]"
}

// ruled is a text with the IDs of its rules.
func (l *mdLinks) ruled(text string, ids []string) string {
	links := make([]string, len(ids))
	for i, id := range ids {
		links[i] = l.rule(id)
	}
	if len(ids) == 0 {
		return text
	}
	return text + " (" + strings.Join(links, ", ") + ")"
}

func (l *mdLinks) write(b *strings.Builder) {
	slices.Sort(l.ids)
	for i, id := range l.ids {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("[" + id + "]: " + rulePage(id) + "\n")
	}
}

// mdCounts is how much there is of which severity: "2 errors, 1 warning".
func mdCounts(errors, warnings, infos int) string {
	s := countOf(errors, "error") + ", " + countOf(warnings, "warning")
	if infos > 0 {
		s += ", " + countOf(infos, "info")
	}
	return s
}

// byReason puts rules that were skipped for one reason together, in the order of the reasons.
func byReason(skipped []Skipped) (reasons []string, ids map[string][]string) {
	ids = map[string][]string{}
	for _, s := range skipped {
		if ids[s.Reason] == nil {
			reasons = append(reasons, s.Reason)
		}
		ids[s.Reason] = append(ids[s.Reason], s.Rule)
	}
	return reasons, ids
}

// mdRules lists rules that passed and were skipped, collapsed.
func mdRules(p *mdPart, passed []string, skipped []Skipped) {
	if len(passed)+len(skipped) > 0 {
		p.fold(countOf(len(passed), "rule")+" passed, "+strconv.Itoa(len(skipped))+" skipped", func(p *mdPart) { mdRuleLists(p, passed, skipped) })
	}
}

func mdRuleLists(p *mdPart, passed []string, skipped []Skipped) {
	if len(passed) > 0 {
		p.add("- passed: " + mdText(strings.Join(passed, ", ")) + "\n")
	}
	reasons, ids := byReason(skipped)
	for _, reason := range reasons {
		p.add("- skipped: " + mdText(strings.Join(ids[reason], ", ")) + ": " + mdText(clip(reason, mdSentence)) + "\n")
	}
}

// mdOr is a text in a table: a dash stands for nothing.
func mdOr(s string) string {
	if s = mdText(clip(s, mdSentence)); s == "" {
		return unknown
	}
	return s
}
