package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// ProbeReportOf is what the rules say of a live control plane, with the evidence.
func ProbeReportOf(cp *evidence.ControlPlane, res *checks.LiveResult) *ProbeReport {
	r := &ProbeReport{
		Context: cp.Context, Found: cp.Found, Time: cp.Started, Evidence: cp.Requests,
		CannotTell: res.CannotTell,
	}
	for i := range res.Servers {
		r.Servers = append(r.Servers, serverOf(&res.Servers[i]))
	}
	for _, p := range res.Pairs {
		r.Pairs = append(r.Pairs, PairOf(p))
	}
	for i := range res.Routes {
		route := liveRouteOf(&res.Routes[i])
		switch res.Routes[i].Outcome {
		case handoff.NotFound:
			r.FalseNotFound = append(r.FalseNotFound, route)
		case handoff.HandedOff:
			r.HandedOff = append(r.HandedOff, route)
		case handoff.Refused:
			r.Refused = append(r.Refused, route)
		}
	}
	leftOut(r, cp)
	for i := range res.Findings {
		r.Findings = append(r.Findings, liveFindingOf(&res.Findings[i]))
	}
	for _, rule := range res.Passed {
		r.Passed = append(r.Passed, rule.ID)
	}
	r.Skipped = skippedOf(slices.Concat(res.Skipped, res.Unknown))
	slices.SortFunc(r.Skipped, func(a, b Skipped) int { return strings.Compare(a.Rule, b.Rule) })
	r.Summary = probeSummary(r, res)
	return r
}

// PairOf is one verdict, whether of live servers or of a plan; where it is unknown the reasons are one.
func PairOf(p handoff.Pair) Pair {
	pair := Pair{From: p.From, To: p.To, Verdict: string(p.Verdict)}
	for _, c := range p.Causes {
		pair.Reasons = append(pair.Reasons, string(c))
	}
	if p.Verdict == handoff.Unknown && len(p.Causes) > 0 {
		pair.Reasons = []string{"not known: " + strings.Join(pair.Reasons, "; ")}
	}
	return pair
}

func serverOf(s *checks.LiveServer) Server {
	out := Server{
		Name: s.Name, Address: s.Evidence.Address, Node: s.Evidence.Node,
		Release: s.Evidence.Version.GitVersion, Emulated: s.Evidence.Version.Emulated,
		Gate: map[handoff.Answer]string{handoff.Yes: "on", handoff.No: "off", handoff.Unknown: "unknown"}[s.Gate], PeerCA: string(s.PeerCA),
		PublishedAddress: s.Published, Local: s.Local, Merged: s.Merged, Says: s.Says,
		Result: map[handoff.Answer]string{handoff.Yes: "ok", handoff.No: "fail", handoff.Unknown: "unknown"}[s.Result],
	}
	return out
}

func liveRouteOf(r *handoff.Route) Route {
	proof := "documents"
	if r.ByGet {
		proof = "named-get"
	}
	return Route{
		Server: r.Server, Group: r.Resource.Group, Version: r.Resource.Version, Resource: r.Resource.Name,
		ServedBy: r.ServedBy, Proof: proof,
	}
}

// leftOut lists the group versions that are not built in, and names those that are not to be had: they stop namespace
// deletion as a false 404 does, for another reason.
func leftOut(r *ProbeReport, cp *evidence.ControlPlane) {
	for _, s := range cp.Shared.APIServices.Items {
		group, version, ok := strings.Cut(s.GroupVersion, "/")
		if !ok {
			group, version = "", s.GroupVersion
		}
		out := ProbeLeftOut{Group: group, Version: version, Kind: "custom-resources"}
		if s.Service != "" {
			out.Kind = "aggregated"
		}
		if !s.Available {
			out.Stale = s.Reason
			if out.Stale == "" {
				out.Stale = "not available"
			}
			text := fmt.Sprintf("APIService %s.%s is not available (%s)", version, group, out.Stale)
			if s.Service != "" {
				text += ": its API server behind the service " + s.Service + " does not answer. Namespace deletion waits for it."
			}
			r.Notes = append(r.Notes, text)
		}
		r.LeftOut = append(r.LeftOut, out)
	}
}

func probeSummary(r *ProbeReport, res *checks.LiveResult) ProbeSummary {
	sum := ProbeSummary{Servers: len(r.Servers), Verdict: VerdictReady}
	minors := map[string]bool{}
	for i, s := range r.Servers {
		switch res.Servers[i].Result {
		case handoff.Yes:
			sum.OK++
		case handoff.No:
			sum.Failing++
		default:
			sum.Unknown++
		}
		if v, err := release.Parse(s.Release); err == nil {
			minors[v.MinorString()] = true
		}
	}
	sum.Releases = len(minors)
	failing := false
	for i := range res.Findings {
		f := &res.Findings[i]
		switch f.Severity {
		case checks.Error:
			sum.Errors++
			failing = failing || !f.Rule.Gap
		case checks.Warning:
			sum.Warnings++
		default:
			sum.Infos++
		}
	}
	switch {
	case failing, sum.Failing > 0: // also where the rules that would say so are left out
		sum.Verdict, sum.Text = VerdictNotReady, "Do not go on with the upgrade."
	case res.CannotTell != "":
		sum.Verdict, sum.Text = VerdictCannotTell, "Cannot tell: "+res.CannotTell+"."
	case sum.Warnings > 0:
		sum.Text = "Nothing stops the upgrade; look at the warnings first."
	case len(r.Servers) == 1:
		sum.Text = "One API server: there is nothing to hand off."
	case len(r.HandedOff) > 0:
		sum.Text = "The hand-off is proved."
	default:
		sum.Text = "All set for the hand-off; it shows when the first server is upgraded."
	}
	return sum
}
