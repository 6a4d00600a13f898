package cli

import (
	"fmt"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/report"
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

// judged is a judgement with what the report adds to it.
type judged struct {
	*checks.Judgement

	// edits returns what patch would do about a finding; nil where the report does not have it.
	edits func(*checks.Finding) []report.Edit
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

// documents says what of its file a cluster is, such as "ClusterConfiguration (document 2 of 3), kubeadm.k8s.io/v1beta4".
func documents(c *config.Cluster) string {
	if len(c.Patches) > 0 && c.Form == "" {
		return "kubeadm patch for kube-apiserver"
	}
	text := string(c.Form)
	if c.Doc == nil {
		return text
	}
	if n := len(c.Input.Docs); n > 1 {
		text += fmt.Sprintf(" (document %d of %d)", c.Doc.FileIndex(), n)
	}
	switch object := controlPlane(c); {
	case object != nil:
		text = object.Get("kind").Str() + text[len(c.Form):] + ", " + object.Get("apiVersion").Str()
	case c.APIVersion != "":
		text += ", kubeadm.k8s.io/" + c.APIVersion
	}
	return text
}
