package handoff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	common  = Resource{"apps", "v1", "deployments"}
	added   = Resource{"example", "v1", "things"}
	inside  = Resource{"apps", "v1", "deployments/extra"}
	part    = Resource{"example", "v1", "things/status"}
	dropped = Resource{"example", "v1beta1", "things"}
)

// fit is a server of which everything is right.
func fit(serves ...Resource) State {
	s := State{
		Server: Server{Gate: Yes, PeerCA: Yes, Identity: Yes, Address: Yes},
		Direct: Yes, Trusts: Yes, Proves: Yes, Reached: Yes, Named: Yes, Accepts: Yes, Readable: Yes, Starts: Yes,
		Serves: Resources{common: true},
	}
	for _, r := range serves {
		s.Serves[r] = true
	}
	return s
}

func with(s State, change func(*State)) State {
	change(&s)
	return s
}

// rollOf are nodes that all change in the same way.
func rollOf(n int, before, after State) []Node {
	var nodes []Node
	for i := range n {
		nodes = append(nodes, Node{Name: fmt.Sprintf("cp-%d", i+1), Before: before, After: after})
	}
	return nodes
}

// brief is a walk in a few words: a line a moment with what is not handed off.
func brief(steps []Step) []string {
	var lines []string
	for i, s := range steps {
		for _, m := range []*Moment{s.Down, &s.Up} {
			if m == nil {
				continue
			}
			line := fmt.Sprintf("%d %s:", i, s.Node)
			if m == s.Down {
				line = fmt.Sprintf("%d %s down:", i, s.Node)
			}
			for _, r := range m.Routes {
				line += fmt.Sprintf(" %s %s %s", r.Server, r.Outcome, r.Resource.Name)
				if r.Resource.Version != "v1" {
					line += "@" + r.Resource.Version
				}
			}
			for _, b := range m.Blind {
				line += " " + b + " blind"
			}
			for _, c := range m.Crashes {
				line += fmt.Sprintf(" %s crashes on %s (%v)", c.Server, c.Peer, c.Certain)
			}
			if len(s.NotStarting) > 0 && m == &s.Up {
				line += " not starting: " + strings.Join(s.NotStarting, ",")
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func TestWalk(t *testing.T) {
	gateOff := func(s *State) { s.Gate, s.PeerCA = No, No }
	early := func(s *State) { s.AsksPeersAtStart = true }
	untrusting := with(fit(), func(s *State) { s.AsksPeersAtStart, s.Trusts = true, No })
	for _, tc := range []struct {
		name  string
		nodes []Node
		want  []string
	}{
		{"nothing differs", rollOf(2, with(fit(), gateOff), fit()), []string{"0 :", "1 cp-1 down:", "1 cp-1:", "2 cp-2 down:", "2 cp-2:"}},
		{"all right", rollOf(3, fit(), fit(added)), []string{
			"0 : cp-1 unserved things cp-2 unserved things cp-3 unserved things",
			"1 cp-1 down: cp-2 unserved things cp-3 unserved things",
			"1 cp-1: cp-2 handed-off things cp-3 handed-off things",
			"2 cp-2 down: cp-3 handed-off things",
			"2 cp-2: cp-3 handed-off things",
			"3 cp-3 down:", "3 cp-3:",
		}},
		{"the old servers have the gate off (H2)", rollOf(2, with(fit(), gateOff), fit(added)), []string{
			"0 : cp-1 unserved things cp-2 unserved things",
			"1 cp-1 down: cp-2 unserved things",
			"1 cp-1: cp-2 false-404 things",
			"2 cp-2 down:", "2 cp-2:",
		}},
		{"the new server lacks what the old one has, which publishes no address", rollOf(2, with(fit(dropped), gateOff), fit()), []string{
			"0 :", "1 cp-1 down:",
			"1 cp-1: cp-1 false-404 things@v1beta1",
			"2 cp-2 down: cp-1 unserved things@v1beta1",
			"2 cp-2: cp-1 unserved things@v1beta1 cp-2 unserved things@v1beta1",
		}},
		{"a subresource of what a server has", rollOf(2, fit(), fit(inside)), []string{
			"0 : cp-1 unserved deployments/extra cp-2 unserved deployments/extra",
			"1 cp-1 down: cp-2 unserved deployments/extra",
			"1 cp-1: cp-2 false-404 deployments/extra",
			"2 cp-2 down:", "2 cp-2:",
		}},
		{"a subresource that one of two peers lacks", []Node{
			{"cp-1", fit(added, part), fit(added, part)}, {"cp-2", fit(added), fit(added)}, {"cp-3", fit(), fit()},
		}, []string{
			"0 : cp-2 false-404 things/status cp-3 handed-off things cp-3 unknown things/status",
			"1 cp-1 down: cp-2 unserved things/status cp-3 handed-off things cp-3 unserved things/status",
			"1 cp-1: cp-2 false-404 things/status cp-3 handed-off things cp-3 unknown things/status",
			"2 cp-2 down: cp-3 handed-off things cp-3 handed-off things/status",
			"2 cp-2: cp-2 false-404 things/status cp-3 handed-off things cp-3 unknown things/status",
			"3 cp-3 down: cp-2 false-404 things/status",
			"3 cp-3: cp-2 false-404 things/status cp-3 handed-off things cp-3 unknown things/status",
		}},
		{"the next server does not start", rollOf(2, fit(), with(fit(added), func(s *State) { s.Starts = No })), []string{
			"0 : cp-1 unserved things cp-2 unserved things",
			"1 cp-1 down: cp-2 unserved things",
			"1 cp-1: cp-1 unserved things cp-2 unserved things not starting: cp-1",
		}},
		{"these are not what the servers run", rollOf(2, with(fit(), func(s *State) { s.Starts = No }), fit(added)), []string{
			"0 : not starting: cp-1,cp-2",
		}},
		{"an early server leaves its lease behind", rollOf(2, with(fit(dropped), early), fit()), []string{
			"0 :", "1 cp-1 down:",
			"1 cp-1: cp-1 handed-off things@v1beta1",
			"2 cp-2 down: cp-1 unavailable things@v1beta1",
			"2 cp-2: cp-1 unserved things@v1beta1 cp-2 unserved things@v1beta1",
		}},
		{"an early server may not know its peers", rollOf(2, with(fit(), early), fit(added)), []string{
			"0 : cp-1 unserved things cp-2 unserved things",
			"1 cp-1 down: cp-2 unserved things",
			"1 cp-1: cp-2 unknown things",
			"2 cp-2 down:", "2 cp-2:",
		}},
		{"a server that starts crashes on a peer that is there, not on one that starts after it", rollOf(2, untrusting, untrusting), []string{
			"0 : cp-1 crashes on cp-2 (false) cp-2 crashes on cp-1 (false)",
			"1 cp-1 down:",
			"1 cp-1: cp-1 crashes on cp-2 (true) cp-2 crashes on cp-1 (false)",
			"2 cp-2 down:",
			"2 cp-2: cp-1 crashes on cp-2 (false) cp-2 crashes on cp-1 (true)",
		}},
		{"whenever a server starts the early ones ask the others", rollOf(3, untrusting, fit()), []string{
			"0 : cp-1 crashes on cp-2 (false) cp-1 crashes on cp-3 (false) cp-2 crashes on cp-1 (false) cp-2 crashes on cp-3 (false) cp-3 crashes on cp-1 (false) cp-3 crashes on cp-2 (false)",
			"1 cp-1 down: cp-2 crashes on cp-3 (false) cp-3 crashes on cp-2 (false)",
			"1 cp-1: cp-2 crashes on cp-1 (false) cp-2 crashes on cp-3 (true) cp-3 crashes on cp-1 (false) cp-3 crashes on cp-2 (true)",
			"2 cp-2 down: cp-3 crashes on cp-1 (false)",
			"2 cp-2: cp-3 crashes on cp-1 (true) cp-3 crashes on cp-2 (false)",
			"3 cp-3 down:", "3 cp-3:",
		}},
		{"an early server may crash on a peer that starts after it and is not trusted", rollOf(2, untrusting, fit()), []string{
			"0 : cp-1 crashes on cp-2 (false) cp-2 crashes on cp-1 (false)",
			"1 cp-1 down:",
			"1 cp-1: cp-2 crashes on cp-1 (false)",
			"2 cp-2 down:", "2 cp-2:",
		}},
		{"an early server may crash on whoever answers for a peer", rollOf(2, with(fit(), func(s *State) { s.AsksPeersAtStart, s.Address = true, No }), fit()), []string{
			"0 : cp-1 crashes on cp-2 (false) cp-2 crashes on cp-1 (false)",
			"1 cp-1 down:",
			"1 cp-1:",
			"2 cp-2 down:", "2 cp-2:",
		}},
		{"an early server may crash on whoever answers for a peer and is not trusted", rollOf(2, with(fit(), func(s *State) { s.AsksPeersAtStart, s.Address, s.Trusts = true, No, No }), fit()), []string{
			"0 : cp-1 crashes on cp-2 (false) cp-2 crashes on cp-1 (false)",
			"1 cp-1 down:",
			"1 cp-1: cp-2 crashes on cp-1 (false)",
			"2 cp-2 down:", "2 cp-2:",
		}},
		{"an early server does not ask one with its own lease", rollOf(2, with(fit(), func(s *State) { s.AsksPeersAtStart, s.Identity, s.Trusts = true, No, No }), fit()), []string{
			"0 :",
			"1 cp-1 down:",
			"1 cp-1: cp-2 crashes on cp-1 (false)",
			"2 cp-2 down:", "2 cp-2:",
		}},
		{"an early server may crash on a peer that it may not trust", rollOf(2, with(fit(), func(s *State) { s.AsksPeersAtStart, s.Trusts = true, Unknown }), fit())[:1], []string{
			"0 :", "1 cp-1 down:", "1 cp-1:",
		}},
		{"it is not known what the new server serves", rollOf(2, fit(), with(fit(), func(s *State) { s.Serves = nil })), []string{
			"0 :", "1 cp-1 down:", "1 cp-1: cp-1 blind", "2 cp-2 down: cp-1 blind", "2 cp-2: cp-1 blind cp-2 blind",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, brief(Walk(tc.nodes))); d != "" {
				t.Errorf("steps (-want +got):\n%s", d)
			}
		})
	}
}

// What a server with everything unknown would answer is unknown, unless a subresource is asked for.
func TestWalkUnknown(t *testing.T) {
	doubtful := with(fit(), func(s *State) { s.Gate = Unknown })
	steps := Walk(rollOf(2, doubtful, fit(added, inside)))
	want := []string{"0 cp-1: cp-2 false-404 deployments/extra cp-2 unknown things"}
	if d := cmp.Diff(want, brief(steps[1:2])[1:]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	route := steps[1].Up.Routes[1]
	if d := cmp.Diff(Route{Server: "cp-2", Resource: added, Outcome: Unsure, ServedBy: []string{"cp-1"}, Causes: []Cause{SenderGateOff}}, route); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// FuzzWalk: whatever the facts are, a walk keeps its promises.
func FuzzWalk(f *testing.F) {
	f.Add([]byte("abc"))
	f.Add([]byte{0, 255, 3, 17, 42, 99, 1, 2, 3, 4, 5, 6, 7, 8, 9, 200, 201, 202})
	f.Fuzz(func(t *testing.T, data []byte) {
		nodes := randomNodes(data)
		steps := Walk(nodes)
		if len(steps) == 0 || len(steps) > len(nodes)+1 || steps[0].Down != nil {
			t.Fatalf("%d steps for %d nodes", len(steps), len(nodes))
		}
		for i, s := range steps {
			if ended := i == len(steps)-1; len(s.NotStarting) > 0 && !ended {
				t.Errorf("goes on after step %d, in which %v does not start", i, s.NotStarting)
			}
			up := len(nodes) - len(steps[0].NotStarting)
			checkMoment(t, &s.Up, up)
			if s.Down != nil {
				checkMoment(t, s.Down, len(nodes)-1)
				if slices.ContainsFunc(s.Down.Routes, func(r Route) bool { return r.Server == s.Node || slices.Contains(r.ServedBy, s.Node) }) {
					t.Errorf("%s answers or serves while it is stopped", s.Node)
				}
			}
		}
		if done := len(steps) == len(nodes)+1 && len(steps[len(steps)-1].NotStarting) == 0; done {
			for _, r := range steps[len(nodes)].Up.Routes {
				if n := nodes[slices.IndexFunc(nodes, func(n Node) bool { return n.Name == r.Server })]; n.After.Serves[r.Resource] {
					t.Errorf("%s lacks %v in the end", r.Server, r.Resource)
				}
			}
		}
	})
}

func checkMoment(t *testing.T, m *Moment, up int) {
	t.Helper()
	if len(m.Pairs) != up*(up-1) {
		t.Errorf("%d pairs of %d servers", len(m.Pairs), up)
	}
	verdicts := map[[2]string]Answer{}
	for _, p := range m.Pairs {
		verdicts[[2]string{p.From, p.To}] = p.Verdict
		if p.Verdict == Yes && len(p.Causes) > 0 || p.Verdict != Yes && len(p.Causes) == 0 {
			t.Errorf("%+v", p)
		}
	}
	for _, r := range m.Routes {
		handed := slices.ContainsFunc(r.ServedBy, func(to string) bool { return verdicts[[2]string{r.Server, to}] == Yes })
		switch {
		case slices.Contains(r.ServedBy, r.Server):
			t.Errorf("%s serves %v itself", r.Server, r.Resource)
		case r.Outcome == HandedOff && (!handed || r.Subresource),
			r.Outcome == NotFound && (len(r.ServedBy) == 0 || handed && !r.Subresource),
			(r.Outcome == Unserved || r.Outcome == Unavailable && !r.Subresource) && handed:
			t.Errorf("%+v", r)
		}
	}
}

// randomNodes makes nodes of bytes.
func randomNodes(data []byte) []Node {
	next := func() byte {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return b
	}
	answer := func() Answer { return []Answer{Yes, Yes, Yes, No, Unknown}[next()%5] }
	state := func() State {
		s := State{
			Server: Server{Gate: answer(), PeerCA: answer(), Identity: answer(), Address: answer()},
			Direct: answer(), Trusts: answer(), Proves: answer(), Reached: answer(), Named: answer(), Accepts: answer(), Readable: answer(),
			Starts: []Answer{Yes, Yes, Yes, Yes, Unknown, No}[next()%6], AsksPeersAtStart: next()%3 == 0,
		}
		if bits := next(); bits%8 != 0 {
			s.Serves = Resources{}
			for i, r := range []Resource{common, added, inside, dropped} {
				s.Serves[r] = bits>>(i+3)&1 == 1
			}
		}
		return s
	}
	var nodes []Node
	for i := range int(next()%4) + 1 {
		nodes = append(nodes, Node{Name: fmt.Sprintf("cp-%d", i+1), Before: state(), After: state()})
	}
	return nodes
}
