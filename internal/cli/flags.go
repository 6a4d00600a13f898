package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// The types of flags. Each reads what .mvpcheck.yaml says too, hence one wording for the mistakes in both.

// releaseValue is a Kubernetes release; the zero value is none.
type releaseValue struct {
	release.Release
	text string
}

func (v *releaseValue) Set(s string) (err error) {
	v.Release, err = release.Parse(s)
	v.text = strings.TrimSpace(s)
	return err
}

func (v *releaseValue) String() string { return v.text }
func (v *releaseValue) Type() string   { return "RELEASE" }

// nodesValue is a number of control-plane nodes, or their names and addresses.
type nodesValue struct {
	count int
	nodes []config.Node
	text  string
}

func (v *nodesValue) Set(s string) (err error) {
	v.count, v.nodes, err = config.ParseNodes(s)
	v.text = s
	return err
}

func (v *nodesValue) String() string { return v.text }
func (v *nodesValue) Type() string   { return "N|NAME=ADDR,..." }

// listValue are words separated by commas; given again, the flag adds to them.
type listValue []string

func (v *listValue) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word != "" {
			*v = append(*v, word)
		}
	}
	if len(*v) == 0 {
		return errors.New("names nothing")
	}
	return nil
}

func (v *listValue) String() string { return strings.Join(*v, ",") }
func (v *listValue) Type() string   { return "RULE,..." }

// daysValue is a number of days.
type daysValue int

const maxDays = 36500

func (v *daysValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxDays {
		return fmt.Errorf("%q is not a number of days (0 to %d)", s, maxDays)
	}
	*v = daysValue(n)
	return nil
}

func (v *daysValue) String() string { return strconv.Itoa(int(*v)) }
func (v *daysValue) Type() string   { return "DAYS" }

// levelValue is the least severity that ends in exit code 1.
type levelValue string

const failNever = "never"

var levels = []string{"error", "warning", "info", failNever}

func (v *levelValue) Set(s string) error { return setWord((*string)(v), s, levels) }
func (v *levelValue) String() string     { return string(*v) }
func (v *levelValue) Type() string       { return strings.Join(levels, "|") }

// reached tells whether a severity is at or above the level.
func (v levelValue) reached(s checks.Severity) bool {
	switch v {
	case failNever:
		return false
	case "info":
		return true
	case "warning":
		return s >= checks.Warning
	}
	return s >= checks.Error
}

// colorValue says when to use colour.
type colorValue string

var colorModes = []string{"auto", "always", "never"}

func (v *colorValue) Set(s string) error { return setWord((*string)(v), s, colorModes) }
func (v *colorValue) String() string     { return string(*v) }
func (v *colorValue) Type() string       { return strings.Join(colorModes, "|") }

// use tells whether to colour what goes to a terminal or to something else.
func (v colorValue) use(terminal bool, lookup func(string) (string, bool)) bool {
	switch v {
	case "always":
		return true
	case "never":
		return false
	}
	// no-color.org: set to anything but the empty string.
	noColor, _ := lookup("NO_COLOR")
	term, _ := lookup("TERM")
	return terminal && noColor == "" && term != "dumb"
}

// wordValue is one word of a few.
type wordValue struct {
	word    string
	allowed []string
}

func (v *wordValue) Set(s string) error { return setWord(&v.word, s, v.allowed) }
func (v *wordValue) String() string     { return v.word }
func (v *wordValue) Type() string       { return strings.Join(v.allowed, "|") }

func setWord(to *string, s string, allowed []string) error {
	if !slices.Contains(allowed, s) {
		return notOneOf(s, allowed)
	}
	*to = s
	return nil
}

func notOneOf(s string, allowed []string) error {
	return fmt.Errorf("%q is not %s", s, text.Or(allowed))
}
