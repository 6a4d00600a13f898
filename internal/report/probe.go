package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// KindProbe is the kind of the document that mvpcheck probe writes. Its schema is docs/schema/probe-report.schema.json.
const KindProbe = "ProbeReport"

// ProbeReport is everything that one run of mvpcheck probe has to say about one live control plane.
type ProbeReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    string `json:"version"` // of mvpcheck
	// Context is the kubeconfig's context, empty where there is none.
	Context string `json:"context,omitempty"`
	// Found says where the list of servers comes from: "endpoints of default/kubernetes".
	Found string `json:"found"`
	// Time is when the first question was asked; Replayed says that the evidence was read from this file.
	Time     time.Time `json:"time"`
	Replayed string    `json:"replayed,omitempty"`

	Servers []Server `json:"servers"`
	// Pairs has an entry for each ordered pair of servers.
	Pairs         []Pair  `json:"pairs"`
	FalseNotFound []Route `json:"falseNotFound"`
	// HandedOff are the resources that a server does not have itself and hands to a peer.
	HandedOff []Route `json:"handedOff"`
	// Refused are those that it hands to a peer which answers 401 or 403, as it takes the server for the client.
	Refused []Route `json:"refused,omitempty"`
	// LeftOut are group versions that were not compared, because all servers serve them alike or should.
	LeftOut []ProbeLeftOut `json:"leftOut,omitempty"`
	// Notes are things to know that no rule is about, such as a stale APIService.
	Notes    []string           `json:"notes,omitempty"`
	Findings []Finding          `json:"findings"`
	Passed   []string           `json:"passed"` // rule IDs
	Skipped  []Skipped          `json:"skipped"`
	Evidence []evidence.Request `json:"evidence"`
	Summary  ProbeSummary       `json:"summary"`
	// CannotTell is why not everything could be judged; empty where it could.
	CannotTell string `json:"-"`
}

// Server is one API server.
type Server struct {
	// Name is the node's where it is known, else the address. Pairs, routes and findings name servers by it.
	Name    string `json:"name"`
	Address string `json:"address"` // host:port that was asked
	Node    string `json:"node"`
	// Release is such as v1.36.3, empty where it is unknown. Emulated is such as 1.35, empty where it is the same.
	Release  string `json:"release"`
	Emulated string `json:"emulated"`
	Gate     string `json:"gate"`   // on, off or unknown
	PeerCA   string `json:"peerCA"` // yes, no or unknown
	// PublishedAddress is where its peers reach it, empty where it is not known or none.
	PublishedAddress string `json:"publishedAddress"`
	// Local and Merged count the resources of /apis that were compared, subresources apart. A negative number is not
	// known.
	Local  int `json:"local"`
	Merged int `json:"merged"`
	// Result is ok, fail or unknown. Says is the same in a few words for the table.
	Result string `json:"result"`
	Says   string `json:"says"`
}

// Pair says whether From hands requests to To.
type Pair struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Verdict string   `json:"verdict"` // yes, no or unknown
	Reasons []string `json:"reasons"`
}

// Route is a resource that Server does not have itself.
type Route struct {
	Server   string   `json:"server"`
	Group    string   `json:"group"`
	Version  string   `json:"version"`
	Resource string   `json:"resource"`
	ServedBy []string `json:"servedBy"`
	// Proof is named-get where the answer to a GET shows it, documents where only the discovery documents do; empty
	// in a plan.
	Proof string `json:"proof,omitzero"`
	// Subresource: it is a subresource of a resource that the server has; no setting changes that it answers 404 (MVP518).
	Subresource bool `json:"inside,omitempty"`
	// Reasons are why it is not handed on as it should be; nil for servers that were asked.
	Reasons []string `json:"reasons,omitzero"`
}

// name is such as "apps/v1 deployments".
func (r *Route) name() string { return groupVersion(r.Group, r.Version) + " " + r.Resource }

// ProbeLeftOut is a group version that is not built into the API servers.
type ProbeLeftOut struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"` // custom-resources or aggregated
	// Stale says why its resources are not to be had now; empty where they are.
	Stale string `json:"stale,omitempty"`
}

// ProbeSummary adds a probe up.
type ProbeSummary struct {
	Servers  int `json:"servers"`
	Releases int `json:"releases"` // different minors
	OK       int `json:"ok"`
	Failing  int `json:"failing"`
	Unknown  int `json:"unknown"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
	// Verdict is ready where the hand-off is proved or there is nothing against it, not-ready with an error, and
	// cannot-tell where a server or a source is missing that would decide.
	Verdict Verdict `json:"verdict"`
	// Text is the verdict as a sentence: what is proved, and whether to go on with the upgrade.
	Text string `json:"text"`
}

// document is the report without lists that are nil, because readers of it index these lists without asking, and with
// the time in UTC.
func (r ProbeReport) document() *ProbeReport {
	r.APIVersion, r.Kind = APIVersion, KindProbe
	r.Time = r.Time.UTC()
	r.Servers = orEmpty(r.Servers)
	r.Pairs = changed(r.Pairs, func(p *Pair) { p.Reasons = orEmpty(p.Reasons) })
	for _, routes := range []*[]Route{&r.FalseNotFound, &r.Refused, &r.HandedOff} {
		*routes = changed(*routes, func(p *Route) { p.ServedBy = orEmpty(p.ServedBy) })
	}
	r.Findings = onServers(r.Findings)
	r.Passed = orEmpty(r.Passed)
	r.Skipped = orEmpty(r.Skipped)
	r.Evidence = orEmpty(r.Evidence)
	return &r
}

// onServers are findings with the lists that one on servers always has.
func onServers(findings []Finding) []Finding {
	return changed(findings, func(f *Finding) {
		f.Servers, f.Seen = orEmpty(f.Servers), orEmpty(f.Seen)
		f.Effects = changed(f.Effects, func(e *Effect) { e.Rules = orEmpty(e.Rules) })
	})
}

// Report makes the blocks of the document.
func (r *ProbeReport) Report(run Invocation) *Report {
	s := &r.Summary
	verdict := Text(s.Verdict.String())
	out := &Report{
		Command: "mvpcheck probe", Version: r.Version, Document: r.document(), Files: 1,
		Title:   Text("Hand-off between " + countOf(len(r.Servers), "API server")),
		Summary: s.findings(),
		Verdict: verdict, Sentence: Text(s.Text), Counts: r.counts(), Details: r.details(), Next: r.next(run),
		Facts: facts("Context", Text(r.Context), "Servers", r.counts(), "Found by", Text(r.Found),
			"Asked", r.asked("2006-01-02 15:04:05 UTC"), "Read from", Text(r.Replayed)),
		Blocks: func(yield func(Block) bool) { yield(r.section()) },
	}
	if r.Context != "" {
		out.Subject = []Phrase{{Text: "context "}, {Text(r.Context), true}}
	}
	return out
}

// asked is when the first question was asked, or nothing.
func (r *ProbeReport) asked(layout string) Text {
	if r.Time.IsZero() {
		return ""
	}
	return Text(r.Time.UTC().Format(layout))
}

// details are the counts with where the servers and the answers come from, and of when they are.
func (r *ProbeReport) details() []Phrase {
	details := []Phrase{{Text: r.counts() + "."}}
	if r.Found != "" {
		details = append(details, Phrase{Text: Text(" Found by: " + r.Found + ".")})
	}
	if t := r.asked("Asked 2006-01-02 15:04 UTC"); t != "" {
		details = append(details, Phrase{Text: " " + t + "."})
	}
	if r.Replayed != "" {
		details = append(details, Phrase{Text: " Read from "}, Phrase{Text(r.Replayed), true}, Phrase{Text: "."})
	}
	return details
}

func (r *ProbeReport) next(run Invocation) []Command {
	if r.Summary.Verdict == VerdictReady {
		return []Command{{"Ask again", run.Program + " probe", "after each server is upgraded"}}
	}
	var next []Command
	if i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Severity == SeverityError }); i >= 0 {
		next = append(next, run.explain(r.Findings[i].Rule))
	}
	return append(next, Command{"Ask again", run.Program + " probe --wait 2m", "when that is mended"})
}

func (r *ProbeReport) section() *Section {
	s := &Section{
		Live: true, Name: Text(r.Context), File: Text(r.Replayed), CannotTell: Text(r.CannotTell),
		Summary:  r.Summary.findings(),
		Findings: Findings{List: onServers(r.Findings), Title: "Findings", Servers: map[Text]Text{}},
		Rules:    Rules{r.Passed, r.Skipped},
		Subject:  r.subject(),
	}
	s.Properties = facts("found", Text(r.Found))
	for i := range r.Servers {
		server := &r.Servers[i]
		says := Text(cmp.Or(server.Says, server.Result))
		s.Properties = append(s.Properties, Fact{"server " + Printable(server.Name), says})
		s.Findings.Servers[Text(server.Name)] = server.called()
	}
	s.Headline = s.Subject + Text(countOf(len(r.Servers), "API server"))
	if r.Found != "" {
		s.Headline += Text(" (" + r.Found + ")")
	}
	notes := make(Notes, len(r.Notes))
	for i, note := range r.Notes {
		notes[i].Text = Text(note)
	}
	s.Paragraphs = [][]Block{
		{r.serverTable()}, {s.Findings}, {notes, r.leftOut()}, {r.routes()}, {s.Rules}, {r.matrix()}, {r.requestTable()},
	}
	sentence := cmp.Or(r.Summary.Text, r.Summary.Verdict.String())
	s.Conclusion = r.counts() + ". " + Text(strings.TrimSuffix(sentence, ".")) + "."
	s.Brief = s.Conclusion
	return s
}

// subject says which control plane it is, and when evidence that was read from a file is from.
func (r *ProbeReport) subject() Text {
	var text Text
	if r.Replayed != "" {
		text = Text(r.Replayed) + r.asked(", recorded 2006-01-02 15:04 UTC") + ": "
	}
	if r.Context != "" {
		text += Text("context " + r.Context + ": ")
	}
	return text
}

// called is what a server is called: ADDRESS (NODE).
func (s *Server) called() Text {
	switch {
	case s.Address == "":
		return Text(s.Name)
	case s.Node == "" || strings.HasPrefix(s.Address, s.Node+":"):
		return Text(s.Address)
	}
	return Text(s.Address + " (" + s.Node + ")")
}

// release is what a server runs: 1.36.3, or 1.36.3 as 1.35.
func (s *Server) release() string {
	release := strings.TrimPrefix(s.Release, "v")
	if s.Emulated != "" {
		release = cmp.Or(release, unknown) + " as " + s.Emulated
	}
	return release
}

func (r *ProbeReport) serverTable() Table {
	t := Table{
		ID: "servers", Title: "Servers",
		Caption: "What each server runs, how many resources it serves by itself and together with its peers, " +
			"and what was found",
		Noun: "server",
		Columns: []Column{
			{Head: "Server", Name: true}, {Head: "Node"}, {Head: "Release"}, {Head: "Gate"}, {Head: "Peer CA"},
			{Head: "Local", Number: true}, {Head: "Merged", Number: true}, {Head: "Result"},
		},
	}
	for i := range r.Servers {
		s := &r.Servers[i]
		result := Cell{Text: Text(cmp.Or(s.Says, s.Result)), Tone: map[string]Tone{"ok": Good, "fail": Bad}[s.Result]}
		result.Tone = cmp.Or(result.Tone, Unsure)
		if result.Lead = strings.IndexAny(string(result.Text), ",;"); result.Lead < 0 {
			result.Lead = len(result.Text)
		}
		t.Rows = append(t.Rows, append(cells(s.Address, s.Node, s.release(), state(s.Gate), state(s.PeerCA), number(s.Local),
			number(s.Merged)), result))
	}
	return t
}

// cells is a row of plain cells.
func cells(texts ...string) []Cell {
	row := make([]Cell, len(texts))
	for i, text := range texts {
		row[i].Text = Text(text)
	}
	return row
}

// state is a gate or the like as tables show it.
func state(s string) string {
	if s == "unknown" {
		return unknown
	}
	return s
}

func number(n int) string {
	if n < 0 {
		return unknown
	}
	return strconv.Itoa(n)
}

// requestTable lists what was asked of whom, and what came of it.
func (r *ProbeReport) requestTable() Table {
	t := Table{
		ID: "asked", Title: "What was asked", Caption: "Every request, and what came of it", Noun: "request", Detail: true,
		Columns: []Column{
			{Head: "Server"}, {Head: "Request"},
			{Head: "Status", Short: "Status", Number: true}, {Head: "Bytes", Short: "Bytes", Number: true},
			{Head: "Milliseconds", Short: "MS", Number: true},
		},
	}
	for i := range r.Evidence {
		e := &r.Evidence[i]
		status := ""
		if e.Status != 0 {
			status = strconv.Itoa(e.Status)
		}
		t.Rows = append(t.Rows,
			cells(e.Server, requestSays(e), status, strconv.FormatInt(e.Bytes, 10), strconv.FormatInt(e.Milliseconds, 10)))
	}
	return t
}

// requestSays is a request in words.
func requestSays(e *evidence.Request) string {
	request := "GET " + e.Path
	if e.Profile != "" {
		request += ", profile " + e.Profile
	}
	if e.Local {
		request += ", not to be handed on"
	}
	if e.Error != "" {
		request += ": " + e.Error
	}
	return request
}

func (r *ProbeReport) leftOut() LeftOut {
	out := make(LeftOut, len(r.LeftOut))
	for i := range r.LeftOut {
		l := &r.LeftOut[i]
		out[i] = LeftOutVersion{
			Name: Text(groupVersion(l.Group, l.Version)), Custom: l.Kind == "custom-resources",
			Kind: strings.ReplaceAll(l.Kind, "-", " "), Stale: Text(l.Stale),
		}
	}
	return out
}

// The outcomes of requests.
var (
	handsOn   = Outcome{" hands to ", " hand to ", "", "hand on", Good}
	answer404 = Outcome{" answers 404 for what ", " answer 404 for what ", " has", "answer a false 404", Bad}
	answer403 = Outcome{" answers 403 for what ", " answer 403 for what ", " has", "are answered 403", Bad}
)

func (r *ProbeReport) routes() Routes {
	return slices.Concat(
		groupRoutes(r.HandedOff, handsOn), groupRoutes(r.FalseNotFound, answer404), groupRoutes(r.Refused, answer403))
}

// groupRoutes puts the resources of a server with the same peers and the same proof together, then the servers for
// which all of that is the same.
func groupRoutes(routes []Route, outcome Outcome) Routes {
	var byServer, groups Routes
	for i := range routes {
		r := &routes[i]
		servedBy := Text(strings.Join(r.ServedBy, ", "))
		at := slices.IndexFunc(byServer, func(g RouteGroup) bool {
			return g.Servers[0] == Text(r.Server) && g.ServedBy == servedBy && g.Proof == r.Proof
		})
		if at < 0 {
			at = len(byServer)
			byServer = append(byServer,
				RouteGroup{Outcome: outcome, Servers: []Text{Text(r.Server)}, ServedBy: servedBy, Proof: r.Proof})
		}
		byServer[at].Resources = append(byServer[at].Resources, Text(r.name()))
	}
	for _, g := range byServer {
		g.Resources = resourceWords(g.Resources)
		at := slices.IndexFunc(groups, func(other RouteGroup) bool {
			return g.ServedBy == other.ServedBy && g.Proof == other.Proof && slices.Equal(g.Resources, other.Resources)
		})
		if at < 0 {
			groups = append(groups, g)
		} else {
			groups[at].Servers = append(groups[at].Servers, g.Servers...)
		}
	}
	return groups
}

func (r *ProbeReport) matrix() Matrix {
	names := make([]string, len(r.Servers))
	for i := range r.Servers {
		names[i] = r.Servers[i].Name
	}
	return newMatrix(names, r.Pairs)
}

// counts says how many servers there are of which kind.
func (r *ProbeReport) counts() Text {
	s := &r.Summary
	c := counter{text: countOf(s.Servers, "server"), separator: ": "}
	if s.Releases > 0 {
		c.text += ", " + countOf(s.Releases, "release")
	}
	lying := r.lying()
	c.add(s.OK, "ok")
	if lying == 1 {
		c.add(lying, "answers false 404s")
	} else {
		c.add(lying, "answer false 404s")
	}
	c.add(s.Failing-lying, "failing")
	c.add(s.Unknown, "unknown")
	return Text(c.text)
}

// lying is how many of the failing servers answer false 404s.
func (r *ProbeReport) lying() int {
	n := 0
	for i := range r.Servers {
		s := &r.Servers[i]
		if s.Result == "fail" && slices.ContainsFunc(r.FalseNotFound, func(f Route) bool { return f.Server == s.Name }) {
			n++
		}
	}
	return min(n, r.Summary.Failing)
}

// findings is the summary of the findings.
func (s *ProbeSummary) findings() Summary {
	return Summary{Errors: s.Errors, Warnings: s.Warnings, Infos: s.Infos, Verdict: s.Verdict}
}
