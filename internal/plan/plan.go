// Package plan walks through the upgrade of a control plane, node by node: with the configuration as it is, and with the one that
// mvpcheck patch writes. Who hands requests to whom is decided by internal/handoff, from what pkg/checks reads of the servers.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

// Input is what a plan is made of.
type Input struct {
	Pair checks.Pair
	// Now is what the configuration tells of the servers, its nodes in the order of the roll.
	Now checks.HandOff
	// Patched is the same of the configuration that mvpcheck patch writes, and Changes are what it changes; nil where it
	// changes nothing. Refused is why it does not write it.
	Patched *checks.HandOff
	Changes []patch.Applied
	Refused string
}

// Of walks the rolls and says what comes of them, and why. What the file is called is for the caller to say.
func Of(in Input) *report.PlanReport {
	b := &builder{now: in.Now, report: &report.PlanReport{
		From: report.UpgradeOf(in.Pair).From, To: report.UpgradeOf(in.Pair).To,
	}}
	for _, n := range in.Now.Nodes {
		b.report.Order = append(b.report.Order, n.Name)
	}
	b.asConfigured()
	switch {
	case in.Refused != "":
		b.report.Patched = &report.PlanPatched{Refused: in.Refused}
	case in.Patched != nil:
		b.asPatched(*in.Patched, in.Changes)
	}
	b.conclude()
	report.Sort(b.report.Findings)
	b.summarize()
	return b.report
}

// builder puts the report of a plan together.
type builder struct {
	now    checks.HandOff
	report *report.PlanReport
}

// roll walks one way. action is what its steps are.
func roll(action string, nodes []checks.NodeServers, before, after func(*checks.NodeServers) checks.ConfiguredServer) report.PlanRoll {
	walked := make([]handoff.Node, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		walked[i] = handoff.Node{Name: n.Name, Before: before(n).State, After: after(n).State}
	}
	var out report.PlanRoll
	for i, s := range handoff.Walk(walked) {
		step := report.PlanStep{
			Step: i, Node: s.Node, Action: action, Releases: map[string]string{}, PlanMoment: momentOf(&s.Up),
		}
		if s.Node == "" {
			step.Action = report.ActionNone
		}
		if s.Down != nil {
			m := momentOf(s.Down)
			step.Replacing = &m
		}
		for k := range nodes {
			server := before(&nodes[k])
			switch replaced := k < i; {
			case slices.Contains(s.NotStarting, nodes[k].Name) && s.Node == "":
				continue // it does not run
			case replaced && !slices.Contains(s.NotStarting, nodes[k].Name):
				server = after(&nodes[k])
			}
			step.Releases[nodes[k].Name] = server.Release.Full()
		}
		for _, name := range s.NotStarting {
			failing := before
			if s.Node != "" {
				failing = after
			}
			k := slices.IndexFunc(nodes, func(n checks.NodeServers) bool { return n.Name == name })
			step.NotStarting = append(step.NotStarting, failuresOf(name, failing(&nodes[k]))...)
		}
		out.Steps = append(out.Steps, step)
	}
	out.Stopped = stopped(&out, len(nodes))
	return out
}

// stopped says why a roll ends early.
func stopped(r *report.PlanRoll, nodes int) string {
	last := &r.Steps[len(r.Steps)-1]
	switch {
	case len(last.NotStarting) == 0:
		return ""
	case last.Node == "":
		return "kube-apiserver exits with this configuration on the running release, so it is not what the servers run now, and rolling it out fails"
	}
	left := nodes - last.Step
	text := fmt.Sprintf("kube-apiserver on %s does not start; kubeadm brings the old one back, and the roll stops there", last.Node)
	if left > 0 {
		text += fmt.Sprintf(", %d of %d nodes before its end", left, nodes)
	}
	return text
}

func failuresOf(node string, s checks.ConfiguredServer) []report.PlanFailure {
	var out []report.PlanFailure
	for _, n := range s.Stops {
		f := report.PlanFailure{Node: node, Reason: n.Reason}
		if n.Rule != nil {
			f.Rule = n.Rule.ID
		}
		out = append(out, f)
	}
	return out
}

func momentOf(m *handoff.Moment) report.PlanMoment {
	out := report.PlanMoment{Blind: m.Blind}
	for _, p := range m.Pairs {
		out.Pairs = append(out.Pairs, report.PairOf(p))
	}
	lists := map[handoff.Outcome]*[]report.Route{
		handoff.NotFound: &out.FalseNotFound, handoff.Unavailable: &out.Unavailable, handoff.HandedOff: &out.HandedOff,
		handoff.Unserved: &out.NotServed, handoff.Unsure: &out.Unknown,
	}
	for _, r := range m.Routes {
		route := report.Route{
			Server: r.Server, Group: r.Resource.Group, Version: r.Resource.Version, Resource: r.Resource.Name,
			ServedBy: r.ServedBy, Subresource: r.Subresource,
		}
		for _, c := range r.Causes {
			route.Reasons = append(route.Reasons, string(c))
		}
		list := lists[r.Outcome]
		*list = append(*list, route)
	}
	for _, c := range m.Crashes {
		out.Crashing = append(out.Crashing,
			report.PlanCrash{Server: c.Server, Peer: c.Peer, Reason: string(c.Cause), Certain: c.Certain})
	}
	return out
}

func running(n *checks.NodeServers) checks.ConfiguredServer { return n.Running }
func target(n *checks.NodeServers) checks.ConfiguredServer  { return n.Target }

// asConfigured walks the roll that the configuration leads to as it is.
func (b *builder) asConfigured() {
	r := b.report
	switch {
	case b.now.Unreadable != "":
		r.CannotTell = b.now.Unreadable
	case len(b.now.Refused) > 0:
		whole := roll(report.ActionUpgrade, b.now.Nodes, running, running)
		f := b.now.Refused[0]
		r.PlanRoll = report.PlanRoll{
			Steps:   whole.Steps[:1],
			Stopped: fmt.Sprintf("kubeadm refuses this configuration [%s], so the roll does not begin", f.Rule.ID),
		}
	default:
		r.PlanRoll = roll(report.ActionUpgrade, b.now.Nodes, running, target)
	}
}

// asPatched walks the rolls with a patched configuration: rolled out on the running release first, and not.
func (b *builder) asPatched(patched checks.HandOff, changes []patch.Applied) {
	p := &report.PlanPatched{}
	for _, c := range changes {
		ids := make([]string, len(c.Rules))
		for i, rule := range c.Rules {
			ids[i] = rule.ID
		}
		p.Changes = append(p.Changes, strings.Join(ids, ", ")+" "+c.Summary)
	}
	b.report.Patched = p
	if len(patched.Refused) > 0 {
		p.Stopped = fmt.Sprintf("kubeadm refuses the patched configuration, too [%s]", patched.Refused[0].Rule.ID)
		return
	}
	if len(b.now.Nodes) != len(patched.Nodes) {
		// What runs now is not known.
		b.now.Nodes = patched.Nodes
	}
	before := make(map[string]checks.ConfiguredServer, len(b.now.Nodes))
	for _, n := range b.now.Nodes {
		// Whatever the servers run now, they do run.
		n.Running.Starts = handoff.Yes
		before[n.Name] = n.Running
	}
	old := func(n *checks.NodeServers) checks.ConfiguredServer { return before[n.Name] }
	prepared := roll(report.ActionPrepare, patched.Nodes, old, running)
	p.PlanRoll = prepared
	if prepared.Stopped == "" {
		upgrade := roll(report.ActionUpgrade, patched.Nodes, running, target)
		for _, s := range upgrade.Steps[1:] {
			s.Step += len(patched.Nodes)
			p.Steps = append(p.Steps, s)
		}
		p.Stopped = upgrade.Stopped
	}
	unprepared := roll(report.ActionUpgrade, patched.Nodes, old, target)
	b.report.Unprepared = &unprepared
}

// conclude compares what the servers serve before and after, and says what follows and why.
func (b *builder) conclude() {
	if len(b.now.Nodes) > 0 && b.now.Unreadable == "" {
		before, after := map[string]release.Resource{}, map[string]release.Resource{}
		blind := false
		for _, n := range b.now.Nodes {
			collect(before, n.Running.Resources)
			collect(after, n.Target.Resources)
			blind = blind || n.Running.Serves == nil || n.Target.Serves == nil
			b.untold(n.Running)
			b.untold(n.Target)
		}
		for _, n := range b.now.Result.Unknown {
			b.cannotTell(n.Reason)
		}
		if !blind {
			b.report.Added, b.report.Removed = without(after, before), without(before, after)
		}
		b.consequences(before, after)
	}
	b.findCauses()
}

// untold says why it is not known what a server serves.
func (b *builder) untold(s checks.ConfiguredServer) {
	if s.Starts != handoff.No {
		b.cannotTell(s.Blind)
	}
}

// cannotTell adds a reason, once; an empty one is none.
func (b *builder) cannotTell(reason string) {
	switch {
	case strings.Contains(b.report.CannotTell, reason):
	case b.report.CannotTell == "":
		b.report.CannotTell = reason
	default:
		b.report.CannotTell += "; " + reason
	}
}

func collect(into map[string]release.Resource, resources []release.Resource) {
	for _, r := range resources {
		into[r.String()] = r
	}
}

// without returns the resources of a that b lacks, in order.
func without(a, b map[string]release.Resource) []report.PlanResource {
	var list []release.Resource
	for name, r := range a {
		if _, both := b[name]; !both {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, release.Resource.Compare)
	var out []report.PlanResource
	for _, r := range list {
		out = append(out, report.PlanResource{
			Group: r.Group, Version: r.Version, Resource: r.Name, Namespaced: r.Namespaced, Emptied: r.Emptied, Collected: r.Collected,
		})
	}
	return out
}

// consequences says what follows from the false 404s that settings could avoid.
func (b *builder) consequences(before, after map[string]release.Resource) {
	missing := map[string]release.Resource{}
	for i := range b.report.Steps {
		s := &b.report.Steps[i]
		for _, m := range s.Moments() {
			for _, r := range m.FalseNotFound {
				key := release.Resource{Group: r.Group, Version: r.Version, Name: r.Resource}.String()
				if known, ok := after[key]; ok && !r.Subresource {
					missing[key] = known
				} else if known, ok := before[key]; ok && !r.Subresource {
					missing[key] = known
				}
			}
		}
	}
	add := func(kind string, concerned func(release.Resource) bool, message string) {
		var list []release.Resource
		for _, r := range missing {
			if concerned(r) {
				list = append(list, r)
			}
		}
		if len(list) == 0 {
			return
		}
		slices.SortFunc(list, release.Resource.Compare)
		c := report.PlanConsequence{Kind: kind}
		var names []string
		for _, r := range list {
			c.Resources = append(c.Resources, r.String())
			names = append(names, r.Name)
		}
		c.Message = fmt.Sprintf(message, text.Few(slices.Compact(names), 5))
		b.report.Consequences = append(b.report.Consequences, c)
	}
	add(report.ConsequenceNamespaces, func(r release.Resource) bool { return r.Namespaced && r.Emptied },
		"namespace deletion overlooks objects of %s: the namespace goes, and they stay behind")
	add(report.ConsequenceGarbage, func(r release.Resource) bool { return r.Collected },
		"garbage collection takes owners that are %s for gone and deletes what they own, or cannot look them up and leaves behind what it should delete")
	add(report.ConsequenceClients, func(r release.Resource) bool { return !strings.Contains(r.Name, "/") },
		"clients and controllers that ask one of these servers find no %s; kube-controller-manager and kube-scheduler on a kubeadm node ask that node's own server")
}

// findCauses picks the findings that make steps fail, or leave them unknown.
func (b *builder) findCauses() {
	lost, stopped, unsure := false, len(b.now.Refused) > 0, b.report.CannotTell != ""
	for i := range b.report.Steps {
		s := &b.report.Steps[i]
		lost = lost || s.Fails() && len(s.NotStarting) == 0
		stopped = stopped || len(s.NotStarting) > 0
		unsure = unsure || s.Unsure()
	}
	for _, f := range b.now.Result.Findings {
		var is bool
		switch f.Consequence {
		case checks.FalseNotFound:
			is = lost || unsure
		case checks.WillNotStart, checks.RefusedByKubeadm:
			is = stopped && f.Severity == checks.Error
		default:
			is = unsure && (f.Severity == checks.Warning && checks.DecidesHandOff(f.Rule) || f.Rule.ID == "MVP006")
		}
		if is {
			b.report.Findings = append(b.report.Findings, report.FindingOf(&f, nil))
		}
	}
}

// summarize adds the roll as configured up.
func (b *builder) summarize() {
	r := b.report
	sum := report.PlanSummary{Nodes: len(r.Order), Verdict: report.VerdictReady}
	for _, f := range r.Findings {
		switch f.Severity {
		case report.SeverityError:
			sum.Errors++
		case report.SeverityWarning:
			sum.Warnings++
		default:
			sum.Infos++
		}
	}
	names := map[string]bool{}
	unsure := r.CannotTell != ""
	starts := true
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Node != "" {
			sum.Steps++
		}
		if s.Fails() {
			sum.Failing++
		}
		starts = starts && len(s.NotStarting) == 0
		unsure = unsure || s.Unsure()
		for _, m := range s.Moments() {
			for _, f := range m.FalseNotFound {
				names[f.Group+"/"+f.Version+"/"+f.Resource] = true
			}
		}
	}
	sum.Resources = len(names)
	switch {
	case len(b.now.Refused) > 0:
		sum.Verdict, sum.Text = report.VerdictNotReady, cmp.Or(r.Stopped, r.CannotTell)+"."
	case !starts:
		sum.Verdict, sum.Text = report.VerdictNotReady, "a server does not start."
	case sum.Failing > 0:
		sum.Verdict, sum.Text = report.VerdictNotReady, fmt.Sprintf("false 404s in %d of %d steps.", sum.Failing, sum.Steps)
	case r.CannotTell != "":
		sum.Verdict, sum.Text = report.VerdictCannotTell, r.CannotTell+"."
	case unsure:
		sum.Verdict, sum.Text = report.VerdictCannotTell, "who hands requests to whom is not known at every step."
	case len(r.Order) == 1:
		sum.Text = "one server: there is nothing to hand off."
	case len(names) > 0:
		sum.Text = "every server starts, and what can be handed off is."
	case len(r.Added)+len(r.Removed) == 0:
		sum.Text = "every server starts, and nothing differs between them."
	default:
		sum.Text = "every server starts, and hands on what it lacks."
	}
	r.Summary = sum
}

// Severity is how bad the worst of the roll as configured is; wrong is false where nothing is.
func Severity(r *report.PlanReport) (worst checks.Severity, wrong bool) {
	if r.Summary.Verdict == report.VerdictNotReady {
		return checks.Error, true
	}
	for i := range r.Steps {
		for _, m := range r.Steps[i].Moments() {
			if len(m.Unavailable) > 0 {
				return checks.Warning, true
			}
		}
	}
	return checks.Info, r.Summary.Resources > 0
}
