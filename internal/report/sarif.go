package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// writeSARIF writes a report as one log of SARIF 2.1.0. The rules that the results name stand behind them, as only
// then is it known which these are.
//
// A live server is no file: what a result is about is its logical location. GitHub refuses a whole log for one result
// without a file, however. Therefore each result also names one: the recorded evidence where that was judged, else
// the server, as scanners of images do with the name of the image.
func writeSARIF(out io.Writer, r *Report, o Options) error {
	l := newSARIFLog(out, r.Version, o)
	for b := range r.Blocks {
		switch b := b.(type) {
		case *Section:
			if err := l.section(b); err != nil {
				return err
			}
		case InputError:
			l.unknown = true
			at := sarifLocation{Physical: sarifAt(&Location{File: b.File, Line: b.Line, Column: b.Column}, "")}
			l.notify("error", "cannot be read: "+b.Message, at)
		}
	}
	l.unknown = l.unknown || r.Files == 0
	return l.end()
}

// section writes the findings about one control plane, those that are silenced too.
func (l *sarifLog) section(s *Section) error {
	for i := range s.Findings.List {
		f := &s.Findings.List[i]
		l.failing = l.failing || f.Fails
		var suppressions []sarifSuppression
		if !f.live() {
			suppressions = []sarifSuppression{}
		}
		if err := l.result(l.resultOf(s, f, suppressions)); err != nil {
			return err
		}
	}
	for i := range s.Silenced {
		f := &s.Silenced[i]
		silence := sarifSuppression{Kind: "inSource", Justification: f.Reason.String()}
		if f.Location != nil && f.CommentLine > 0 {
			silence.Location = &sarifLocation{Physical: sarifAt(&Location{File: f.Location.File, Line: f.CommentLine}, "")}
		}
		if err := l.result(l.resultOf(s, &f.Finding, []sarifSuppression{silence})); err != nil {
			return err
		}
	}
	l.cannotTell(s)
	return l.out.Flush()
}

// cannotTell tells what could not be judged.
func (l *sarifLog) cannotTell(s *Section) {
	switch file := (sarifLocation{Physical: &sarifPhysical{Artifact: sarifArtifactOf(s.File)}}); {
	case s.CannotTell == "":
	case s.Live:
		l.unknown = true
		l.notify("error", "cannot tell: "+s.CannotTell)
	case s.Partly:
		l.notify("warning", s.Name+": not everything could be judged: "+s.CannotTell, file)
	default:
		l.unknown = true
		l.notify("error", s.Name+": cannot tell: "+s.CannotTell, file)
	}
}

func (l *sarifLog) notify(level string, message Text, at ...sarifLocation) {
	l.notifications = append(l.notifications,
		sarifNotification{Level: level, Message: sarifMessage(message), Locations: at})
}

// resultOf is the result for a finding.
func (l *sarifLog) resultOf(s *Section, f *Finding, suppressions []sarifSuppression) sarifResult {
	r := sarifResult{
		RuleID: f.Rule, RuleIndex: l.rule(f.Rule, f.Help), Level: sarifLevel(f.Severity),
		Message: sarifMessage(append([]Text{f.message()}, f.paragraphs()...)...),
		Fixes:   sarifFixOf(f.Edits, f.Fix), Suppressions: suppressions,
		Properties: sarifResultBag{
			Consequence: f.Consequence, At: f.At, Pairs: f.Pairs, Servers: plainTexts(f.Servers), Seen: plainTexts(f.Seen),
		},
	}
	for i := range f.Related {
		message := sarifMessage(f.Related[i].Message)
		r.RelatedLocations = append(r.RelatedLocations,
			sarifLocation{ID: i + 1, Physical: sarifAt(&f.Related[i].Location, ""), Message: &message})
	}
	if f.live() {
		r.Locations = serverLocations(s, f.Servers)
		// Not by the file: tomorrow's evidence has another name. And there are no lines from which GitHub could
		// compute its own.
		hash := l.fingerprint(append([]Text{Text(f.Rule), s.Name}, f.Servers...)...)
		r.Fingerprints = map[string]string{fingerprint: hash, "primaryLocationLineHash": hash}
		return r
	}
	at := cmp.Or(f.Location, &Location{File: s.File})
	place := sarifLocation{Physical: sarifAt(at, string(f.SourceLine))}
	if at.Path != "" {
		place.Logical = []sarifLogical{{FullyQualifiedName: at.Path.String(), Kind: "property"}}
	}
	r.Locations = []sarifLocation{place}
	line := Text(strings.TrimSpace(string(f.SourceLine)))
	r.Fingerprints = map[string]string{fingerprint: l.fingerprint(Text(f.Rule), at.File, withoutIndexes(at.Path), line)}
	return r
}

// plainTexts are texts for machines, which compare them.
func plainTexts(words []Text) []string {
	var out []string
	for _, word := range words {
		out = append(out, string(word))
	}
	return out
}

// serverLocations are the servers, or the control plane as a whole.
func serverLocations(s *Section, servers []Text) []sarifLocation {
	whole := cmp.Or(s.Name, "control-plane")
	location := func(name, full Text) sarifLocation {
		file := sarifAt(&Location{File: cmp.Or(s.File, name)}, "")
		if s.File == "" {
			file.Artifact.URIBase = "" // it is in no repository
		}
		return sarifLocation{
			Physical: file, Logical: []sarifLogical{{Name: name.String(), FullyQualifiedName: full.String(), Kind: "resource"}},
		}
	}
	if len(servers) == 0 {
		return []sarifLocation{location(whole, whole)}
	}
	locations := make([]sarifLocation, len(servers))
	for i, name := range servers {
		locations[i] = location(name, whole+"/"+name)
	}
	return locations
}

// invocation tells how the run ended, with the exit code that mvpcheck has then.
func (l *sarifLog) invocation() sarifInvocation {
	i := sarifInvocation{ExecutionSuccessful: !l.unknown, Notifications: l.notifications}
	switch {
	case l.failing:
		i.ExitCode, i.ExitCodeDescription = 1, "findings at or above --fail-on"
	case l.unknown:
		i.ExitCode, i.ExitCodeDescription = 3, "could not check or could not tell"
	default:
		i.ExitCodeDescription = "nothing at or above --fail-on"
	}
	return i
}

// sarifLog is a log that is written.
type sarifLog struct {
	out     *bufio.Writer
	version string
	opts    Options
	results int
	rules   []sarifDescriptor
	index   map[string]int
	seen    map[[fingerprintSize]byte]int

	notifications    []sarifNotification
	failing, unknown bool
}

func newSARIFLog(out io.Writer, version string, o Options) *sarifLog {
	return &sarifLog{
		out: bufio.NewWriter(out), version: version, opts: o, rules: []sarifDescriptor{}, index: map[string]int{},
		seen: map[[fingerprintSize]byte]int{},
	}
}

// begin writes all that stands before the results. Columns are those of Location.
func (l *sarifLog) begin() {
	l.out.WriteString("{\n  \"$schema\": \"" + sarifSchema + "\",\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n" +
		"      \"columnKind\": \"unicodeCodePoints\",\n" +
		"      \"newlineSequences\": [\"\\r\\n\", \"\\n\", \"\\r\"],\n      \"results\": [")
}

// result writes one result.
func (l *sarifLog) result(r sarifResult) error {
	if l.results == 0 {
		l.begin()
	} else {
		l.out.WriteString(",")
	}
	l.results++
	b, err := encode(r, "        ")
	if err != nil {
		return err
	}
	l.out.WriteString("\n        ")
	_, err = l.out.Write(b)
	return err
}

// end writes all that stands behind the results.
func (l *sarifLog) end() error {
	if l.results == 0 {
		l.begin()
	} else {
		l.out.WriteString("\n      ")
	}
	invocations, err := encode([]sarifInvocation{l.invocation()}, "      ")
	if err != nil {
		return err
	}
	driver := sarifDriver{Name: "mvpcheck", Version: l.version, InformationURI: Home, Rules: l.rules}
	tool, err := encode(sarifTool{driver}, "      ")
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "],\n      \"invocations\": %s,\n      \"tool\": %s\n    }\n  ]\n}\n", invocations, tool)
	return l.out.Flush()
}

// rule is the index of a rule, which is added where it is new.
func (l *sarifLog) rule(id, page string) int {
	if i, ok := l.index[id]; ok {
		return i
	}
	l.index[id] = len(l.rules)
	doc := l.opts.Rule(id)
	d := sarifDescriptor{
		ID: id, Name: camelCase(doc.Name), HelpURI: PageURL(escapePath(page)),
		DefaultConfiguration: sarifConfiguration{sarifLevel(doc.Severity)},
		Properties:           sarifRuleBag{Precision: "high", ProblemSeverity: problemSeverity(doc.Severity), Tags: orEmpty(doc.Tags)},
	}
	if doc.Short != "" {
		d.ShortDescription = &sarifText{Text: doc.Short}
	}
	if doc.Full != "" {
		d.FullDescription = &sarifText{Text: doc.Full}
	}
	if doc.Text != "" {
		d.Help = &sarifText{Text: doc.Text, Markdown: doc.Markdown}
	}
	l.rules = append(l.rules, d)
	return l.index[id]
}

// fingerprint is the name of the one that we compute; GitHub's own, primaryLocationLineHash, is computed by its upload.
const fingerprint = "mvpcheck/v1"

const fingerprintSize = 12

// fingerprint tells the same finding of two runs: by what it is about, not by where that stands or what is said of
// it. Several of one run that are alike are counted.
func (l *sarifLog) fingerprint(about ...Text) string {
	hash := sha256.Sum256([]byte(join(about, "\x00")))
	key := [fingerprintSize]byte(hash[:])
	l.seen[key]++
	return fmt.Sprintf("%s:%d", hex.EncodeToString(key[:]), l.seen[key])
}

var listIndex = regexp.MustCompile(`\[\d+\]`)

// withoutIndexes is a path that stays the same when an item is put in front of another.
func withoutIndexes(path Text) Text { return Text(listIndex.ReplaceAllString(string(path), "[]")) }

func sarifLevel(s Severity) string {
	switch s {
	case SeverityWarning:
		return "warning"
	case SeverityInfo:
		return "note"
	}
	return "error"
}

// problemSeverity is what GitHub calls a severity.
func problemSeverity(s Severity) string {
	switch s {
	case SeverityWarning:
		return "warning"
	case SeverityInfo:
		return "recommendation"
	}
	return "error"
}

// camelCase is the name of a rule as one word: GateOffOnRunning.
func camelCase(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		if word != "" {
			out.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return out.String()
}
