package report

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// The control planes of the tests. What a report says is the business of the rules; here it is plausible, no more.

func probeOf(servers ...Server) *ProbeReport {
	r := &ProbeReport{
		APIVersion: APIVersion, Kind: KindProbe, Version: "v0.1.0",
		Context: "admin@prod", Found: "endpoints of default/kubernetes",
		Time:    time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC),
		Servers: servers,
		Passed:  rules("MVP503 MVP505 MVP506 MVP507 MVP508 MVP509 MVP511 MVP514 MVP515 MVP516"),
	}
	for i := range servers {
		for k := range servers {
			if i != k {
				r.Pairs = append(r.Pairs, Pair{From: servers[i].Name, To: servers[k].Name, Verdict: "yes"})
			}
		}
	}
	return r
}

// add counts what is in the report.
func add(r *ProbeReport, releases int, verdict Verdict, text string) *ProbeReport {
	r.Summary = ProbeSummary{Servers: len(r.Servers), Releases: releases, Verdict: verdict, Text: text}
	for _, s := range r.Servers {
		switch s.Result {
		case "ok":
			r.Summary.OK++
		case "fail":
			r.Summary.Failing++
		default:
			r.Summary.Unknown++
		}
	}
	for _, f := range r.Findings {
		switch f.Severity {
		case SeverityError:
			r.Summary.Errors++
		case SeverityWarning:
			r.Summary.Warnings++
		default:
			r.Summary.Infos++
		}
	}
	return r
}

func probed(number int, release string, local, merged int, says string) Server {
	s := Server{
		Name: fmt.Sprintf("cp-%d", number), Node: fmt.Sprintf("cp-%d", number), Address: fmt.Sprintf("192.0.2.%d:6443", 10+number),
		Release: release, Gate: "on", PeerCA: "yes", PublishedAddress: fmt.Sprintf("192.0.2.%d:6443", 10+number),
		Local: local, Merged: merged, Result: "ok", Says: says,
	}
	return s
}

func unreached(number int) Server {
	s := probed(number, "", -1, -1, "cannot be asked")
	s.Gate, s.PeerCA, s.PublishedAddress, s.Result = "unknown", "unknown", "", "unknown"
	return s
}

// setPairs sets the verdict on pairs; an empty name stands for any server.
func setPairs(r *ProbeReport, from, to, verdict string, reasons ...string) {
	for i := range r.Pairs {
		if p := &r.Pairs[i]; (from == "" || from == p.From) && (to == "" || to == p.To) {
			p.Verdict, p.Reasons = verdict, slices.Clone(reasons)
		}
	}
}

func mutating(server, proof string, servedBy ...string) []Route {
	var routes []Route
	for _, resource := range rules("mutatingadmissionpolicies mutatingadmissionpolicybindings") {
		routes = append(routes, Route{Server: server, Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource, ServedBy: slices.Clone(servedBy), Proof: proof})
	}
	return routes
}

func handedOff() *ProbeReport {
	r := probeOf(
		probed(1, "v1.36.3", 68, 68, "ok"),
		probed(2, "v1.35.4", 66, 68, "ok, hands 2 resources to cp-1"),
		probed(3, "v1.35.4", 66, 68, "ok, hands 2 resources to cp-1"),
	)
	r.HandedOff = append(mutating("cp-2", "named-get", "cp-1"), mutating("cp-3", "documents", "cp-1")...)
	r.LeftOut = []ProbeLeftOut{{Group: "cert-manager.io", Version: "v1", Kind: "custom-resources"}}
	return add(r, 2, VerdictReady, "Each server hands on what it lacks: go on with the upgrade.")
}

// withoutCA is the control plane of the design's example.
func withoutCA() *ProbeReport {
	broken := probed(3, "v1.35.4", 66, 66, "FALSE 404 for 2 resources")
	broken.PeerCA, broken.Result = "no", "fail"
	r := probeOf(
		probed(1, "v1.36.3", 68, 68, "ok"),
		probed(2, "v1.35.4", 66, 68, "ok, hands 2 resources to cp-1"),
		broken,
	)
	setPairs(r, "cp-3", "", "no", "cp-3 runs without --peer-ca-file")
	r.HandedOff = mutating("cp-2", "named-get", "cp-1")
	r.FalseNotFound = mutating("cp-3", "named-get", "cp-1")
	r.Findings = []Finding{{
		Rule: "MVP504", Name: "no-peer-proxy-live", Severity: SeverityError, Servers: []Text{"cp-3"},
		Message: "runs without --peer-ca-file: it hands nothing to its peers.",
		Effects: []Effect{{
			Rules: rules("MVP501 MVP502"), Server: "cp-3",
			Message: "answers 404 for admissionregistration.k8s.io/v1 mutatingadmissionpolicies, mutatingadmissionpolicybindings, which cp-1 serves",
		}},
		Seen: []Text{
			"/readyz lacks the hook mixed-version-proxy-handler",
			`GET of an object name: "no such resource" here, "not found" on cp-1`,
		},
		Fix:  "add peer-ca-file to ClusterConfiguration and regenerate the manifest on cp-3",
		Help: "docs/rules/MVP504.md", Consequence: "false-404",
	}}
	return add(r, 2, VerdictNotReady, "Do not go on with the upgrade.")
}

// completeProbe is a report in which every field has a value.
func completeProbe() *ProbeReport {
	r := withoutCA()
	r.Replayed = "evidence.json"
	r.Refused = mutating("cp-1", "named-get", "cp-2")
	r.Servers[0].Release, r.Servers[0].Emulated = "v1.37.2", "1.36"
	r.Findings[0].Why = "until cp-3 is mended, clients that reach it are told that these resources do not exist; garbage collection and namespace deletion believe it."
	r.Findings = append(r.Findings,
		Finding{
			Rule: "MVP508", Name: "one-address-for-several", Severity: SeverityError, Servers: []Text{"cp-1", "cp-2"},
			Message: "both publish 192.0.2.10:6443: their peers reach only one of them.",
			Why:     "a request for the one may end at the other.",
			Effects: []Effect{
				{Rules: rules("MVP501"), Server: "cp-3", Message: "answers 404 for resource.k8s.io/v1 devicetaintrules, which cp-1 serves"},
				{Message: "the whole control plane is concerned"},
			},
			Seen: []Text{"lease apiserver-aaaa: 192.0.2.10:6443", "lease apiserver-bbbb: 192.0.2.10:6443"},
			Fix:  "remove advertise-address from ClusterConfiguration",
			Help: "docs/rules/MVP508.md", Consequence: "false-404",
		},
		Finding{
			Rule: "MVP511", Name: "peer-gone", Severity: SeverityWarning,
			Message: "the lease of a server that is gone is an hour old.",
			Help:    "docs/rules/MVP511.md", Consequence: "none",
		},
		Finding{
			Rule: "MVP513", Name: "evidence-limited", Severity: SeverityInfo, Servers: []Text{"cp-2"},
			Message: "/metrics is forbidden: whether peers refuse the caller cannot be told.",
			Why:     "the counters of rerouted requests stand there.",
			Seen:    []Text{"GET /metrics: 403"},
			Fix:     "bind the user to the ClusterRole system:monitoring",
			Help:    "docs/rules/MVP513.md", Consequence: "none",
		},
	)
	r.LeftOut = []ProbeLeftOut{
		{Group: "cert-manager.io", Version: "v1", Kind: "custom-resources"},
		{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "custom-resources"},
		{Group: "gateway.networking.k8s.io", Version: "v1beta1", Kind: "custom-resources"},
		{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "aggregated", Stale: "endpoints for service/metrics-server have no addresses"},
	}
	r.Notes = []string{"the servers' clocks differ by 3 s"}
	r.Skipped = append(skipped("/metrics is forbidden", "MVP505 MVP506"), skipped("no mirror pods", "MVP509")...)
	setPairs(r, "cp-1", "cp-2", "unknown", "/metrics is forbidden on cp-1", "no named GET was asked")
	r.Evidence = []evidence.Request{
		{Server: "192.0.2.11:6443", Path: "/apis", Status: 200, Bytes: 51234, SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Milliseconds: 12},
		{Server: "192.0.2.11:6443", Path: "/apis", Profile: "nopeer", Status: 200, Bytes: 50012, Milliseconds: 9},
		{Server: "192.0.2.12:6443", Path: "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/mvpcheck", Local: true, Status: 404, Bytes: 19, Milliseconds: 2},
		{Server: "192.0.2.13:6443", Path: "/metrics", Milliseconds: 10000, Error: "no answer within 10 s"},
	}
	return add(r, 2, VerdictNotReady, "Do not go on with the upgrade.")
}

func unreachable() *ProbeReport {
	r := probeOf(
		probed(1, "v1.36.3", 68, 68, "ok"),
		probed(2, "v1.35.4", 66, 68, "ok, hands 2 resources to cp-1"),
		unreached(3),
	)
	setPairs(r, "cp-3", "", "unknown", "cp-3 cannot be asked")
	setPairs(r, "", "cp-3", "unknown", "cp-3 cannot be asked")
	r.HandedOff = mutating("cp-2", "named-get", "cp-1")
	r.Findings = []Finding{{
		Rule: "MVP510", Name: "server-unreachable", Severity: SeverityError, Servers: []Text{"cp-3"},
		Message: "cannot be asked: connection refused.",
		Why:     "what it answers, and whether its peers reach it, is not known.",
		Seen:    []Text{"GET /version: dial tcp 192.0.2.13:6443: connect: connection refused"},
		Fix:     "start kube-apiserver on cp-3, or run mvpcheck where it can be reached",
		Help:    "docs/rules/MVP510.md", Consequence: "none",
	}}
	return add(r, 2, VerdictCannotTell, "Nothing is known of cp-3: do not go on before it has been asked.")
}

func oneRelease() *ProbeReport {
	r := probeOf(probed(1, "v1.36.3", 68, 68, "ok"), probed(2, "v1.36.3", 68, 68, "ok"), probed(3, "v1.36.3", 68, 68, "ok"))
	r.Findings = []Finding{{
		Rule: "MVP517", Name: "nothing-to-prove", Severity: SeverityInfo,
		Message: "all servers serve the same 68 resources, so that no hand-off can be shown; proved is that each runs the peer proxy and reads its peers' discovery.",
		Why:     "a request is handed on only where a server lacks what a peer has.",
		Seen:    []Text{"hook mixed-version-proxy-handler on 3 of 3", `rerouted requests with code "200" on 3 of 3`},
		Fix:     "probe again when the first server has been upgraded",
		Help:    "docs/rules/MVP517.md", Consequence: "none",
	}}
	return add(r, 1, VerdictReady, "All is set for the hand-off: go on with the upgrade, and probe after each server.")
}

// fifty servers, one of them without its CA, some of them out of reach.
func fifty() *ProbeReport {
	var servers []Server
	for i := range 50 {
		s := probed(i+1, "v1.35.4", 66, 68, "ok, hands 2 resources to cp-1")
		switch {
		case i == 0:
			s = probed(1, "v1.36.0", 68, 68, "ok")
		case i == 20:
			s.PeerCA, s.Merged, s.Result, s.Says = "no", 66, "fail", "FALSE 404 for 2 resources"
		case i > 44:
			s = unreached(i + 1)
		}
		servers = append(servers, s)
	}
	r := probeOf(servers...)
	setPairs(r, "cp-21", "", "no", "cp-21 runs without --peer-ca-file")
	finding := withoutCA().Findings[0]
	finding.Servers, finding.Effects[0].Server = []Text{"cp-21"}, "cp-21"
	r.FalseNotFound = mutating("cp-21", "named-get", "cp-1")
	gone := unreachable().Findings[0]
	gone.Servers = nil
	for i := 46; i <= 50; i++ {
		name := fmt.Sprintf("cp-%d", i)
		gone.Servers = append(gone.Servers, Text(name))
		setPairs(r, name, "", "unknown", "no answer")
		setPairs(r, "", name, "unknown", "no answer")
	}
	r.Findings = []Finding{finding, gone}
	return add(r, 2, VerdictNotReady, "Do not go on with the upgrade.")
}

// longNames has servers as a cloud names them.
func longNames() *ProbeReport {
	r := completeProbe()
	long := map[string]string{}
	for i := range r.Servers {
		s := &r.Servers[i]
		host := fmt.Sprintf("ip-10-0-12-3%d.eu-central-1.compute.internal", i)
		long[s.Name] = host
		s.Name, s.Node, s.Address = host, host, host+":6443"
	}
	for i := range r.Pairs {
		r.Pairs[i].From, r.Pairs[i].To = long[r.Pairs[i].From], long[r.Pairs[i].To]
	}
	for i := range r.Findings {
		for k, name := range r.Findings[i].Servers {
			r.Findings[i].Servers[k] = Text(long[string(name)])
		}
		for k := range r.Findings[i].Effects {
			e := &r.Findings[i].Effects[k]
			e.Server = Text(long[string(e.Server)])
		}
	}
	for _, routes := range [][]Route{r.HandedOff, r.FalseNotFound} {
		for i := range routes {
			routes[i].Server, routes[i].ServedBy = long[routes[i].Server], []string{long[routes[i].ServedBy[0]]}
		}
	}
	return r
}

// eachString changes every string below v in place; field is the name of the struct field that holds it, or the list.
func eachString(v reflect.Value, field string, change func(field, s string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		eachString(v.Elem(), field, change)
	case reflect.String:
		v.SetString(change(field, v.String()))
	case reflect.Slice:
		for i := range v.Len() {
			eachString(v.Index(i), field, change)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "SourceLine" { // it is not for documents
				eachString(v.Field(i), name, change)
			}
		}
	}
}

// states are the fields that hold one of a few words.
var states = rules("APIVersion Kind Gate PeerCA Result Verdict Proof Severity Consequence")

// spoilt is a complete report with more text at the end of every string that is free, or with states of every string.
func spoilt(text string, withStates bool) *ProbeReport {
	r := completeProbe()
	r.Evidence[0].Profile = "x"
	eachString(reflect.ValueOf(r), "", func(field, s string) string {
		if !withStates && slices.Contains(states, field) {
			return s
		}
		return s + text
	})
	return r
}
