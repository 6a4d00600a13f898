package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/text"
)

// foundBy says what names the server.
func (v *liveServer) foundBy() string {
	names := map[string]string{
		evidence.FromEndpoints: "listed by the EndpointSlice default/kubernetes", evidence.FromLease: "named by its identity lease",
		evidence.FromPod: "named by its mirror pod", evidence.FromGiven: "named with --server", evidence.FromKubeconfig: "the server of the kubeconfig",
	}
	var parts []string
	for _, source := range v.Evidence.FoundBy {
		parts = append(parts, names[source])
	}
	return strings.Join(parts, ", ")
}

// serverUnreachable is MVP510.
var serverUnreachable = &Rule{
	ID: "MVP510", Name: "server-unreachable", Severity: Error, Gap: true,
	Doc: Doc{
		What:  "An API server that the cluster lists, or that --server names, cannot be asked.",
		Why:   "The verdict is incomplete: nothing is known of this server, and the exit code is 3.",
		Fix:   "Make sure that the server runs and can be reached from here with the kubeconfig's credentials, or run mvpcheck on a control-plane node.",
		Facts: []string{"H10"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		for _, v := range p.servers {
			if v.reached() {
				continue
			}
			seen := []string{v.foundBy()}
			if v.dial != nil && v.Published != v.Evidence.Address {
				seen = append(seen, fmt.Sprintf("TLS connection to %s: %s", v.Published, cmp.Or(v.dial.Error, "fine")))
			}
			if v.lease != nil {
				seen = append(seen, fmt.Sprintf("its identity lease was renewed %d s ago", int(p.cp.Shared.Leases.Now.Sub(v.lease.Renewed).Seconds())))
			}
			f := Finding{
				Severity: Error, Servers: []string{v.Name},
				Message: "cannot be asked: " + v.Evidence.Reached.Reason + ".",
				Why:     "nothing is known of this server, so the verdict is incomplete.",
				Seen:    seen,
				Fix:     "make sure that it runs and answers here, or run mvpcheck on a control-plane node; a node that is gone for good: wait until its lease has run out",
			}
			p.ReportCause(f, p.routesWhere(func(r *liveRoute) bool { return r.Outcome == handoff.Unavailable && len(r.serving) == 0 }))
		}
		if left := p.unlisted(); len(left) > 0 && !p.given() {
			var seen []string
			for _, l := range left {
				seen = append(seen, fmt.Sprintf("identity lease %s of host %q, renewed %d s ago", l.Name, l.Hostname, int(p.cp.Shared.Leases.Now.Sub(l.Renewed).Seconds())))
			}
			p.Report(Finding{
				Severity: Error,
				Message: fmt.Sprintf("%s, and the cluster names the addresses of %d only: the others could not be asked.",
					serversRun(len(p.fresh)), len(p.servers)),
				Why:  "nothing is known of the others, so the verdict is incomplete.",
				Seen: seen,
				Fix:  "ask again in a few seconds: a server that has just started is not in the endpoints yet; or name all servers with --server",
			})
		}
	},
}

// given tells whether the user has named the servers.
func (s *liveState) given() bool {
	return len(s.servers) > 0 && slices.Contains(s.servers[0].Evidence.FoundBy, evidence.FromGiven)
}

// publishedAddressDiffers is MVP509.
var publishedAddressDiffers = &Rule{
	ID: "MVP509", Name: "published-address-differs", Severity: Warning, HandOff: true,
	Doc: Doc{
		What:  "The address in a server's identity lease is not advertise-address with secure-port of its command line.",
		Why:   "Its peers use the address in the lease. Either the server still runs with older flags than its manifest has, or it honours other flags than are known here.",
		Fix:   "Restart kube-apiserver on that node and look at the lease again.",
		Facts: []string{"H8"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		known := 0
		for _, v := range p.servers {
			pod := evidence.Pod{Flags: v.flags}
			want := pod.Published()
			if v.flags == nil || want == "" || v.lease == nil || v.Published == "" {
				continue
			}
			known++
			if want != evidence.Canonical(v.Published) {
				p.Report(Finding{
					Severity: Warning, Servers: []string{v.Name},
					Message: fmt.Sprintf("publishes %s to its peers; by its flags it should be %s.", v.Published, want),
					Why:     "peers use the address in the identity lease.",
					Seen:    []string{"lease " + v.lease.Name + ": peer-advertise-address " + v.Published},
					Fix:     "restart kube-apiserver on " + v.Name + "; if it stays so, look at what sets its advertise-address",
				})
			}
		}
		if known == 0 {
			p.Skip("no server tells both its flags and its published address")
		}
	},
}

// tooManyReleases is MVP514.
var tooManyReleases = &Rule{
	ID: "MVP514", Name: "too-many-releases", Severity: Error, HandOff: true,
	Doc: Doc{
		What:  "The API servers are of minor releases that are more than one apart. Up to two apart the hand-off was seen to work, and this is a note.",
		Why:   "Kubernetes supports API servers of two neighbouring minors at a time; beyond that nothing is promised, and controllers may meet objects that a server cannot read.",
		Fix:   "Upgrade the oldest server first, one minor at a time.",
		Facts: []string{"H11"}, Since: liveSince,
	},
	Live: func(p *LivePass) {
		var oldest, newest *liveServer
		for _, v := range p.where(func(v *liveServer) bool { return v.minor != 0 }) {
			if oldest == nil || v.minor < oldest.minor {
				oldest = v
			}
			if newest == nil || v.minor > newest.minor {
				newest = v
			}
		}
		if oldest == nil {
			p.CannotTell("no server tells its version")
			return
		}
		apart := newest.minor - oldest.minor
		if apart < 2 {
			return
		}
		f := Finding{
			Severity: Info, Servers: []string{oldest.Name, newest.Name},
			Message: fmt.Sprintf("the servers are %d minor releases apart: 1.%d and 1.%d.", apart, oldest.minor, newest.minor),
			Why:     "Kubernetes supports one minor between API servers. Up to two apart, the hand-off was seen to work.",
			Seen:    []string{fmt.Sprintf("/version: %s %s, %s %s", oldest.Name, oldest.release, newest.Name, newest.release)},
			Fix:     "upgrade " + oldest.Name + " before you go on with the others",
		}
		if apart > 2 {
			f.Severity = Error
			f.Why = "Kubernetes supports one minor between API servers; this far apart nothing is known of the hand-off."
		}
		p.Report(f)
	},
}

// serversRun is "1 API server runs".
func serversRun(n int) string {
	return text.Count(n, "API server") + " " + text.Plural(n, "runs", "run")
}
