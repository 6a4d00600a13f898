package startup

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// Setting is a flag of a command line with its value, as kube-apiserver gets it.
type Setting struct {
	// Flag is written as release.NormalizeFlag takes it.
	Flag, Value string
	// Unknown: what the value will be is not known here.
	Unknown bool
}

// Problem is why kube-apiserver exits on the value of a flag.
type Problem struct {
	// Setting is the index of the one at fault on the command line.
	Setting int
	// Reason is what follows the flag and its value in a sentence: "is not a duration, such as 30s or 1h30m".
	Reason string
}

// ValueProblems returns what makes a kube-apiserver of a release, with such effective versions, exit on a command line:
// values that the flags' types refuse, and those that its options refuse once all flags are read, in the order of the
// command line. Flags that the release does not have, and what files hold, are left out.
//
// Left out too is what has rules of its own: --feature-gates and --runtime-config beyond their types (GateProblems and
// RuntimeConfigProblems of release.Catalogue, and the RuntimeConfigNeeds here), --emulated-version and
// --min-compatibility-version (release.EffectiveVersions), and the flags for peers.
//
// Nearly all command lines of a run are one of a few, so that the answers are kept; they are shared and not to be
// changed.
func ValueProblems(c *release.Catalogue, line []Setting, at release.Effective) []Problem {
	size := 0
	for _, s := range line {
		size += len(s.Flag) + len(s.Value) + len("\x00\x00unknown\x00\x00")
	}
	if size > maxJudgedLine {
		return NewServer(c, line, at).valueProblems()
	}
	var key strings.Builder
	key.Grow(size)
	for _, s := range line {
		key.WriteString(s.Flag)
		key.WriteString("\x00")
		key.WriteString(s.Value)
		if s.Unknown {
			key.WriteString("\x00unknown")
		}
		key.WriteString("\x00\x00")
	}
	return judged.get(lineOf{c, key.String(), at}, func() []Problem { return NewServer(c, line, at).valueProblems() })
}

// lineOf is a command line of a server of a release with such effective versions.
type lineOf struct {
	catalogue *release.Catalogue
	line      string
	at        release.Effective
}

const (
	maxJudgedLines = 512
	// maxJudgedLine is the length in bytes of a command line that is kept; kubeadm's have two thousand.
	maxJudgedLine = 16 << 10
)

// judged are the answers of ValueProblems, maxJudgedLines at most.
var judged judgedLines

type judgedLines struct {
	sync.Mutex
	known map[lineOf][]Problem
}

func (j *judgedLines) get(key lineOf, judge func() []Problem) []Problem {
	j.Lock()
	problems, ok := j.known[key]
	j.Unlock()
	if ok {
		return problems
	}
	problems = judge()
	j.Lock()
	defer j.Unlock()
	if j.known == nil || len(j.known) >= maxJudgedLines {
		j.known = map[lineOf][]Problem{}
	}
	j.known[key] = problems
	return problems
}

func (s *Server) valueProblems() []Problem {
	problems := s.typeProblems()
	for i := range checks() {
		check := &checks()[i]
		at := s.atFault(check.flags)
		holds := check.where == "" || s.catalogue.Does(check.where)
		if at < 0 || !holds || slices.ContainsFunc(check.flags, s.unreadable) {
			continue
		}
		if reason := check.refuses(s, check.flags[0]); reason != "" {
			problems = append(problems, Problem{Setting: at, Reason: reason})
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Setting, b.Setting) })
	return problems
}

func (s *Server) typeProblems() []Problem {
	var problems []Problem
	for i, setting := range s.line {
		f, ok := s.catalogue.Flag(setting.Flag)
		if !ok || setting.Unknown {
			continue
		}
		if reason := refusedByType(f, setting.Value, s.catalogue.MinorRelease()); reason != "" {
			problems = append(problems, Problem{Setting: i, Reason: reason})
			s.refused[f.Name] = true
		}
	}
	return problems
}

// A Server is a kube-apiserver of a release with its command line.
type Server struct {
	catalogue *release.Catalogue
	at        release.Effective
	line      []Setting
	places    map[string][]int // where a flag stands on the line
	refused   map[string]bool  // flags with a value that is not known, or that the type refuses
	gates     release.FeatureGates
}

// NewServer returns the server of a command line that acts by such effective versions.
func NewServer(c *release.Catalogue, line []Setting, at release.Effective) *Server {
	s := &Server{catalogue: c, at: at, line: line, places: map[string][]int{}, refused: map[string]bool{}}
	var gates []string
	for i, setting := range s.line {
		name := release.NormalizeFlag(setting.Flag)
		s.places[name] = append(s.places[name], i)
		if setting.Unknown {
			s.refused[name] = true
		}
		if name == release.FlagFeatureGates {
			gates = append(gates, setting.Value)
		}
	}
	s.gates = release.ParseFeatureGates(gates)
	return s
}

// unreadable tells whether nothing can be said of the value of a flag.
func (s *Server) unreadable(flag string) bool { return s.refused[flag] }

// atFault returns where the last value of the first of the flags stands that is set, -1 where none is.
func (s *Server) atFault(flags []string) int {
	for _, flag := range flags {
		if places := s.places[flag]; len(places) > 0 && flag != release.FlagFeatureGates {
			return places[len(places)-1]
		}
	}
	return -1
}

// emulates tells whether the server behaves as an older release.
func (s *Server) emulates() bool { return !s.at.Emulated.SameMinor(s.catalogue.MinorRelease()) }

// gateOn tells whether a feature gate is on.
func (s *Server) gateOn(name string) bool { return s.catalogue.GateOn(name, s.gates, s.at) }

// given tells whether a flag is set at all, be it to nothing.
func (s *Server) given(flag string) bool { return len(s.places[flag]) > 0 }

// all returns the values of a flag that does not split them.
func (s *Server) all(flag string) []string {
	var values []string
	for _, i := range s.places[flag] {
		values = append(values, s.line[i].Value)
	}
	return values
}

// text returns the value of a flag, its default where it is not set.
func (s *Server) text(flag string) string {
	if places := s.places[flag]; len(places) > 0 {
		return s.line[places[len(places)-1]].Value
	}
	f, _ := s.catalogue.Flag(flag)
	return f.Default
}

// items returns the entries of a flag that is a list, of all its values.
func (s *Server) items(flag string) []string {
	var items []string
	for _, value := range s.all(flag) {
		list, _ := release.SplitList(value) // the type has judged it
		items = append(items, list...)
	}
	return items
}

// The types have judged the values that these decode.

func (s *Server) number(flag string) int64 {
	n, _ := strconv.ParseInt(s.text(flag), 0, 64)
	return n
}

func (s *Server) float(flag string) float64 {
	x, _ := strconv.ParseFloat(s.text(flag), 64)
	return x
}

func (s *Server) duration(flag string) time.Duration {
	d, _ := time.ParseDuration(s.text(flag))
	return d
}

func (s *Server) on(flag string) bool {
	on, _ := strconv.ParseBool(s.text(flag))
	return on
}
