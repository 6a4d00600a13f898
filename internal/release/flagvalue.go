package release

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Setting is a flag of a command line with its value, as kube-apiserver gets it.
type Setting struct {
	// Flag is written as NormalizeFlag takes it.
	Flag, Value string
	// Unknown: what the value will be is not known here.
	Unknown bool
}

// SettingProblem is why kube-apiserver exits on the value of a flag.
type SettingProblem struct {
	// Setting is the index of the one at fault on the command line.
	Setting int
	// Reason is what follows the flag and its value in a sentence: "is not a duration, such as 30s or 1h30m".
	Reason string
}

// SettingProblems returns what makes a kube-apiserver of the release, with such effective versions, exit on a command
// line: values that the flags' types refuse, and those that its options refuse once all flags are read, in the order of
// the command line. Flags that the release does not have, and what files hold, are left out.
//
// Left out too is what has rules of its own: --feature-gates and --runtime-config beyond their types (GateProblems,
// RuntimeConfigProblems), --emulated-version and --min-compatibility-version (EffectiveVersions), and the flags for peers.
//
// Nearly all command lines of a run are one of a few, so that the answers are kept; they are shared and not to be changed.
func (c *Catalogue) SettingProblems(line []Setting, at Effective) []SettingProblem {
	size := 0
	for _, s := range line {
		size += len(s.Flag) + len(s.Value) + len("\x00\x00unknown\x00\x00")
	}
	if size > maxJudgedLine {
		return c.settingProblems(line, at)
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
	return c.judged.get(lineAt{key.String(), at}, func() []SettingProblem { return c.settingProblems(line, at) })
}

// lineAt is a command line of a server with such effective versions.
type lineAt struct {
	line string
	at   Effective
}

// judgedLines are the answers of SettingProblems, maxJudgedLines at most.
type judgedLines struct {
	sync.Mutex
	known map[lineAt][]SettingProblem
}

const (
	maxJudgedLines = 256
	// maxJudgedLine is the length in bytes of a command line that is kept; kubeadm's have two thousand.
	maxJudgedLine = 16 << 10
)

func (j *judgedLines) get(key lineAt, judge func() []SettingProblem) []SettingProblem {
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
		j.known = map[lineAt][]SettingProblem{}
	}
	j.known[key] = problems
	return problems
}

func (c *Catalogue) settingProblems(line []Setting, at Effective) []SettingProblem {
	s := newSettings(c, line, at)
	problems := s.typeProblems()
	for _, rule := range valueRules() {
		i := s.atFault(rule.flags)
		if i >= 0 && (rule.where == "" || c.behaviours()[rule.where]) && !slices.ContainsFunc(rule.flags, s.unreadable) {
			if reason := rule.refuses(s); reason != "" {
				problems = append(problems, SettingProblem{Setting: i, Reason: reason})
			}
		}
	}
	slices.SortStableFunc(problems, func(a, b SettingProblem) int { return cmp.Compare(a.Setting, b.Setting) })
	return problems
}

// A valueRule says what the options of kube-apiserver refuse besides what the types of the flags do.
type valueRule struct {
	// flags are those that the rule reads. Where the value of one is not known, or refused by its type, the rule says
	// nothing. The first one that is set is at fault; where none is, the rule does not hold.
	flags []string
	// where is what a release must do to have the rule; "" is each release.
	where Behaviour
	// refuses says why kube-apiserver exits, "" where it does not.
	refuses func(s *settings) string
}

// valueRules are all rules, by the source files that they follow.
var valueRules = sync.OnceValue(func() []valueRule {
	return slices.Concat(genericRules, storageRules, servingRules, auditRules, admissionRules, loggingRules, metricsRules,
		authenticationRules, authorizationRules, controlPlaneRules, serviceRules)
})

// settings is a command line as kube-apiserver reads it.
type settings struct {
	catalogue *Catalogue
	at        Effective
	line      []Setting
	places    map[string][]int // where a flag stands on the line
	refused   map[string]bool  // flags with a value that is not known, or that the type refuses
	gates     FeatureGates
}

func newSettings(c *Catalogue, line []Setting, at Effective) *settings {
	s := &settings{catalogue: c, at: at, line: line, places: map[string][]int{}, refused: map[string]bool{}}
	var gates []string
	for i, setting := range line {
		name := NormalizeFlag(setting.Flag)
		s.places[name] = append(s.places[name], i)
		if setting.Unknown {
			s.refused[name] = true
		}
		if name == FlagFeatureGates {
			gates = append(gates, setting.Value)
		}
	}
	s.gates = ParseFeatureGates(gates)
	return s
}

func (s *settings) typeProblems() []SettingProblem {
	var problems []SettingProblem
	for i, setting := range s.line {
		f, ok := s.catalogue.Flag(setting.Flag)
		if !ok || setting.Unknown {
			continue
		}
		if reason := refusedByType(f, setting.Value, s.catalogue.binary); reason != "" {
			problems = append(problems, SettingProblem{Setting: i, Reason: reason})
			s.refused[f.Name] = true
		}
	}
	return problems
}

// unreadable tells whether nothing can be said of the value of a flag.
func (s *settings) unreadable(flag string) bool { return s.refused[flag] }

// atFault returns where the last value of the first of the flags stands that is set, -1 where none is.
func (s *settings) atFault(flags []string) int {
	for _, flag := range flags {
		if places := s.places[flag]; len(places) > 0 && flag != FlagFeatureGates {
			return places[len(places)-1]
		}
	}
	return -1
}

// gateOn tells whether a feature gate is on.
func (s *settings) gateOn(name string) bool { return s.catalogue.on(name, s.gates, s.at) }

// given tells whether a flag is set at all, be it to nothing.
func (s *settings) given(flag string) bool { return len(s.places[flag]) > 0 }

// all returns the values of a flag that does not split them.
func (s *settings) all(flag string) []string {
	var values []string
	for _, i := range s.places[flag] {
		values = append(values, s.line[i].Value)
	}
	return values
}

// text returns the value of a flag, its default where it is not set.
func (s *settings) text(flag string) string {
	if values := s.all(flag); len(values) > 0 {
		return values[len(values)-1]
	}
	f, _ := s.catalogue.Flag(flag)
	return f.Default
}

// items returns the entries of a flag that is a list, of all its values.
func (s *settings) items(flag string) []string {
	var items []string
	for _, value := range s.all(flag) {
		list, _ := csvList(value) // the type has judged it
		items = append(items, list...)
	}
	return items
}

// The types have judged the values that these decode.

func (s *settings) number(flag string) int64 {
	n, _ := strconv.ParseInt(s.text(flag), 0, 64)
	return n
}

func (s *settings) float(flag string) float64 {
	x, _ := strconv.ParseFloat(s.text(flag), 64)
	return x
}

func (s *settings) duration(flag string) time.Duration {
	d, _ := time.ParseDuration(s.text(flag))
	return d
}

func (s *settings) on(flag string) bool {
	on, _ := strconv.ParseBool(s.text(flag))
	return on
}

// The rules that many flags have.

// refuse returns a rule for each of the flags.
func refuse(refuses func(s *settings, flag string) string, flags ...string) []valueRule {
	rules := make([]valueRule, 0, len(flags))
	for _, flag := range flags {
		rules = append(rules, valueRule{flags: []string{flag}, refuses: func(s *settings) string { return refuses(s, flag) }})
	}
	return rules
}

const isNegative = "is negative"

func negative(s *settings, flag string) string {
	if strings.HasPrefix(strings.TrimSpace(s.text(flag)), "-") && (s.number(flag) < 0 || s.duration(flag) < 0) {
		return isNegative
	}
	return ""
}

// oneOf returns a rule for a flag of few values.
func oneOf(flag string, values ...string) valueRule {
	return valueRule{flags: []string{flag}, refuses: func(s *settings) string {
		if slices.Contains(values, s.text(flag)) {
			return ""
		}
		named := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
		return "is none of the values that it takes: " + strings.Join(named, ", ")
	}}
}
