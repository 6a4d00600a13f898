package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
)

// findRoutes finds out what becomes of requests for the resources that not every server has.
func (s *liveState) findRoutes() {
	for _, r := range s.cp.Doubtful() {
		var serving []*liveServer
		for _, v := range s.servers {
			// What its document lists and its answer to a GET denies is not served.
			if o := v.Evidence.Object(r); v.Evidence.Serves(r) && (o == nil || o.Alone != evidence.NotServed) {
				serving = append(serving, v)
			}
		}
		for _, v := range s.servers {
			if v.reached() && v.Evidence.Local.OK() && !v.Evidence.Serves(r) {
				s.addRoute(v, r, serving)
			}
		}
	}
}

func (s *liveState) addRoute(v *liveServer, r evidence.Resource, serving []*liveServer) {
	route := &liveRoute{
		Route: handoff.Route{
			Server: v.Name, Outcome: handoff.Unsure,
			Resource: handoff.Resource{Group: r.Group, Version: r.Version, Name: r.Resource},
		},
		resource: r, from: v, serving: serving,
		merged: v.Evidence.Merged.OK() && v.Evidence.Merged.Lists(r),
	}
	for _, peer := range serving {
		route.ServedBy = append(route.ServedBy, peer.Name)
	}
	if len(serving) == 0 && !route.merged {
		return
	}
	if name, _, sub := strings.Cut(r.Resource, "/"); sub {
		parent := r
		parent.Resource = name
		route.Subresource = v.Evidence.Serves(parent)
	}
	object := v.Evidence.Object(r)
	switch {
	case object != nil && object.Alone == evidence.Served:
		return // it has it by now
	case object != nil && object.Asked == evidence.Served:
		route.Outcome, route.ByGet = handoff.HandedOff, true
	case object != nil && object.Asked == evidence.NotServed:
		route.Outcome, route.ByGet = handoff.NotFound, true
	case object != nil && object.Asked == evidence.Unavailable:
		route.Outcome, route.ByGet = handoff.Unavailable, true
	case object != nil && object.Asked == evidence.Denied && object.Alone == evidence.NotServed:
		// The server itself lets the user ask, so it is the peer that does not: it takes the sender for the user.
		route.Outcome, route.ByGet = handoff.Refused, true
	case r.Group == "" || route.Subresource:
		// Discovery of the core group is never merged, and that of a subresource tells nothing.
	case route.bySettings() == handoff.NotFound:
		route.Outcome = handoff.NotFound
	case v.Evidence.Merged.OK() && v.release.Does(release.MergesDiscovery):
		route.Outcome = handoff.NotFound
		if route.merged {
			route.Outcome = handoff.HandedOff
		}
	}
	route.lackedBy = s.mayLack(route)
	s.routes = append(s.routes, route)
}

// doubtRoutes takes back what was seen of a request where another one may get another answer.
func (s *liveState) doubtRoutes() {
	for _, r := range s.routes {
		r.lackedBy = slices.DeleteFunc(r.lackedBy, func(p *liveServer) bool {
			pair := s.pair(r.from, p)
			return pair.Verdict == handoff.No && len(pair.Causes) > 0
		})
		if len(r.lackedBy) > 0 && r.Outcome == handoff.HandedOff {
			r.Outcome, r.ByGet = handoff.Unsure, false
		}
	}
}

// mayLack returns the peers that the server may ask for a resource which they do not have. Of the peers whose discovery has it, a
// server asks one at random. Subresources do not count in that; and a server before 1.35 takes for a peer's what the peer
// lists of its own peers.
func (s *liveState) mayLack(r *liveRoute) (peers []*liveServer) {
	parent := r.resource
	name, _, sub := strings.Cut(r.resource.Resource, "/")
	parent.Resource = name
	readsMerged := !r.from.release.IsZero() && r.from.release.Does(release.ReadsMergedDiscovery)
	for _, p := range s.servers {
		if p == r.from || !p.reached() || slices.Contains(r.serving, p) {
			continue
		}
		lists := readsMerged && p.release.Does(release.MergesDiscovery) && p.Evidence.Merged.OK() && p.Evidence.Merged.Lists(r.resource)
		if lists || sub && !r.Subresource && p.Evidence.Serves(parent) {
			peers = append(peers, p)
		}
	}
	return peers
}

// bySettings tells the outcome as far as the settings of the sender alone decide it.
func (r *liveRoute) bySettings() handoff.Outcome {
	sender := handoff.Server{Gate: r.from.Gate, PeerCA: r.from.PeerCA, Identity: handoff.Unknown}
	peer := handoff.Server{Gate: handoff.Unknown, Identity: handoff.Unknown, Address: handoff.Unknown}
	handed, _ := handoff.Judge(sender, peer, unknownLink)
	return handoff.OutcomeOf(r.Subresource, []handoff.Holder{{Handed: handed, Up: true}})
}

// between returns the routes that would lead from one server to the other and no third, as far as they are for the
// servers to hand on.
func (s *liveState) between(from, to *liveServer) []*liveRoute {
	var routes []*liveRoute
	for _, r := range s.routes {
		if r.from == from && !r.Subresource && slices.Contains(r.serving, to) {
			routes = append(routes, r)
		}
	}
	return routes
}

func (s *liveState) findPairs() {
	for _, from := range s.servers {
		for _, to := range s.servers {
			if from == to || !from.reached() {
				continue
			}
			verdict, causes := handoff.Judge(from.side(), to.side(), s.link(from, to))
			if !to.reached() && verdict != handoff.No {
				verdict, causes = handoff.Unknown, []handoff.Cause{handoff.PeerUnreachable}
			}
			s.pairs = append(s.pairs, &livePair{handoff.Pair{From: from.Name, To: to.Name, Verdict: verdict, Causes: causes}, from, to})
		}
	}
}

func (s *liveState) pair(from, to *liveServer) *livePair {
	for _, p := range s.pairs {
		if p.from == from && p.to == to {
			return p
		}
	}
	return &livePair{handoff.Pair{From: from.Name, To: to.Name, Verdict: handoff.Unknown}, from, to}
}

// side is what the server itself brings to a hand-off.
func (v *liveServer) side() handoff.Server {
	side := handoff.Server{Gate: v.Gate, PeerCA: v.PeerCA, Identity: handoff.Unknown, Address: handoff.Unknown}
	if v.lease != nil {
		side.Identity = handoff.Yes
	}
	if v.sharesIdentity {
		side.Identity = handoff.No
	}
	if v.Published != "" {
		side.Address = yesNo(!v.sharesAddress)
	}
	return side
}

// unknownLink is a way between two servers of which nothing is known.
var unknownLink = handoff.Link{
	Reached: handoff.Unknown, Named: handoff.Unknown, Trusted: handoff.Unknown, Accepted: handoff.Unknown,
	Readable: handoff.Unknown, Direct: handoff.Unknown, Proved: handoff.Unknown,
}

// link is what the evidence tells of the way between two servers.
func (s *liveState) link(from, to *liveServer) handoff.Link {
	l := unknownLink
	l.Proved = s.proved(from, to)
	// A proxy that nothing tells of leaves open whether the peer is trusted.
	l.Direct = yesNo(len(proxied(from, []*liveServer{to})) == 0)
	if d := to.dial; d != nil {
		l.Reached = yesNo(d.Connected)
		if d.Connected {
			l.Named, l.Trusted = yesNo(d.Named), yesNo(d.Trusted)
			if d.Unverified {
				l.Trusted = handoff.Unknown
			}
		}
		if !d.Connected && !to.reached() {
			// Whether it answers its peers cannot be seen from here.
			l.Reached = handoff.Unknown
		}
	}
	c := from.calls()
	if s.refuses(to, from) {
		l.Accepted = handoff.No
	}
	if !c.told {
		if l.Trusted == handoff.Yes {
			l.Trusted = handoff.Unknown // by the sender's CA, which nothing has shown
		}
		return l
	}
	switch {
	case c.unavailable > 0 && c.ok == 0 && l.Trusted != handoff.No && s.othersReachable(from):
		l.Trusted = handoff.No
	case c.ok == 0 && l.Trusted == handoff.Yes:
		l.Trusted = handoff.Unknown
	}
	if s.hasReadAll(from) {
		// Wherever we look from, and whatever CA we know: the peer's address has answered this server, and was trusted.
		l.Reached = handoff.Yes
		if l.Named != handoff.No {
			l.Named, l.Trusted = handoff.Yes, handoff.Yes
		}
	}
	if l.Accepted != handoff.No {
		l.Accepted = judgeCalls(c.unauthorized, c.ok)
	}
	l.Readable = judgeCalls(c.forbidden, c.ok)
	if !s.countsForAll(from) {
		if l.Accepted == handoff.Yes {
			l.Accepted = handoff.Unknown
		}
		if l.Readable == handoff.Yes {
			l.Readable = handoff.Unknown
		}
	}
	return l
}

// refuses tells whether a server has answered a request that another one handed on for a client with 401 or 403.
func (s *liveState) refuses(v, sender *liveServer) bool {
	return slices.ContainsFunc(s.between(sender, v), func(r *liveRoute) bool { return r.Outcome == handoff.Refused && len(r.serving) == 1 })
}

// countsForAll tells whether a server's counters speak for each of its peers. Each peer is asked for two documents, so fewer
// answers do not. Nor do any of 1.34 and older with several peers: such a server forgets a peer after five tries within
// a second, and reads the others again with each of these (measured on 1.34.4).
func (s *liveState) countsForAll(v *liveServer) bool {
	return s.peers() > 0 && v.calls().read >= 2*s.peers() && (s.peers() == 1 || !v.release.Does(release.AsksPeersAtStart))
}

// hasReadAll tells whether a server has read the discovery documents of all its peers, and no request of it has failed.
func (s *liveState) hasReadAll(v *liveServer) bool {
	c := v.calls()
	return s.countsForAll(v) && c.unavailable+c.unauthorized+c.forbidden == 0
}

// readByAPeer tells whether such a server has read the documents of this one.
func (s *liveState) readByAPeer(v *liveServer) bool {
	return slices.ContainsFunc(s.servers, func(from *liveServer) bool { return from != v && s.hasReadAll(from) })
}

func judgeCalls(refused, ok float64) handoff.Answer {
	switch {
	case refused > 0 && ok == 0:
		return handoff.No
	case refused > 0 || ok == 0:
		// Some of the requests were refused at some time since the start.
		return handoff.Unknown
	}
	return handoff.Yes
}

// othersReachable: nothing is wrong with the peers themselves that would explain why all requests to them fail.
func (s *liveState) othersReachable(from *liveServer) bool {
	for _, v := range s.servers {
		if v != from && v.dial != nil && v.dial.Connected && v.dial.Named && (v.dial.Trusted || v.dial.Unverified) {
			return true
		}
	}
	return false
}

// calls are the requests that a server has sent to its peers since its start, by their end.
type calls struct {
	told bool
	// read are the discovery documents that it got, ok these and all other answers that only a peer with the resource gives.
	read, ok, unavailable, unauthorized, forbidden float64
}

func (v *liveServer) calls() calls {
	m := v.Evidence.Metrics
	if !m.OK() {
		return calls{}
	}
	c := calls{told: true}
	for _, n := range m.Latest().Rerouted {
		// Where requests of clients are told apart, these show what the client may and whether a peer is just gone.
		// A 404 for an object is an answer as good as 200.
		client := n.Resource.Resource != ""
		if n.Code == "200" && !client {
			c.read += n.Value
		}
		switch {
		case n.Code == "200", n.Code == "404" && client, n.Code == "404" && !v.release.Does(release.CountsReroutedByResource):
			c.ok += n.Value
		case n.Code == "503":
			c.unavailable += n.Value
		case n.Code == "401":
			c.unauthorized += n.Value
		case n.Code == "403" && !client:
			c.forbidden += n.Value
		}
	}
	return c
}

// proved tells what requests have shown. Which of several peers has answered one cannot be seen, so it counts only where
// this peer alone could; that none has answered counts for each of them.
func (s *liveState) proved(from, to *liveServer) handoff.Answer {
	for _, r := range s.between(from, to) {
		switch {
		case r.Outcome == handoff.HandedOff && len(r.serving) == 1:
			return handoff.Yes
		case r.Outcome == handoff.NotFound && len(r.lackedBy) == 0, (r.Outcome == handoff.Unavailable || r.Outcome == handoff.Refused) && len(r.serving) == 1:
			return handoff.No
		}
	}
	return handoff.Unknown
}

// listRoutes says which resources routes are about: the group version once, then the names.
func listRoutes(routes []*liveRoute) string {
	const most = 12
	var b strings.Builder
	last := ""
	for i, r := range routes {
		if i == most && len(routes) > most+1 {
			fmt.Fprintf(&b, " and %d more", len(routes)-most)
			break
		}
		gv := r.resource.GroupVersion()
		switch {
		case gv == last:
			b.WriteString(", ")
		case i > 0:
			b.WriteString("; " + gv + " ")
		default:
			b.WriteString(gv + " ")
		}
		b.WriteString(r.Resource.Name)
		last = gv
	}
	return b.String()
}

// servedBy joins the names of the servers that serve all of the routes' resources.
func servedBy(routes []*liveRoute) string {
	var names []string
	for _, r := range routes {
		for _, name := range r.ServedBy {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return joinNames(names)
}

// joinNames is the names of servers in a sentence.
func joinNames(names []string) string {
	return cmp.Or(text.And(names), "no server")
}
