//go:build lab && linux

package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/internal/report"
	cp "github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// answers are what servers answer to a client, by server and resource, for each resource that another one has.
type answers map[asked]string

type asked struct {
	server string // host:port
	cp.Resource
}

// TestHandOff draws control planes, and compares what mvpcheck probe says of each resource that their servers differ in with
// what the server answers.
func TestHandOff(t *testing.T) {
	counts := map[string]int{}
	for _, index := range indices(*planesFlag) {
		p := drawPlane(*seedFlag, index)
		var r planeResult
		if err := try(t, func(a *attempt) { r = p.tryOut(a) }); err != nil {
			// A server that does not come up is a control plane of which nothing can be learnt.
			counts["did not come up"]++
			t.Logf("%s: %v", p, err)
			continue
		}
		t.Logf("%s: %s", p, r.counts())
		for key, n := range r.said {
			counts[key] += n
		}
		if len(r.wrong) > 0 {
			t.Errorf("%s\nagain: make lab-fuzz SEED=%d ONLY=%d RUN=TestHandOff\n%s\n%s", p, p.seed, p.index, strings.Join(r.wrong, "\n"), r.text)
		}
	}
	if n := counts["did not come up"]; n > *planesFlag/2 {
		t.Errorf("%d of %d control planes did not come up", n, *planesFlag)
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%5d %s", counts[key], key)
	}
}

// planeResult is what came of a control plane.
type planeResult struct {
	// said counts answers by what mvpcheck says and what the server does.
	said  map[string]int
	wrong []string
	// text is what mvpcheck says in words.
	text string
}

func (r planeResult) counts() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(r.said)) {
		parts = append(parts, fmt.Sprintf("%s: %d", key, r.said[key]))
	}
	return strings.Join(parts, ", ")
}

// tryOut starts the control plane and compares.
func (p plane) tryOut(a *attempt) (result planeResult) {
	c := cp.New(a, cp.Options{})
	if p.balanced {
		cp.Forward(a, cp.SharedAddress+":6443", cp.Addresses[0]+":6443")
	}
	var servers []*cp.Server
	err := a.within(func() {
		for i, n := range p.nodes {
			servers = append(servers, c.Add(a, n.node(a, c, i)))
			servers[i].Start(a)
			servers[i].WaitReady(a)
		}
		result = p.look(a, c, servers)
	})
	for _, s := range servers {
		if code, last, gone := s.Exited(); gone && !p.ownFiles() {
			return compareExit(a, servers, s, fmt.Sprintf("exited with %d: %s", code, last))
		}
	}
	if err != nil {
		a.Fatalf("%v", err)
	}
	return result
}

// look compares what there is to see with what the servers answer. That may still change when they are asked; they are then
// asked once more.
func (p plane) look(a *attempt, c *cp.ControlPlane, servers []*cp.Server) planeResult {
	if p.pods {
		c.AddMirrorPods(a)
	}
	// The kubeconfig is that of a server whose certificate its CA has signed.
	first := slices.IndexFunc(p.nodes, func(n drawnNode) bool { return !n.has(func(f fault) bool { return f.own }) })
	args := []string{"--kubeconfig", servers[max(0, first)].Kubeconfig(a)}
	for _, s := range servers {
		if p.given {
			args = append(args, "--server", s.URL())
		}
	}
	// Servers read each other again after at most ten seconds or so.
	time.Sleep(15 * time.Second)
	for range 5 {
		before := ask(a, servers)
		r := probe(a, args...)
		if after := ask(a, servers); maps.Equal(before, after) {
			result := r.compare(before)
			p.compareConfigured(a, servers, before, &result)
			return result
		}
		time.Sleep(5 * time.Second)
	}
	a.Fatalf("the servers do not settle")
	return planeResult{}
}

// ask asks each server for what others have and it has not.
func ask(a *attempt, servers []*cp.Server) answers {
	having := map[cp.Resource][]*cp.Server{}
	for _, s := range servers {
		if code, last, gone := s.Exited(); gone {
			a.Fatalf("%s exited with %d: %s", s.Name, code, last)
		}
		for _, r := range s.AllResources(a) {
			having[r] = append(having[r], s)
		}
	}
	all := answers{}
	for r, with := range having {
		for _, s := range servers {
			if !slices.Contains(with, s) {
				all[asked{s.HostPort(), r}] = answer(a, s, r)
			}
		}
	}
	return all
}

// random is what a server answers that asks one peer or another, of which one cannot answer.
const random = "now this, now that"

// answer asks where it may be random until it shows, or for as long as one of two can hide.
func answer(a *attempt, s *cp.Server, r cp.Resource) string {
	first := s.Answer(a, r)
	if s.Minor() < 35 || strings.Contains(r.Name, "/") {
		for range 7 {
			if s.Answer(a, r) != first {
				return random
			}
		}
	}
	return first
}

// probed is what mvpcheck probe says.
type probed struct {
	report.ProbeReport
	text string
}

func probe(a *attempt, args ...string) probed {
	var out, errs, text bytes.Buffer
	run := func(out *bytes.Buffer, format string) {
		cli.Main(a.Context(), append([]string{"mvpcheck", "probe", "-o", format}, args...), cli.Streams{In: strings.NewReader(""), Out: out, Err: &errs})
	}
	run(&out, "json")
	run(&text, "text")
	p := probed{text: text.String() + errs.String()}
	if err := json.Unmarshal(out.Bytes(), &p.ProbeReport); err != nil {
		a.Fatalf("%v: %s%s", err, out.String(), errs.String())
	}
	return p
}

// compare compares claims with answers, in both directions.
func (p probed) compare(real answers) planeResult {
	result := planeResult{said: map[string]int{}, text: p.text}
	address := map[string]string{}
	var asked []string
	unsure := p.Summary.Verdict == report.VerdictCannotTell
	for _, s := range p.Servers {
		address[s.Name] = s.Address
		asked = append(asked, s.Address)
		unsure = unsure || s.Result == "unknown"
	}
	type claimed struct{ server, group, version, resource string }
	claims := map[claimed]string{}
	for _, r := range p.FalseNotFound {
		claims[claimed{address[r.Server], r.Group, r.Version, r.Resource}] = cp.NotFound
	}
	for _, r := range p.HandedOff {
		claims[claimed{address[r.Server], r.Group, r.Version, r.Resource}] = cp.HandedOff
	}
	for q, answer := range real {
		key := claimed{q.server, q.Group, q.Version, q.Name}
		claim := claims[key]
		delete(claims, key)
		switch {
		case !slices.Contains(asked, q.server) && p.Summary.Verdict != report.VerdictReady:
			// It says what is wrong with the control plane, of which it sees a part.
			claim = "nothing of a server that it does not see"
		case answer == random && claim == cp.NotFound:
			// It has seen one of the answers.
		case claim == "" && (unsure || answer != cp.HandedOff && answer != cp.NotFound):
			claim = "nothing"
		case claim != answer:
			result.wrong = append(result.wrong, fmt.Sprintf("%s %s/%s %s: probe says %q, the server answers %q", q.server, q.Group, q.Version, q.Name, claim, answer))
		}
		result.said[fmt.Sprintf("says %s, answers %s", claim, answer)]++
	}
	for key, claim := range claims {
		result.wrong = append(result.wrong, fmt.Sprintf("%v: probe says %q, and the servers do not differ in it", key, claim))
	}
	slices.Sort(result.wrong)
	if len(result.said) == 0 {
		result.said["no difference"]++
	}
	return result
}
