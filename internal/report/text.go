package report

import "io"

// TextOptions says how the text is to look. What depends on the terminal and
// the environment has been decided by the caller.
type TextOptions struct {
	// Program is what the next commands begin with: "mvpcheck", or "kubectl
	// mvpcheck" when it runs as a plugin.
	Program string
	// Flags are repeated in the next command, such as "--to", "1.36".
	Flags []string

	// Color colours the level, the rule ID and the caret, nothing else.
	Color bool
	// Verbose adds where the releases come from, the rules that passed and were
	// skipped, and the files that were passed over.
	Verbose bool
	// Quiet leaves one line for each finding, input error and cluster that
	// could not be judged, and one last line with the verdict. Each line stands
	// for itself, without blank lines, source lines and commands, so that grep
	// can choose and count. What is ready only shows in the last line.
	// Quiet wins over Verbose.
	Quiet bool
	// ErrorsElsewhere: whoever reads the text has been told of the input errors
	// already, one by one. The text then only counts them.
	ErrorsElsewhere bool
}

// Text writes a report for people. It keeps nothing of a cluster once it is
// written, apart from some names for the last line.
type Text struct {
	printer
	flags string // opts.Flags, quoted, each with a blank before it

	ready, files       int
	notReady, unjudged names
	unreadable         int
	passedOver         int
	lastUnreadable     string // several errors in one file count once
	last               string // quiet: the last line if there is one cluster
}

// NewText returns a writer of one report.
func NewText(out io.Writer, opts TextOptions) *Text {
	w := &Text{printer: newPrinter(out, opts)}
	for _, flag := range opts.Flags {
		w.flags += " " + shellQuote(flag)
	}
	return w
}

// Cluster writes the result for one cluster: one line when there is no
// finding, else a block with all of them and what to do next.
func (w *Text) Cluster(c Cluster) error {
	var t Tally
	t.Cluster(&c)
	s := t.Summary()
	w.files++
	w.last = ""
	switch s.Verdict {
	case VerdictReady:
		w.ready++
	case VerdictNotReady:
		w.notReady.add(c.Source)
	case VerdictCannotTell:
		w.unjudged.add(c.Source)
	}
	switch {
	case w.opts.Quiet:
		w.quiet(&c, s)
	case len(c.Findings) == 0 && !w.opts.Verbose:
		w.begin(line)
		w.noFinding(&c, s.Verdict)
	case len(c.Findings) == 0:
		w.begin(block)
		w.noFinding(&c, s.Verdict)
		w.details(&c)
	default:
		w.begin(block)
		w.withFindings(&c, s)
	}
	return w.flush()
}

// InputError writes that a file could not be read, in the form of a finding.
func (w *Text) InputError(e InputError) error {
	if e.File != w.lastUnreadable || w.unreadable == 0 {
		w.files++
		w.unreadable++
		w.unjudged.add(e.File)
		w.lastUnreadable = e.File
	}
	if w.opts.ErrorsElsewhere {
		return nil
	}
	w.begin(line)
	w.place(e.File, e.Line, e.Column)
	w.raw(": ")
	w.painted(w.levels[SeverityError], string(SeverityError))
	w.raw(": cannot be read: ")
	w.esc(e.Message)
	w.raw("\n")
	return w.flush()
}

// PassedOver counts a file that holds nothing to check.
func (w *Text) PassedOver(p PassedOver) error {
	w.passedOver++
	if w.opts.Verbose {
		w.begin(line)
		w.esc(p.File)
		w.raw(": passed over: ")
		w.esc(p.Reason)
		w.raw("\n")
	}
	return w.flush()
}

// Close writes the last lines. For one cluster its block or line has said
// everything.
func (w *Text) Close(s Summary) error {
	switch {
	case w.files == 0 && w.passedOver == 0:
		w.raw("CANNOT TELL: there is nothing to check.\n")
	case w.files == 0:
		w.begin(block)
		w.raw("CANNOT TELL: there is no configuration to check in ")
		w.count(w.passedOver, "file")
		w.hint(" (", ")")
		w.raw(".\n")
	case w.files == 1:
		w.closeOne()
	default:
		w.closeSeveral(s)
	}
	return w.flush()
}

func (w *Text) closeOne() {
	if w.passedOver > 0 && !w.opts.Quiet {
		w.begin(block)
		w.count(w.passedOver, "other file")
		w.raw(" passed over")
		w.hint(" (", ")")
		w.raw(".\n")
	}
	w.raw(w.last)
	if w.unreadable > 0 {
		w.begin(block)
		w.raw("CANNOT TELL: ")
		w.esc(w.lastUnreadable)
		w.raw(" cannot be read.\n")
	}
}

func (w *Text) closeSeveral(s Summary) {
	w.begin(block)
	w.count(w.files, "file")
	sep := ": "
	part := func(n int, what string) {
		if n > 0 {
			w.raw(sep)
			w.int(n)
			w.raw(what)
			sep = ", "
		}
	}
	part(w.ready, " ready")
	part(w.notReady.n, " not ready")
	part(w.unjudged.n-w.unreadable, " cannot tell")
	part(w.unreadable, " cannot be read")
	if w.passedOver > 0 {
		w.raw("; ")
		w.count(w.passedOver, "other file")
		w.raw(" passed over")
		w.hint(" (", ")")
	}
	w.raw("; ")
	w.counts(s)
	w.fixable(s)
	if w.opts.Quiet {
		w.raw(" ")
	} else {
		w.raw("\n")
	}
	switch {
	case s.Verdict == VerdictNotReady:
		w.raw("NOT READY: ")
		w.names(&w.notReady, ", ")
	case s.Verdict == VerdictReady && s.Warnings > 0:
		w.raw("READY, with ")
		w.count(s.Warnings, "warning")
	case s.Verdict == VerdictReady:
		w.raw("READY")
	default:
		w.raw("CANNOT TELL: ")
		w.names(&w.unjudged, ", ")
	}
	w.raw(".\n")
}
