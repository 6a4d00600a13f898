// Package patch makes the changes that findings ask for, as byte edits of the file that was read.
//
// Every byte that need not change stays: comments, order, quoting, line ends. No document is written
// from nodes or structs. Changes become operations on the values of the file; internal/yamldoc does them and
// reads the whole file again. Unless exactly the wanted values changed, and the finding is gone, all is
// refused, with the lines to write by hand.
package patch

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// Options say how a file is judged while it is patched.
type Options struct {
	// Judge returns the findings of a freshly read cluster for the rules that may be fixed.
	Judge func(c *config.Cluster) []checks.Finding
	// Every returns the findings for all rules, where Judge leaves some out; nil where it does not. What kube-apiserver
	// would no longer start with because of the changes is fixed with them, or they are refused.
	Every func(c *config.Cluster) []checks.Finding
	// Prepare adds to a freshly read input what the command line knows of it (nodes, manifests); it may be nil.
	Prepare func(in *config.Input) error
}

// Result is a patched file.
type Result struct {
	Name          string
	Before, After []byte
	Applied       []Applied
	// Input is After as it was read again.
	Input *config.Input
	// Left are the findings of the last judgement that no change fixes.
	Left []checks.Finding

	before *config.Input // the file as it was
}

// Applied is one change that was made.
type Applied struct {
	// Rules has the rule whose finding asked for the change, then those whose findings went away with it.
	Rules   []*checks.Rule
	Summary string
	// At is the place of the finding, in the file as it was when the change was made.
	At yamldoc.Place
}

// Changed tells whether the patched file differs.
func (r *Result) Changed() bool { return !bytes.Equal(r.Before, r.After) }

// maxRounds bounds the changes of one file: each round makes those of one finding.
const maxRounds = 200

// Fix makes the changes that the findings of a file ask for, one finding after the other, and judges the
// file anew after each, so that no finding with changes is left. The error is one of config.Read, or has a
// *Refusal for each change that cannot be made safely; then nothing is changed at all.
func Fix(name string, data []byte, o Options) (*Result, error) {
	f := &fixer{options: o, refused: map[findingKey]int{}}
	if err := f.read(yamldoc.NewFile(name, data)); err != nil {
		return nil, err
	}
	if err := f.refuseForms(); err != nil {
		return nil, err
	}
	before := f.in
	f.noteBefore(f.judgedBy(o.Every))
	f.judge()
	for round := 0; ; round++ {
		next := f.next()
		if next == nil {
			break
		}
		if round == maxRounds {
			return nil, fmt.Errorf("%s: the changes do not come to an end; the last one was for %s", name, next.Rule.ID)
		}
		if err := f.fix(next); err != nil {
			return nil, err
		}
	}
	if len(f.refusals) > 0 {
		return nil, joinRefusals(f.refusals)
	}
	r := &Result{Name: name, Before: data, After: f.in.File.Data, Applied: f.applied, Input: f.in, before: before}
	if err := f.refuseCaused(); err != nil {
		return nil, err
	}
	for _, j := range f.findings {
		if len(j.Changes) == 0 {
			r.Left = append(r.Left, j.Finding)
		}
	}
	return r, nil
}

func joinRefusals(refusals []*Refusal) error {
	errs := make([]error, len(refusals))
	for i, r := range refusals {
		errs[i] = r
	}
	return errors.Join(errs...)
}
