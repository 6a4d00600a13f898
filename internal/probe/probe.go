// Package probe asks the API servers of a live control plane and returns what they said as evidence. It finds the
// servers, sends nothing but GET requests, bounds what it reads, and judges nothing.
package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// Options say whom to ask and how.
type Options struct {
	// Config is the connection of the kubeconfig, Context its name.
	Config  *rest.Config
	Context string
	// Servers are those to ask, each a URL or a host with or without a port; none: those that the cluster names.
	Servers []string
	// Timeout bounds each request.
	Timeout time.Duration
	// NoObjectProbe leaves the named GETs out.
	NoObjectProbe bool
	// Version is that of mvpcheck.
	Version string
}

// A Prober asks the API servers of one control plane. It keeps its connections, so asking again is quick. It is not for
// use by several goroutines at a time.
type Prober struct {
	options Options
	api     *url.URL
	given   []*url.URL
	clients map[string]*client
	log     *requestLog
	docs    *documents
}

// New returns a Prober. It sends nothing yet.
func New(o Options) (*Prober, error) {
	api, _, err := rest.DefaultServerUrlFor(o.Config)
	if err != nil {
		return nil, errors.New("the kubeconfig's server is no URL") // which can have a password in it
	}
	if api.Scheme != "https" {
		return nil, fmt.Errorf("the kubeconfig's server %s is not https; mvpcheck sends credentials with https only",
			api.Host)
	}
	p := &Prober{options: o, api: api, clients: map[string]*client{}, log: &requestLog{}}
	for _, s := range o.Servers {
		u, err := parseServer(s)
		if err != nil {
			return nil, fmt.Errorf("--server %w", err)
		}
		p.given = append(p.given, u)
	}
	if o.Config.Insecure && len(p.given) == 0 {
		return nil, errors.New("the kubeconfig sets insecure-skip-tls-verify: addresses that the cluster names would " +
			"get its credentials unverified; name the API servers with --server, or give the kubeconfig " +
			"the cluster's certificate-authority-data")
	}
	return p, nil
}

// client returns the client of a server. Clients are kept from one Ask to the next.
func (p *Prober) client(base *url.URL, serverName string) (*client, error) {
	key := base.String() + " " + serverName
	c, ok := p.clients[key]
	if !ok {
		var err error
		if c, err = newClient(p.options.Config, base, serverName, p.options.Timeout, p.log); err != nil {
			return nil, errors.New("the kubeconfig: " + reason(err))
		}
		p.clients[key] = c
	}
	return c, nil
}

// Close ends the connections.
func (p *Prober) Close() {
	for _, c := range p.clients {
		c.transport.CloseIdleConnections()
	}
}

// Ask asks all servers once. The error says why there is nothing to judge at all; what single servers refuse is in the
// evidence.
func (p *Prober) Ask(ctx context.Context) (*evidence.ControlPlane, error) {
	p.log.take()
	p.docs = &documents{}
	ev := &evidence.ControlPlane{
		APIVersion: evidence.APIVersion, Kind: evidence.Kind, Version: p.options.Version, Context: p.options.Context,
		Started: time.Now().UTC().Truncate(time.Millisecond), ObjectProbe: !p.options.NoObjectProbe,
	}
	if err := p.logIn(ctx); err != nil {
		return nil, err
	}
	if err := p.askShared(ctx, ev); err != nil {
		return nil, err
	}
	clients, err := p.findServers(ev)
	if err != nil {
		return nil, err
	}
	each := func(ask func(*evidence.Server, *client)) {
		var g errgroup.Group
		g.SetLimit(parallelServers)
		for i := range ev.Servers {
			if reached := ev.Servers[i].Reached; reached.OK() || reached.State == evidence.NotAsked {
				g.Go(func() error { ask(&ev.Servers[i], clients[i]); return nil })
			}
		}
		_ = g.Wait()
	}
	var dials sync.WaitGroup
	dials.Go(func() { p.dialPublished(ctx, ev) })
	each(func(s *evidence.Server, c *client) { p.askServer(ctx, c, s) })
	dials.Wait()
	if err := p.elsewhere(ev, clients); err != nil {
		return nil, err
	}
	each(func(s *evidence.Server, c *client) {
		if !s.Reached.OK() {
			p.askServer(ctx, c, s)
		}
	})
	identify(ev.Servers, &ev.Shared)

	if resources := askable(ev.Doubtful(), p.docs); len(resources) > 0 && ev.ObjectProbe {
		each(func(s *evidence.Server, c *client) {
			// Each request is bounded; so is their sum, for a server that has died meanwhile.
			ctx, cancel := context.WithTimeoutCause(ctx, 3*p.options.Timeout,
				errors.New("not asked: the server takes too long"))
			defer cancel()
			s.Objects = askObjects(ctx, c, s, resources)
		})
	}
	// The named GETs may have grown the counters of a server that could not hand them on: these tell why.
	each(func(s *evidence.Server, c *client) {
		asked := func(o evidence.Object) bool {
			return o.Asked != evidence.NotAnswered && o.Asked != evidence.Served
		}
		if s.Metrics.OK() && slices.ContainsFunc(s.Objects, asked) {
			askMetrics(ctx, c, s)
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	ev.Ended = time.Now().UTC().Truncate(time.Millisecond)
	ev.Requests = p.log.take()
	slices.SortStableFunc(ev.Requests, func(a, b evidence.Request) int {
		local := 0
		if a.Local != b.Local {
			local = map[bool]int{false: -1, true: 1}[a.Local]
		}
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Path, b.Path),
			strings.Compare(a.Profile, b.Profile), local)
	})
	return ev, nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// logIn has the kubeconfig's exec plugin get its credentials. It may ask a person for them, and the time of a request
// is not for that.
func (p *Prober) logIn(ctx context.Context) error {
	if p.options.Config.ExecProvider == nil {
		return nil
	}
	tc, err := p.options.Config.TransportConfig()
	if err != nil {
		return err
	}
	sent := func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}
	rt, err := transport.HTTPWrappersForConfig(tc, roundTripper(sent))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.api.String(), nil)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		_, err := rt.RoundTrip(req)
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err != nil {
		return errors.New("the kubeconfig's exec plugin: " + reason(err))
	}
	return nil
}

// askShared asks the kubeconfig's server, or else one of those given, for what all servers share.
func (p *Prober) askShared(ctx context.Context, ev *evidence.ControlPlane) error {
	var failures []string
	for _, base := range append([]*url.URL{p.api}, p.given...) {
		c, err := p.client(base, "")
		if err != nil {
			return err
		}
		// One request first: a server that is down takes one timeout, not six.
		if _, reached := askVersion(ctx, c); !reached.OK() {
			failures = append(failures, fmt.Sprintf("%s: %s", c.address, reached.Reason))
			continue
		}
		ev.Shared = askShared(ctx, c)
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	hint := ""
	if len(p.given) == 0 {
		hint = "; name the API servers with --server if this one is down"
	}
	return fmt.Errorf("cannot ask %s%s", strings.Join(failures, "; "), hint)
}

// maxServers bounds the servers that are found.
const maxServers = 256

// newServer returns a server that was asked for nothing yet.
func newServer(address string, foundBy ...string) evidence.Server {
	not := evidence.Told{State: evidence.NotAsked}
	return evidence.Server{
		Address: address, FoundBy: foundBy, Reached: not,
		Version: evidence.Version{Told: not}, Hooks: evidence.Hooks{Told: not}, Flags: evidence.Flags{Told: not},
		Metrics: evidence.Metrics{Told: not},
		Core:    evidence.Document{Told: not}, Merged: evidence.Document{Told: not},
		Local: evidence.Document{Told: not},
	}
}

// findServers fills in the servers to ask and returns a client for each.
func (p *Prober) findServers(ev *evidence.ControlPlane) ([]*client, error) {
	var clients []*client
	add := func(s evidence.Server, base *url.URL, serverName string) error {
		c, err := p.client(base, serverName)
		if err != nil {
			return err
		}
		ev.Servers, clients = append(ev.Servers, s), append(clients, c)
		return nil
	}
	list := findServers(&ev.Shared)
	if len(p.given) > 0 {
		ev.Found = "--server"
		for _, base := range p.given {
			s := newServer(hostPort(base), evidence.FromGiven)
			if slices.ContainsFunc(ev.Servers, func(t evidence.Server) bool { return t.Address == s.Address }) {
				continue
			}
			for _, f := range list {
				if f.address == s.Address && f.pod != nil {
					s.Node, s.Pod = f.pod.Node, f.pod.Name
				}
			}
			if err := add(s, base, ""); err != nil {
				return nil, err
			}
		}
		return clients, nil
	}
	if len(list) > maxServers {
		return nil, fmt.Errorf("the control plane names %d addresses of API servers, more than any has; choose "+
			"with --server", len(list))
	}
	var sources []string
	for _, f := range list {
		s := newServer(f.address, f.sources...)
		if f.pod != nil {
			s.Node, s.Pod = f.pod.Node, f.pod.Name
		}
		// The endpoints are written by the API servers alone. What only leases or pods name is asked under the name
		// that no certificate but an API server's has: a node's own certificate is valid for the node's address.
		serverName := ""
		if !slices.Contains(f.sources, evidence.FromEndpoints) {
			serverName = peerServerName
		}
		if err := add(s, &url.URL{Scheme: "https", Host: f.address}, serverName); err != nil {
			return nil, err
		}
		for _, source := range f.sources {
			if name := sourceNames[source]; !slices.Contains(sources, name) {
				sources = append(sources, name)
			}
		}
	}
	slices.Sort(sources)
	ev.Found = strings.Join(sources, ", ")
	if len(list) == 0 {
		ev.Found = "the kubeconfig's server alone: nothing that it lets us read names the others"
		return clients, add(newServer(hostPort(p.api), evidence.FromKubeconfig), p.api, "")
	}
	return clients, nil
}

// elsewhere turns to the own addresses of servers that do not answer where they are published, so that what they say is
// known all the same. Their mirror pods tell these addresses.
func (p *Prober) elsewhere(ev *evidence.ControlPlane, clients []*client) error {
	for i := range ev.Servers {
		s := &ev.Servers[i]
		if s.Reached.OK() || s.Pod == "" || len(p.given) > 0 {
			continue
		}
		for _, pod := range ev.Shared.Pods.Items {
			own := pod.Own()
			if pod.Name != s.Pod || own == "" ||
				slices.ContainsFunc(ev.Servers, func(t evidence.Server) bool { return t.Address == own }) {
				continue
			}
			c, err := p.client(&url.URL{Scheme: "https", Host: own}, peerServerName)
			if err != nil {
				return err
			}
			clients[i] = c
			again := newServer(own, evidence.FromPod)
			again.Node, again.Pod = s.Node, s.Pod
			*s = again
		}
	}
	return nil
}

var sourceNames = map[string]string{
	evidence.FromEndpoints: "endpoints of default/kubernetes", evidence.FromLease: "identity leases",
	evidence.FromPod: "mirror pods",
}

// maxDials bounds the connections to addresses that leases name.
const maxDials = 64

// dialPublished makes own connections to the addresses that servers publish.
func (p *Prober) dialPublished(ctx context.Context, ev *evidence.ControlPlane) {
	var dials []evidence.Dial
	for _, l := range ev.Shared.Leases.Fresh() {
		if l.Published == "" || len(dials) == maxDials ||
			slices.ContainsFunc(dials, func(d evidence.Dial) bool { return d.Address == l.Published }) {
			continue
		}
		dials = append(dials, evidence.Dial{Address: l.Published})
	}
	var g errgroup.Group
	g.SetLimit(parallelServers)
	for i := range dials {
		g.Go(func() error {
			if address, err := evidence.Address(dials[i].Address); err != nil {
				dials[i].Error = err.Error()
			} else {
				published := dials[i].Address
				dials[i] = dialPeer(ctx, p.options.Config, address, p.options.Timeout)
				dials[i].Address = published
			}
			return nil
		})
	}
	_ = g.Wait()
	ev.Shared.Dials = dials
}

// askServer asks one server everything but the named GETs.
func (p *Prober) askServer(ctx context.Context, c *client, s *evidence.Server) {
	if s.Version, s.Reached = askVersion(ctx, c); !s.Reached.OK() {
		return
	}
	var wg sync.WaitGroup
	for _, ask := range []func(){
		func() { askHooks(ctx, c, s) },
		func() { s.Core = p.document(ctx, c, "/api", acceptMerged, "") },
		func() { s.Merged = p.document(ctx, c, "/apis", acceptMerged, "") },
		func() { s.Local = p.document(ctx, c, "/apis", acceptLocal, "nopeer") },
		func() { askMetrics(ctx, c, s) },
		func() { askFlags(ctx, c, s) },
	} {
		wg.Go(ask)
	}
	wg.Wait()
}

// askVersion asks for /version, and tells by the answer whether this is an API server that takes our credentials.
func askVersion(ctx context.Context, c *client) (evidence.Version, evidence.Told) {
	r := c.get(ctx, question{path: "/version", accept: "application/json", limit: maxSmall, retry: true})
	version := readVersion(r)
	reached := version.Told
	switch {
	case r.err != nil, reached.OK():
	case r.status == http.StatusUnauthorized:
		reached.Reason = "it refuses the credentials of the kubeconfig (401 Unauthorized)"
	case r.status == http.StatusForbidden:
		reached = evidence.Told{State: evidence.OK}
	default:
		reached = evidence.Told{State: evidence.Failed,
			Reason: "it does not answer as an API server: " + reached.Reason}
	}
	if !reached.OK() {
		// The connection may be one that is dead: the next round shall try another.
		c.transport.CloseIdleConnections()
	}
	return version, reached
}

func (p *Prober) document(ctx context.Context, c *client, path, accept, profile string) evidence.Document {
	var doc evidence.Document
	r := c.get(ctx, question{path: path, accept: accept, profile: profile, limit: maxDiscovery, retry: true,
		read: func(body io.Reader) (err error) {
			doc, err = p.docs.read(body)
			return err
		}})
	if told := r.told(); !told.OK() {
		return evidence.Document{Told: told}
	}
	return doc
}

func readVersion(r *reply) evidence.Version {
	told := r.told()
	if !told.OK() {
		return evidence.Version{Told: told}
	}
	var v struct {
		Major, Minor, GitVersion, EmulationMajor, EmulationMinor string
	}
	if err := json.Unmarshal(r.body, &v); err != nil || v.GitVersion == "" {
		return evidence.Version{Told: evidence.Told{State: evidence.Failed,
			Reason: "/version is not the JSON of an API server"}}
	}
	version := evidence.Version{Told: told, GitVersion: v.GitVersion}
	if v.EmulationMinor != "" && v.EmulationMajor+"."+v.EmulationMinor != v.Major+"."+strings.TrimRight(v.Minor, "+") {
		version.Emulated = v.EmulationMajor + "." + v.EmulationMinor
	}
	return version
}

// askHooks reads /readyz?verbose, which lists the checks when the server is not ready, too.
func askHooks(ctx context.Context, c *client, s *evidence.Server) {
	r := c.get(ctx, question{path: "/readyz?verbose", limit: maxSmall})
	s.Hooks.Told = r.told()
	s.Ready = s.Hooks.OK()
	if !s.Ready && (r.err != nil || r.status != 500 && r.status != 503) {
		return
	}
	for line := range strings.Lines(string(r.body)) {
		// [+]poststarthook/start-apiextensions-informers ok
		_, rest, ok := strings.Cut(line, "]poststarthook/")
		if name, _, _ := strings.Cut(strings.TrimSpace(rest), " "); ok && name != "" {
			s.Hooks.Names = append(s.Hooks.Names, name)
		}
	}
	if len(s.Hooks.Names) > 0 {
		s.Hooks.Told = evidence.Told{State: evidence.OK}
		slices.Sort(s.Hooks.Names)
	} else if s.Ready {
		s.Hooks.Told = evidence.Told{State: evidence.Failed, Reason: "/readyz?verbose lists no start hooks"}
	}
}

func askMetrics(ctx context.Context, c *client, s *evidence.Server) {
	var reading evidence.Reading
	r := c.get(ctx, question{path: "/metrics", accept: "text/plain;version=0.0.4", limit: maxMetrics,
		read: func(body io.Reader) (err error) {
			reading, err = readMetrics(body, time.Now().UTC().Truncate(time.Millisecond))
			return err
		}})
	told := r.told()
	if told.OK() {
		s.Metrics.Readings = append(s.Metrics.Readings, reading)
	}
	if len(s.Metrics.Readings) == 0 || told.OK() {
		s.Metrics.Told = told
	}
}

func askFlags(ctx context.Context, c *client, s *evidence.Server) {
	r := c.get(ctx, question{path: "/flagz", accept: "application/json;as=Flagz;v=v1beta1;g=config.k8s.io",
		limit: maxSmall, retry: true})
	s.Flags.Told = r.told()
	if !s.Flags.OK() {
		return
	}
	var v struct {
		Kind  string            `json:"kind"`
		Flags map[string]string `json:"flags"`
	}
	if err := json.Unmarshal(r.body, &v); err != nil || v.Kind != "Flagz" {
		s.Flags.Told = evidence.Told{State: evidence.Failed, Reason: "/flagz is not in the format that was asked for"}
		return
	}
	s.Flags.Source = "flagz"
	for _, name := range readFlags {
		if value, ok := v.Flags[name]; ok {
			s.Flags.Values = put(s.Flags.Values, name, value)
		}
	}
}
