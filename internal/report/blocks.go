// Package report holds what the commands have to say as one value, a Report of blocks, and writes it in the formats
// that people and machines read.
//
// A command builds the document that JSON and YAML hold, a CheckReport, ProbeReport or PlanReport, and its Report
// method makes the blocks of it: this half knows no formats. A format is one function of a Report and knows no
// commands. What is a finding and what is not has been decided before: nothing here judges, apart from adding up.
package report

import "iter"

// Text is text that may hold what others wrote: names, messages, paths. It is never written as it is: String makes all
// that does not print visible, for fmt and html/template too, and a format adds the escapes of its own.
type Text string

// String is the text with all that does not print made visible.
func (t Text) String() string { return Printable(string(t)) }

// APIVersion is the version of the documents that the commands write. Their schemas are in docs/schema.
const APIVersion = "mvpcheck.dev/v1alpha1"

// Invocation is how the program was called, as far as it is repeated in the commands that one would type next.
type Invocation struct {
	// Program is what they begin with: "mvpcheck", or "kubectl mvpcheck" when it runs as a plugin.
	Program string
	// Flags are repeated, such as "--to", "1.36".
	Flags []string
}

// Report is what one run of a command has to say.
type Report struct {
	// Command is the one that it is from, such as "mvpcheck check"; Version is the program's.
	Command, Version string
	// Title says what it is about in one line, Subject names that.
	Title   Text
	Subject []Phrase
	Summary Summary
	// Verdict is the verdict with what it holds for, Sentence what is to be said beside it, Counts how much there is of
	// what. Details are the counts with where all that comes from.
	Verdict, Sentence, Counts Text
	Details                   []Phrase
	Facts                     []Fact
	Next                      []Command
	// Files counts what was given to be judged; 0: there is nothing.
	Files int
	// Blocks are one Section for each control plane, and what could not be read or was passed over, in the order in which
	// they were judged. Sections are made when they are asked for, as there may be ten thousand.
	Blocks iter.Seq[Block]
	// Document is the report as its schema has it.
	Document any
}

// Phrase is a part of a line. Names are shown as code where a format has that.
type Phrase struct {
	Text Text
	Name bool
}

// Fact is something to know, behind its label.
type Fact struct {
	Label string
	Text  Text
}

// Command is a command that one would type now, what for, and when. Its words are quoted for a shell.
type Command struct {
	Label, Line, When string
}

// Block is a part of a report.
type Block interface{ block() }

// Section is what there is to say of one control plane: that of a file, or a live one.
type Section struct {
	// Live: its servers were asked. Then Name is the context, which may be empty, and File the one that the evidence was
	// read from, empty where the servers were asked in this run.
	Live bool
	// Name is what people call it. File is the file of findings that have no place.
	Name, File Text
	Documents  Text
	Releases   Text
	Summary    Summary
	// Verdict is the verdict with what it holds for. CannotTell is why not everything could be judged; Partly, that the
	// verdict is a whole one all the same.
	Verdict, CannotTell Text
	Partly              bool
	Properties          []Fact // for machines

	Findings Findings
	Rules    Rules
	Silenced SilencedFindings

	// Subject begins a line about it, Brief is what that line says, and Counts how much there is of what, in brackets.
	// Concise: where nobody wants details that line is enough.
	Subject, Brief, Counts Text
	Concise                bool
	// Headline is the line that begins the paragraphs; Head are the blocks that belong to it.
	Headline Text
	Head     []Block
	// Paragraphs are blocks that belong together. The findings, the rules and what is silenced are among them.
	Paragraphs [][]Block
	// Conclusion is the last line, Tail what stands before it, Next what one would type now: beside the conclusion if
	// there is room, or below it, or not at all.
	Tail       []Block
	Conclusion Text
	Next       []Command
	NextAt     Placement
}

// Placement is where the next commands stand in a text.
type Placement int

// The placements.
const (
	Nowhere Placement = iota
	Beside
	Below
)

// InputError is a file that could not be read. A file is either a Section or in input errors.
type InputError struct {
	File    Text `json:"file"`
	Line    int  `json:"line,omitempty"`
	Column  int  `json:"column,omitempty"`
	Message Text `json:"message"`
}

// PassedOver is a file of a directory that holds nothing to check.
type PassedOver struct {
	File   Text `json:"file"`
	Reason Text `json:"reason"`
}

// Findings are what the rules found.
type Findings struct {
	List []Finding
	// Title is what they are to the reader: Findings, or Causes.
	Title string
	// Brief: one line each is enough beside the rest of the report.
	Brief bool
	// Many: there may be more than one wants to see at once.
	Many bool
	// Source is the file that they are about where they have no place.
	Source Text
	// Pairs is for how many pairs of releases was judged.
	Pairs int
	// Servers are what servers are called where there is room: ADDRESS (NODE).
	Servers map[Text]Text
}

// Rules are those that found nothing, and those that could not or need not be asked.
type Rules struct {
	Passed  []string
	Skipped []Skipped
}

// SilencedFindings are those that ignore comments silence.
type SilencedFindings []Silenced

// Counts is how much there is of which severity, and how much can be fixed.
type Counts Summary

// Notes are things to know that no rule is about.
type Notes []Note

// Origin says where the releases come from.
type Origin Text

// Remark is a sentence of its own.
type Remark Text

// List is a list of a few sentences below its title.
type List struct {
	// ID names it among the parts of a page.
	ID, Title string
	Items     []Text
}

// Names is a list of names behind a label. With Most there may be very many: no more are shown unless one wants
// details.
type Names struct {
	Label string
	Words []Text
	Most  int
}

// Tone is how a cell of a table is to look.
type Tone string

// The tones.
const (
	Plain  Tone = ""
	Good   Tone = "good"
	Bad    Tone = "bad"
	Warn   Tone = "warn"
	Unsure Tone = "unsure"
	Info   Tone = "info"
)

// Table is a table. An empty cell shows as a dash.
type Table struct {
	// ID names it among the parts of a page, Title is its heading, Caption says what it has, Noun what a row is.
	ID, Title, Caption, Noun string
	Columns                  []Column
	Rows                     [][]Cell
	// Detail: only who wants details sees it.
	Detail bool
}

// Column is the head of a column.
type Column struct {
	Head string
	// Short is the head where there is little room; then the column stands before those that have none.
	Short string
	// Number: the column has numbers. Name: it has names.
	Number, Name bool
}

// Cell is a cell of a table. Lead is how many bytes of its text have the tone.
type Cell struct {
	Text Text
	Tone Tone
	Lead int
}

// Steps are those of a roll, as a table and as rolls to draw.
type Steps struct {
	Table Table
	// Stopped is why rolls end before their last node.
	Stopped []Fact
	// Calm: nothing differs and nothing is wrong. Partial: the roll as configured is not known.
	Calm, Partial bool
	Rolls         []Roll
}

// Roll is one way to bring the servers to the target release: a row a step, a column a node.
type Roll struct {
	Caption string
	Nodes   []Text
	Rows    []RollRow
	// Says is the roll in words.
	Says Text
}

// RollRow is a step of a roll; without boxes it is one that this roll has not, while the one beside it has.
type RollRow struct {
	Label  Text
	Boxes  []RollBox
	Arrows []RollArrow
	// Crossed: this roll or the one beside it has arrows at the step.
	Crossed bool
}

// RollBox is a server at a step.
type RollBox struct {
	// Class is a tone, or new for the target release, or off for a server that does not run.
	Class          string
	Release, State Text
	// Now: it is the one that the step replaces.
	Now bool
}

// RollArrow leads from a server to the one that has what it lacks, by their columns.
type RollArrow struct {
	Tone     Tone
	From, To int
}

// Matrix says which server hands requests to which.
type Matrix struct {
	// When is the moment of a roll that it is about; empty: it is about servers that were asked.
	When  Text
	Names []Text
	// Verdicts are yes, no or ? for each pair of names, first the one that hands.
	Verdicts [][]string
	Yes, Of  int
	Reasons  []PairReason
	Crashes  []Text
	// Again: it was otherwise before.
	Again bool
}

// PairReason is why pairs of servers are not yes.
type PairReason struct {
	Verdict  string // no or ?
	From, To []Text
	Why      []Text
}

// Routes are the resources that servers do not have themselves.
type Routes []RouteGroup

// RouteGroup is resources that are the same for some servers.
type RouteGroup struct {
	Outcome   Outcome
	Servers   []Text
	ServedBy  Text
	Proof     string
	Resources []Text
}

// Outcome is what a server does with a request for what it does not have.
type Outcome struct {
	// One and Several are the verbs for a server and several; After ends that sentence.
	One, Several, After string
	// Says is the same in a table.
	Says string
	Tone Tone
}

// LeftOut are group versions that were not compared.
type LeftOut []LeftOutVersion

// LeftOutVersion is a group version that is not built into the API servers. Stale is why its resources are not to be
// had.
type LeftOutVersion struct {
	Name   Text
	Custom bool // custom resources, else aggregated
	Kind   string
	Stale  Text
}

// Surface says which resources the releases differ in.
type Surface struct {
	Release        Text
	Added, Removed []Text
}

// NotStarting are the reasons why servers do not start that no finding says.
type NotStarting []Text

// Patched says what mvpcheck patch changes, or why it does not.
type Patched struct {
	Program    string
	Refused    Text
	Changes    []Text
	Unprepared Text
}

func (*Section) block()         {}
func (InputError) block()       {}
func (PassedOver) block()       {}
func (Findings) block()         {}
func (Rules) block()            {}
func (SilencedFindings) block() {}
func (Counts) block()           {}
func (Notes) block()            {}
func (Origin) block()           {}
func (Remark) block()           {}
func (List) block()             {}
func (Names) block()            {}
func (Table) block()            {}
func (Steps) block()            {}
func (Matrix) block()           {}
func (Routes) block()           {}
func (LeftOut) block()          {}
func (Surface) block()          {}
func (NotStarting) block()      {}
func (Patched) block()          {}
