package cli

import (
	"time"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// judge judges clusters by what the command line asks for.
type judge struct {
	options *options
	extras  *extras
	now     time.Time
	// edits: the report has the edits that patch would make.
	edits bool
}

// by are the options to judge by.
func (j *judge) by(ch *choices) checks.Options {
	return checks.Options{
		From: ch.from.Release, To: ch.to.Release, Rules: ch.rules, Root: j.options.root, Now: j.now, CertDays: int(ch.certDays),
	}
}

// byEvery are the options to judge by every rule.
func (j *judge) byEvery(ch *choices) checks.Options {
	o := j.by(ch)
	o.Rules = nil
	return o
}

// prepare adds to each input that patch reads again what the command line knows of it.
func (j *judge) prepare(ch *choices) func(in *config.Input) error {
	return func(in *config.Input) error {
		for _, c := range in.Clusters {
			j.extras.prepare(c, ch)
		}
		return nil
	}
}
