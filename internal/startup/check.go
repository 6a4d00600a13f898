package startup

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// A check is one thing that the options of kube-apiserver refuse besides what the types of their flags do.
type check struct {
	// flags are those that it reads. Where the value of one is not known, or refused by its type, the check says
	// nothing. The first one that is set is at fault; where none is, the check does not apply.
	flags []string
	// refuses is asked of the first of the flags.
	refuses predicate
	// where is what a release must do to have the check; "" is each release.
	where release.Behaviour
}

// A predicate says why kube-apiserver exits on a flag, "" where it does not.
type predicate func(s *Server, flag string) (reason string)

// checks are all of them, by the source files that they follow.
var checks = sync.OnceValue(func() []check {
	return slices.Concat(
		genericChecks, storageChecks, servingChecks, auditChecks(), loggingChecks, metricsChecks,
		admissionChecks, authenticationChecks, authorizationChecks, controlPlaneChecks, serviceChecks)
})

// The forms that a line of a table has.

// of returns a check of the first of some flags, separated by blanks, that reads all of them.
func of(flags string, refuses predicate) check {
	return check{flags: strings.Fields(flags), refuses: refuses}
}

// each returns a check for each of the flags.
func each(flags string, refuses predicate) []check {
	var all []check
	for flag := range strings.FieldsSeq(flags) {
		all = append(all, of(flag, refuses))
	}
	return all
}

// in returns the check for the releases that have it.
func (c check) in(where release.Behaviour) check {
	c.where = where
	return c
}

// The predicates that tables name with their arguments.

// when refuses with a reason where something holds.
func when(holds func(s *Server, flag string) bool, reason string) predicate {
	return func(s *Server, flag string) string {
		if holds(s, flag) {
			return reason
		}
		return ""
	}
}

// text, number and duration refuse a value with a reason where something holds of it.
func text(bad func(string) bool, reason string) predicate {
	return when(func(s *Server, flag string) bool { return bad(s.text(flag)) }, reason)
}

func number(bad func(float64) bool, reason string) predicate {
	return when(func(s *Server, flag string) bool { return bad(s.float(flag)) }, reason)
}

func duration(bad func(time.Duration) bool, reason string) predicate {
	return when(func(s *Server, flag string) bool { return bad(s.duration(flag)) }, reason)
}

func empty(v string) bool { return v == "" }

// only has a predicate count where something holds.
func only(holds func(s *Server) bool, refuses predicate) predicate {
	return func(s *Server, flag string) string {
		if !holds(s) {
			return ""
		}
		return refuses(s, flag)
	}
}

// eachItem judges the entries of a list, eachValue the values of a flag that does not split them.
func eachItem(refuses func(item string) string) predicate {
	return func(s *Server, flag string) string { return first(s.items(flag), refuses) }
}

func eachValue(refuses func(value string) string) predicate {
	return func(s *Server, flag string) string { return first(s.all(flag), refuses) }
}

func first(texts []string, refuses func(string) string) string {
	for _, text := range texts {
		if reason := refuses(text); reason != "" {
			return reason
		}
	}
	return ""
}

// unless refuses a text with a reason where it is not right.
func unless(right func(text string) bool, reason string) func(string) string {
	return func(text string) string {
		if right(text) {
			return ""
		}
		return reason
	}
}

// oneOf takes a few values, of which the empty one is not named.
func oneOf(values ...string) predicate {
	named := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	reason := "is none of the values that it takes: " + strings.Join(named, ", ")
	return when(func(s *Server, flag string) bool { return !slices.Contains(values, s.text(flag)) }, reason)
}

// set tells whether a flag is set to something.
func set(flag string) func(s *Server) bool {
	return func(s *Server) bool { return s.text(flag) != "" }
}

// without refuses a flag that is set beside another one.
func without(other string) predicate {
	return when(func(s *Server, flag string) bool { return s.given(flag) && s.given(other) }, "does not go with "+other)
}

func negative(s *Server, flag string) string {
	if strings.HasPrefix(strings.TrimSpace(s.text(flag)), "-") && (s.number(flag) < 0 || s.duration(flag) < 0) {
		return "is negative"
	}
	return ""
}

var positive = number(func(n float64) bool { return n <= 0 }, "is not above 0")

// needsGate says that a setting needs a feature gate that is off. One that is locked cannot be: GateProblems has that.
func needsGate(gate string, needs func(s *Server, flag string) bool) predicate {
	return when(func(s *Server, flag string) bool {
		spec, known := s.catalogue.Gate(gate, s.at)
		return needs(s, flag) && known && !spec.Locked && !s.gateOn(gate)
	}, "needs the feature gate "+gate)
}

func isSet(s *Server, flag string) bool { return s.text(flag) != "" }

func isOn(s *Server, flag string) bool { return s.on(flag) }

// all returns what the first of some predicates says that says something.
func all(predicates ...predicate) predicate {
	return func(s *Server, flag string) string {
		for _, refuses := range predicates {
			if reason := refuses(s, flag); reason != "" {
				return reason
			}
		}
		return ""
	}
}
