package handoff

import (
	"cmp"
	"slices"
	"strings"
)

// Resource is a resource or, with a slash in its name, a subresource of one version of an API group, which is "" for
// core.
type Resource struct{ Group, Version, Name string }

// Compare orders by group, version and name.
func (r Resource) Compare(o Resource) int {
	return cmp.Or(strings.Compare(r.Group, o.Group), strings.Compare(r.Version, o.Version),
		strings.Compare(r.Name, o.Name))
}

// parent is the resource of which r is a subresource; ok is false where it is none.
func (r Resource) parent() (parent Resource, ok bool) {
	parent = r
	parent.Name, _, ok = strings.Cut(r.Name, "/")
	return parent, ok
}

// Resources are what a server serves; nil is not known.
type Resources map[Resource]bool

// State is an API server with the release and the settings that it has in one part of a roll.
type State struct {
	Server
	// Direct, Trusts and Proves are this server's part in each Link from it: it asks no proxy, it takes the peers'
	// certificates, and it has a certificate to show to them. The others are its part in each Link to it: see Link.
	Direct, Trusts, Proves, Reached, Named, Accepts, Readable Answer
	// Starts: kube-apiserver runs with these settings.
	Starts Answer
	// AsksPeersAtStart: it is of 1.33 or 1.34. Such a server asks its peers only in the first second after they, or it,
	// have started, which may be too soon; it crashes where it can ask a peer and not read the answer; and it leaves
	// its identity lease behind when it ends, so that its peers go on offering what it served. All measured on 1.34.4.
	AsksPeersAtStart bool
	Serves           Resources
}

// Node is a control-plane node of a roll: its server before it is replaced, and after.
type Node struct {
	Name          string
	Before, After State
}

// Step is the replacing of one server.
type Step struct {
	// Node is the node's name, empty for the state before the roll.
	Node string
	// Down is the moment when the server is stopped and the next one does not run yet; nil before the roll.
	Down *Moment
	// Up is the moment when it runs again and the servers know each other.
	Up Moment
	// NotStarting are the nodes whose server does not start. It ends the roll: kubeadm brings the old server back,
	// which is the moment Up.
	NotStarting []string
}

// Moment is what the servers that run answer at one time.
type Moment struct {
	Pairs []Pair
	// Routes are for each server the resources that it lacks and that another server of the roll has, or had, or will
	// have.
	Routes []Route
	// Blind are the servers of which it is not known what they serve.
	Blind []string
	// Crashes are the servers that crash when they ask a peer.
	Crashes []Crash
}

// Pair says whether one server hands requests to another.
type Pair struct {
	From, To string
	Verdict  Answer
	Causes   []Cause
}

// Route is a resource that a server lacks, and what becomes of requests for it.
type Route struct {
	Server   string
	Resource Resource
	Outcome  Outcome
	// ServedBy are the servers that run and have it.
	ServedBy []string
	// Subresource: the server has the resource, and lacks this subresource of it.
	Subresource bool
	// Causes are why it is not handed off, or what is not known.
	Causes []Cause
	// ByGet: the answer to a GET shows the outcome. Otherwise discovery documents or settings do.
	ByGet bool
}

// Crash is a server that crashes on a peer.
type Crash struct {
	Server, Peer string
	Cause        Cause
	// Certain: else it may.
	Certain bool
}

// Walk replaces one server after the other. The first step is the state before. The roll ends early with a server that
// does not start.
func Walk(nodes []Node) []Step {
	w := walker{differing: differing(nodes)}
	for _, n := range nodes {
		w.servers = append(w.servers, server{name: n.Name, State: n.Before, up: true})
	}
	first := Step{}
	for i, n := range nodes {
		if n.Before.Starts == No {
			w.servers[i].up = false
			first.NotStarting = append(first.NotStarting, n.Name)
		}
	}
	first.Up = w.look()
	steps := []Step{first}
	if len(first.NotStarting) > 0 {
		return steps
	}
	for i, n := range nodes {
		step := Step{Node: n.Name}
		w.servers[i].up = false
		down := w.look()
		step.Down = &down
		w.servers[i].up = true
		w.latest++
		w.servers[i].started = w.latest
		if n.After.Starts == No {
			step.NotStarting = []string{n.Name}
			step.Up = w.look()
			return append(steps, step)
		}
		w.servers[i].State = n.After
		step.Up = w.look()
		steps = append(steps, step)
	}
	return steps
}

// differing are the resources that not all servers of a roll have, in order.
func differing(nodes []Node) []Resource {
	count := map[Resource]int{}
	known := 0
	for _, n := range nodes {
		for _, s := range []State{n.Before, n.After} {
			if s.Serves == nil {
				continue
			}
			known++
			for r, has := range s.Serves {
				if has {
					count[r]++
				}
			}
		}
	}
	var all []Resource
	for r, n := range count {
		if n < known {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, Resource.Compare)
	return all
}

// walker is the control plane at one time.
type walker struct {
	servers   []server
	differing []Resource
	// latest counts the servers that were started in the roll.
	latest int
}

type server struct {
	name string
	up   bool
	// started is the walker's count when it was started; 0: it was there before the roll.
	started int
	State
}

func (w *walker) look() Moment {
	var m Moment
	pairs := make([][]Pair, len(w.servers))
	for i, from := range w.servers {
		pairs[i] = make([]Pair, len(w.servers))
		for j, to := range w.servers {
			if i == j || !from.up {
				continue
			}
			p := judge(&from, &to)
			pairs[i][j] = p
			if !to.up {
				continue
			}
			m.Pairs = append(m.Pairs, p)
			if crash, ok := w.crashOf(&from, &to); ok {
				m.Crashes = append(m.Crashes, crash)
			}
		}
	}
	for i, s := range w.servers {
		switch {
		case !s.up:
		case s.Serves == nil:
			m.Blind = append(m.Blind, s.name)
		default:
			m.Routes = append(m.Routes, w.routes(i, pairs[i])...)
		}
	}
	return m
}

// judge is Judge with what an early release makes of it.
func judge(from, to *server) Pair {
	p := Pair{From: from.name, To: to.name}
	p.Verdict, p.Causes = Judge(from.Server, to.Server, link(from, to))
	if from.AsksPeersAtStart && p.Verdict != No {
		p.Verdict, p.Causes = Unknown, append(p.Causes, SenderAsksOnce)
	}
	return p
}

func link(from, to *server) Link {
	return Link{
		Reached: to.Reached, Named: to.Named, Trusted: from.Trusts, Accepted: both(from.Proves, to.Accepts),
		Readable: to.Readable,
		Direct:   from.Direct, Proved: Unknown,
	}
}

// crashOf tells whether a server of an early release crashes on a peer: whenever a server starts it asks each one that
// publishes an address, and takes no failure. The one that has just started may not publish its address yet, and then
// is not asked before the next one starts. Who answers at an address that is another server's is not known.
func (w *walker) crashOf(from, to *server) (c Crash, ok bool) {
	fit := Server{Gate: Yes, PeerCA: Yes, Identity: Yes, Address: Yes}
	answer, causes := Judge(fit, fit, link(from, to))
	if answer == Yes && to.Address != Yes {
		answer, causes = Unknown, []Cause{SharedAddress}
	}
	if !from.AsksPeersAtStart || answer == Yes {
		return Crash{}, false
	}
	asks := both(both(from.Gate, from.PeerCA), both(to.Gate, apart(from.Identity, to.Identity)))
	if asks == No {
		return Crash{}, false
	}
	return Crash{
		Server: from.name, Peer: to.name, Cause: causes[0],
		Certain: asks == Yes && answer == No && to.Address == Yes && to.started < w.latest,
	}, true
}

// routes finds out what becomes of requests to a server for what it lacks.
func (w *walker) routes(i int, pairs []Pair) []Route {
	s := &w.servers[i]
	var routes []Route
	for _, r := range w.differing {
		if s.Serves[r] {
			continue
		}
		route := Route{Server: s.name, Resource: r}
		parent, sub := r.parent()
		route.Subresource = sub && s.Serves[parent]
		var holders []Holder
		blind, random := false, false
		for j := range w.servers {
			peer := &w.servers[j]
			switch {
			case i == j:
				continue
			case peer.Serves == nil:
				blind = blind || peer.up
				continue
			case !peer.Serves[r]:
				random = random || sub && peer.up && peer.Serves[parent] && pairs[j].Verdict != No
				continue
			}
			holders = append(holders, Holder{Handed: pairs[j].Verdict, Up: peer.up,
				Remembered: !peer.up && peer.AsksPeersAtStart})
			if peer.up {
				route.ServedBy = append(route.ServedBy, peer.name)
				route.addCauses(pairs[j].Causes)
			}
		}
		route.Outcome = OutcomeOf(route.Subresource, holders)
		if route.Outcome == Unserved && blind {
			route.Outcome = Unsure
		}
		if route.Subresource || route.Outcome == HandedOff {
			route.Causes = nil
		}
		if route.Outcome == HandedOff && random {
			route.Outcome, route.Causes = Unsure, []Cause{RandomPeer}
		}
		routes = append(routes, route)
	}
	return routes
}

func (r *Route) addCauses(causes []Cause) {
	for _, c := range causes {
		if !slices.Contains(r.Causes, c) {
			r.Causes = append(r.Causes, c)
		}
	}
}
