package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// maxMatrix is how many servers have a matrix of their pairs.
const maxMatrix = 12

// details writes what -v adds to the text of a probe.
func (w *probeText) details() {
	if len(w.r.HandedOff)+len(w.r.FalseNotFound)+len(w.r.Refused) > 0 {
		w.begin(block)
		for _, g := range groupRoutes(w.r.HandedOff) {
			w.routes(g, " hands to ", " hand to ", "")
		}
		for _, g := range groupRoutes(w.r.FalseNotFound) {
			w.routes(g, " answers 404 for what ", " answer 404 for what ", " has")
		}
		for _, g := range groupRoutes(w.r.Refused) {
			w.routes(g, " answers 403 for what ", " answer 403 for what ", " has")
		}
	}
	if len(w.r.Passed)+len(w.r.Skipped) > 0 {
		w.begin(block)
		w.rules("", w.r.Passed, w.r.Skipped)
	}
	if len(w.r.Pairs) > 0 {
		w.begin(block)
		w.raw("who hands requests to whom:")
		if len(w.r.Servers) <= maxMatrix {
			w.raw("\n")
			names := make([]string, len(w.r.Servers))
			for i := range w.r.Servers {
				names[i] = w.r.Servers[i].Name
			}
			w.matrix(names, w.r.Pairs)
		} else {
			w.pairCount()
		}
		for _, g := range groupPairs(len(w.r.Servers), w.r.Pairs) {
			w.pairGroup(&g)
		}
	}
	if len(w.r.Evidence) > 0 {
		w.begin(block)
		w.requests()
	}
}

// routeGroup is resources that are the same for some servers.
type routeGroup struct {
	servers   []string
	servedBy  string
	proof     string
	resources []string
	last      string // the group version of the last resource; it is not repeated
}

// groupRoutes puts the resources of a server with the same peers and the same proof together, then the servers for
// which all of that is the same.
func groupRoutes(routes []ProbeRoute) []*routeGroup {
	var byServer, groups []*routeGroup
	for i := range routes {
		r := &routes[i]
		servedBy := strings.Join(r.ServedBy, ", ")
		at := slices.IndexFunc(byServer, func(g *routeGroup) bool {
			return g.servers[0] == r.Server && g.servedBy == servedBy && g.proof == r.Proof
		})
		if at < 0 {
			at = len(byServer)
			byServer = append(byServer, &routeGroup{servers: []string{r.Server}, servedBy: servedBy, proof: r.Proof})
		}
		g := byServer[at]
		resource := r.Resource
		if gv := groupVersion(r.Group, r.Version); gv != g.last {
			resource = gv + " " + resource
			g.last = gv
		}
		g.resources = append(g.resources, resource)
	}
	for _, g := range byServer {
		at := slices.IndexFunc(groups, func(other *routeGroup) bool {
			return g.servedBy == other.servedBy && g.proof == other.proof && slices.Equal(g.resources, other.resources)
		})
		if at < 0 {
			groups = append(groups, g)
		} else {
			groups[at].servers = append(groups[at].servers, g.servers...)
		}
	}
	return groups
}

func (w *probeText) routes(g *routeGroup, one, several, after string) {
	w.list("", ",", g.servers)
	if len(g.servers) == 1 {
		w.raw(one)
	} else {
		w.raw(several)
	}
	w.esc(cmp.Or(g.servedBy, "no server"))
	w.raw(after)
	switch g.proof {
	case "named-get":
		w.raw(" (shown by named GETs)")
	case "documents":
		w.raw(" (shown by discovery documents)")
	}
	w.raw(":\n")
	w.list("   ", ",", g.resources)
	w.raw("\n")
	w.spill()
}

// matrix writes who hands requests to whom. Servers whose names make it too wide are numbered in the head.
func (p *printer) matrix(names []string, pairs []ProbePair) {
	verdicts := make(map[[2]string]string, len(pairs))
	for i := range pairs {
		verdicts[[2]string{pairs[i].From, pairs[i].To}] = pairs[i].Verdict
	}
	const corner = `FROM \ TO`
	width, widest := 0, len(corner)
	for _, name := range names {
		n := textColumns(name)
		widest = max(widest, n)
		width += len("  ") + max(n, len("yes"))
	}
	numbered := widest+width > lineColumns

	head := row(corner)
	rows := [][]cell{nil}
	for i, from := range names {
		if number := strconv.Itoa(i + 1); numbered {
			head = append(head, cell{text: number})
			rows = append(rows, row(number+" "+from))
		} else {
			head = append(head, cell{text: from})
			rows = append(rows, row(from))
		}
		for k, to := range names {
			verdict := unknown
			if i != k {
				verdict = pairVerdict(verdicts[[2]string{from, to}])
			}
			rows[i+1] = append(rows[i+1], cell{text: verdict})
		}
	}
	rows[0] = head
	p.table(rows)
}

func pairVerdict(verdict string) string {
	switch verdict {
	case "yes", "no":
		return verdict
	}
	return "?"
}

// pairCount stands for the matrix of very many servers.
func (w *probeText) pairCount() {
	yes := 0
	for i := range w.r.Pairs {
		if w.r.Pairs[i].Verdict == "yes" {
			yes++
		}
	}
	w.raw(" ")
	w.int(yes)
	w.raw(" of ")
	w.count(len(w.r.Pairs), "pair")
	w.raw(" of servers\n")
}

// pairGroup writes why pairs of servers are not yes.
func (p *printer) pairGroup(g *pairGroup) {
	words := slices.Concat(g.from, g.to)
	words[len(g.from)] = words[len(g.from)-1] + " -> " + words[len(g.from)]
	words = slices.Delete(words, len(g.from)-1, len(g.from))
	switch len(g.reasons) {
	case 0:
	case 1:
		words[len(words)-1] += ": " + g.reasons[0]
	default:
		words[len(words)-1] += ":"
	}
	label := "no: "
	if g.verdict == "?" {
		label = "?:  "
	}
	p.list(label, ",", words)
	p.raw("\n")
	if len(g.reasons) > 1 {
		p.list("       ", ";", g.reasons)
		p.raw("\n")
	}
	p.spill()
}

// pairGroup is all pairs of some servers with some others that have a verdict for the same reasons.
type pairGroup struct {
	from, to []string
	toAll    bool // to stands for all others
	verdict  string
	reasons  []string
}

// groupPairs puts the pairs that are not yes together: what one server has with all others is one group, whichever way
// round.
func groupPairs(servers int, pairs []ProbePair) []pairGroup {
	const sep = "\x00"
	var byFrom []pairGroup
	index := map[string]int{}
	for i := range pairs {
		p := &pairs[i]
		verdict := pairVerdict(p.Verdict)
		if verdict == "yes" {
			continue
		}
		key := strings.Join(append([]string{p.From, verdict}, p.Reasons...), sep)
		at, ok := index[key]
		if !ok {
			at = len(byFrom)
			index[key] = at
			byFrom = append(byFrom, pairGroup{from: []string{p.From}, verdict: verdict, reasons: p.Reasons})
		}
		byFrom[at].to = append(byFrom[at].to, p.To)
	}

	others := servers - 1
	var groups []pairGroup
	clear(index)
	for _, g := range byFrom {
		key := strings.Join(slices.Concat(g.to, []string{"", g.verdict}, g.reasons), sep)
		if g.toAll = len(g.to) == others && others > 1; g.toAll {
			g.to = []string{"all others"}
			key = strings.Join(append([]string{g.verdict}, g.reasons...), sep)
		}
		if at, ok := index[key]; ok {
			groups[at].from = append(groups[at].from, g.from...)
			continue
		}
		index[key] = len(groups)
		groups = append(groups, g)
	}
	for i := range groups {
		g := &groups[i]
		switch n := len(g.from); {
		case g.toAll && n == others+1:
			g.from = []string{"each server"}
		case !g.toAll && n == others && n > 1 && len(g.to) == 1:
			g.from = []string{"all others"}
		}
	}
	return groups
}

// requests lists what was asked of whom, and what came of it.
func (w *probeText) requests() {
	rows := [][]cell{row("STATUS", "BYTES", "MS", "SERVER", "REQUEST")}
	for i := range w.r.Evidence {
		e := &w.r.Evidence[i]
		status := ""
		if e.Status != 0 {
			status = strconv.Itoa(e.Status)
		}
		rows = append(rows, row(status, strconv.FormatInt(e.Bytes, 10), strconv.FormatInt(e.Milliseconds, 10), e.Server, requestSays(e)))
	}
	w.table(rows, 0, 1, 2)
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
