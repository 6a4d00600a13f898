package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/text"
)

// KindCheck is the kind of the document that mvpcheck check writes. Its schema is docs/schema/check-report.schema.json.
const KindCheck = "CheckReport"

// CheckReport is everything that one run of mvpcheck check has to say.
type CheckReport struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Version    string       `json:"version"` // of mvpcheck
	Clusters   []Cluster    `json:"clusters"`
	Errors     []InputError `json:"errors,omitempty"`
	PassedOver []PassedOver `json:"passedOver,omitempty"`
	Summary    Summary      `json:"summary"`

	// order has the clusters, errors and files passed over as they came, by the lengths of the lists above.
	order []checkOrder
	tally tally
}

type checkOrder byte

const (
	orderCluster checkOrder = iota
	orderError
	orderPassedOver
)

// Cluster is the result for one control plane: a file, standard input or a live cluster.
type Cluster struct {
	// Source names the cluster to people: its file, or the context.
	Source Text `json:"source"`
	// Argument names the cluster on a command line: its file, "-" for standard input, empty for the cluster of the
	// kubeconfig.
	Argument Text `json:"-"`
	// Documents says what was read, such as "ClusterConfiguration (document 2 of 3), kubeadm.k8s.io/v1beta4".
	Documents Text `json:"documents,omitempty"`

	// From and To are the releases, such as v1.35.4 and v1.36.0. Both are empty when no version is known and Pairs holds
	// what was judged instead.
	From  Text      `json:"from"`
	To    Text      `json:"to"`
	Pairs []Upgrade `json:"pairs,omitempty"`
	// Why says where the releases come from.
	Why Text `json:"why,omitempty"`

	Notes    []Note     `json:"notes,omitempty"`
	Findings []Finding  `json:"findings"`
	Silenced []Silenced `json:"silenced"`
	Passed   []string   `json:"passed"` // rule IDs
	Skipped  []Skipped  `json:"skipped"`

	// CannotTell is the reason why readiness cannot be judged, or not wholly. Without a finding of severity error it makes
	// the verdict cannot-tell.
	CannotTell Text `json:"cannotTell,omitempty"`
}

// Add adds the result for a cluster. Most of many files are alike in which rules pass.
func (r *CheckReport) Add(c Cluster) {
	if n := len(r.Clusters); n > 0 {
		c.Passed, c.Skipped = shared(r.Clusters[n-1].Passed, c.Passed), shared(r.Clusters[n-1].Skipped, c.Skipped)
	}
	r.Clusters = append(r.Clusters, c)
	r.order = append(r.order, orderCluster)
	r.tally.cluster(&c)
}

// shared is the first of two lists that are equal, else the second.
func shared[E comparable](first, second []E) []E {
	if slices.Equal(first, second) {
		return first
	}
	return second
}

// AddError adds a file that could not be read.
func (r *CheckReport) AddError(e InputError) {
	r.Errors = append(r.Errors, e)
	r.order = append(r.order, orderError)
	r.tally.unjudged++
}

// AddPassedOver adds a file of a directory that holds nothing to check.
func (r *CheckReport) AddPassedOver(p PassedOver) {
	r.PassedOver = append(r.PassedOver, p)
	r.order = append(r.order, orderPassedOver)
}

// Sum adds the report up: an error anywhere is not-ready, and only when every cluster is ready is the whole. From
// nothing nobody can tell.
func (r *CheckReport) Sum() Summary {
	s := r.tally.sum
	switch {
	case s.Errors > 0:
		s.Verdict = VerdictNotReady
	case r.tally.unjudged > 0 || r.tally.ready == 0:
		s.Verdict = VerdictCannotTell
	default:
		s.Verdict = VerdictReady
	}
	return s
}

// tally adds the pieces of a report up.
type tally struct {
	sum             Summary
	ready, unjudged int
}

func (t *tally) cluster(c *Cluster) {
	s := c.summary()
	t.sum.Errors += s.Errors
	t.sum.Warnings += s.Warnings
	t.sum.Infos += s.Infos
	t.sum.Silenced += s.Silenced
	t.sum.Fixable += s.Fixable
	switch s.Verdict {
	case VerdictReady:
		t.ready++
	case VerdictCannotTell:
		t.unjudged++
	}
}

func (c *Cluster) summary() Summary {
	s := Summary{Silenced: len(c.Silenced), Verdict: c.Verdict()}
	for i := range c.Findings {
		s.Add(&c.Findings[i])
	}
	return s
}

// Verdict is the verdict on this cluster alone.
func (c *Cluster) Verdict() Verdict {
	for i := range c.Findings {
		if c.Findings[i].isError() {
			return VerdictNotReady
		}
	}
	if c.CannotTell != "" {
		return VerdictCannotTell
	}
	return VerdictReady
}

// MarshalJSON writes a list that is nil as [], because readers of the report index these lists without asking, and
// adds the verdict on the cluster.
func (c Cluster) MarshalJSON() ([]byte, error) {
	type plain Cluster
	p := plain(c)
	p.Findings = changed(c.Findings, func(f *Finding) { f.inFile() })
	p.Silenced = changed(c.Silenced, func(s *Silenced) { s.inFile() })
	p.Passed = orEmpty(c.Passed)
	p.Skipped = orEmpty(c.Skipped)
	return marshal(struct {
		plain
		Verdict Verdict `json:"verdict"`
	}{p, c.Verdict()})
}

// inFile gives a finding the lists and values that one in a file always has.
func (f *Finding) inFile() {
	f.At = orEmpty(f.At)
	if f.Fixable == nil {
		f.Fixable = new(bool)
	}
}

// marshal is json.Marshal without its HTML escapes: it would write the ">" of "1.35 -> 1.36" as \u003e.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}

// changed is a copy of s, never nil, with a change to each element.
func changed[E any](s []E, change func(*E)) []E {
	s = append([]E{}, s...)
	for i := range s {
		change(&s[i])
	}
	return s
}

func orEmpty[S ~[]E, E any](s S) S {
	if s == nil {
		return S{}
	}
	return s
}

// Report makes the blocks of the document.
func (r *CheckReport) Report(run Invocation) *Report {
	out := &Report{
		Command: "mvpcheck check", Version: r.Version, Summary: r.Sum(), Document: r, Blocks: r.blocks(run),
		Files: len(r.Clusters) + len(r.Errors), Next: r.next(run),
	}
	r.APIVersion, r.Kind, r.Clusters, r.Summary = APIVersion, KindCheck, orEmpty(r.Clusters), out.Summary
	s := &out.Summary
	out.Verdict, out.Title = Text(s.Verdict.String()), Text("Upgrade check of "+countOf(out.Files, "file"))
	out.Subject = []Phrase{{Text: Text(countOf(r.files(), "file"))}}
	switch {
	case out.Files == 0:
		out.Title, out.Sentence = "Upgrade check", "There is no configuration to check."
	case len(r.Clusters) == 1 && len(r.Errors) == 0:
		c := &r.Clusters[0]
		out.Title, out.Verdict, out.Subject = "Upgrade check of "+c.Source, c.says(), []Phrase{{c.Source, true}}
		out.Facts = facts("Releases", c.releases(), "Where from", c.Why, "Documents", c.Documents)
	case r.files() == 1:
		out.Subject = []Phrase{{r.Errors[0].File, true}}
	}
	counts := countOf(s.Errors, "error") + ", " + countOf(s.Warnings, "warning")
	if n := len(r.Errors); n > 0 {
		counts += ", " + countOf(n, "input") + " cannot be read"
	}
	out.Counts, out.Details = Text(counts), r.details(s, run)
	return out
}

// facts are labels and texts in turn, without those that are empty.
func facts(labelled ...Text) []Fact {
	var out []Fact
	for i := 0; i < len(labelled); i += 2 {
		if labelled[i+1] != "" {
			out = append(out, Fact{string(labelled[i]), labelled[i+1]})
		}
	}
	return out
}

// files counts what was given to be judged: several errors in one file count once.
func (r *CheckReport) files() int { return len(r.Clusters) + r.unreadable() }

func (r *CheckReport) unreadable() int {
	n := 0
	for i := range r.Errors {
		if i == 0 || r.Errors[i].File != r.Errors[i-1].File {
			n++
		}
	}
	return n
}

// details is how many files and findings there are of which kind.
func (r *CheckReport) details(s *Summary, run Invocation) []Phrase {
	var files counter
	if r.files() > 1 {
		notReady := len(r.Clusters) - r.tally.ready - (r.tally.unjudged - len(r.Errors))
		files.add(r.tally.ready, "ready")
		files.add(notReady, "not ready")
		files.add(r.tally.unjudged-len(r.Errors), "cannot tell")
	}
	files.add(r.unreadable(), "cannot be read")
	if n := len(r.PassedOver); n > 0 {
		files.add(n, plural(n, "other file")+" passed over")
	}
	text := s.counts()
	if files.text != "" {
		text = files.text + "; " + text
	}
	if s.Silenced > 0 {
		text += ", " + strconv.Itoa(s.Silenced) + " silenced"
	}
	if s.Fixable == 0 {
		return []Phrase{{Text: Text(text + ".")}}
	}
	return []Phrase{
		{Text: Text(text + "; " + strconv.Itoa(s.Fixable) + " can be fixed by ")},
		{Text(run.Program + " patch"), true},
		{Text: "."},
	}
}

// next are the commands for the first cluster that is not ready, else for the first with a finding.
func (r *CheckReport) next(run Invocation) []Command {
	var first *Cluster
	for i := range r.Clusters {
		switch c := &r.Clusters[i]; {
		case len(c.Findings) == 0:
		case c.Verdict() == VerdictNotReady:
			return c.next(run)
		case first == nil:
			first = c
		}
	}
	if first == nil {
		return nil
	}
	return first.next(run)
}

func (c *Cluster) next(run Invocation) []Command {
	var next []Command
	s := c.summary()
	if s.Fixable > 0 {
		next = append(next, Command{Label: "See the changes", Line: run.command("patch --diff", c.Argument)})
	}
	return append(next, run.explain(worstFirst(c.Findings)[0].Rule))
}

// blocks are the clusters, errors and files passed over in their order; without one, as after decoding, kind by kind.
func (r *CheckReport) blocks(run Invocation) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		clusters, errors, passedOver := r.Clusters, r.Errors, r.PassedOver
		for _, kind := range r.order {
			var b Block
			switch kind {
			case orderCluster:
				b, clusters = clusters[0].section(run), clusters[1:]
			case orderError:
				b, errors = errors[0], errors[1:]
			default:
				b, passedOver = passedOver[0], passedOver[1:]
			}
			if !yield(b) {
				return
			}
		}
	}
}

// section makes the blocks of a cluster.
func (c *Cluster) section(run Invocation) *Section {
	sum := c.summary()
	s := &Section{
		Name: c.Source, File: c.file(), Documents: c.Documents, Releases: c.releases(), Summary: sum, Verdict: c.says(),
		CannotTell: c.CannotTell, Partly: sum.Verdict != VerdictCannotTell,
		Properties: facts("documents", c.Documents, "releases", c.releases()),
		Findings:   Findings{List: c.Findings, Title: "Findings", Many: true, Source: c.Source, Pairs: len(c.Pairs)},
		Rules:      Rules{c.Passed, c.Skipped}, Silenced: c.Silenced,
		Subject: c.Source + ": ", Headline: c.headline(), Head: []Block{Origin(c.Why), Notes(c.Notes)},
	}
	if len(c.Findings) == 0 {
		s.Brief, s.Counts, s.Concise = c.brief(sum.Verdict), c.counts(), true
		s.Head = append(s.Head, s.Rules, s.Silenced)
		return s
	}
	s.Brief = c.says() + "; " + Text(sum.allCounts()) + "."
	s.Paragraphs = [][]Block{{s.Findings}}
	s.Tail = []Block{s.Rules, s.Silenced, Counts(sum)}
	if s.Partly && c.CannotTell != "" {
		s.Tail = append(s.Tail, Remark("Not everything could be judged: "+c.CannotTell))
	}
	s.Conclusion, s.Next, s.NextAt = c.says(), c.next(run), Beside
	if sum.Verdict == VerdictReady && sum.Warnings > 0 {
		s.Conclusion += ", with " + Text(countOf(sum.Warnings, "warning"))
	}
	s.Conclusion = Text(strings.TrimSuffix(string(s.Conclusion), ".")) + "."
	return s
}

// allCounts are counts with how much is silenced.
func (s *Summary) allCounts() string {
	text := s.counts()
	if s.Silenced > 0 {
		text += ", " + strconv.Itoa(s.Silenced) + " silenced"
	}
	return text
}

// brief is the verdict on a cluster without findings.
func (c *Cluster) brief(v Verdict) Text {
	if v == VerdictCannotTell {
		return Text(v.String()) + forReleases(c.releases()) + ": " + c.CannotTell
	}
	return "ready" + forReleases(c.releases())
}

// counts is how many rules passed, were skipped and are silenced, or nothing where none was asked.
func (c *Cluster) counts() Text {
	if len(c.Passed)+len(c.Skipped)+len(c.Silenced) == 0 {
		return ""
	}
	text := countOf(len(c.Passed), "rule") + " passed"
	if c.unversioned() {
		text = "no version known; " + text
	}
	if n := len(c.Skipped); n > 0 {
		text += ", " + strconv.Itoa(n) + " skipped"
	}
	if n := len(c.Silenced); n > 0 {
		text += ", " + strconv.Itoa(n) + " silenced"
	}
	return Text(text)
}

// headline says what was read and for which releases it was judged.
func (c *Cluster) headline() Text {
	text := c.Source
	if c.Documents != "" {
		text += ": " + c.Documents
	}
	switch pairs := c.releases(); {
	case pairs == "":
	case c.unversioned():
		text += ": no version known: judged for " + pairs + " (--from and --to narrow this)"
	default:
		text += ": " + pairs
	}
	return text
}

// file is the file that a cluster was read from, as the findings name it. Of standard input only they know what it is
// called where it holds several clusters.
func (c *Cluster) file() Text {
	if c.Argument != "-" {
		return cmp.Or(c.Argument, c.Source)
	}
	for i := range c.Findings {
		if l := c.Findings[i].Location; l != nil && strings.HasPrefix(string(c.Source), string(l.File)) {
			return l.File
		}
	}
	return c.Source
}

// command is a command of this program with the flags that are repeated, and a file.
func (run *Invocation) command(name string, argument Text) string {
	s := run.Program + " " + name
	for _, f := range run.Flags {
		s += " " + text.ShellWord(f)
	}
	if argument != "" {
		s += " " + text.ShellFile(string(argument))
	}
	return s
}

func (run *Invocation) explain(rule string) Command {
	return Command{Label: "Explain a rule", Line: run.Program + " explain " + text.ShellWord(rule)}
}
