package probe

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// The bounds of what a server can make us read, hold and wait for. Documents, lists and metrics are read as they come
// and not held.
const (
	maxHeaderBytes   = 64 << 10
	maxDiscovery     = 16 << 20
	maxList          = 8 << 20
	maxPods          = 2 << 20
	maxObject        = 2 << 20
	maxSmall         = 256 << 10
	maxMetrics       = 128 << 20
	maxRetryAfter    = 3 // seconds
	maxReason        = 300
	maxNames         = 100
	maxNamesInReason = 8
	parallelServers  = 16
	parallelRequests = 8
)

// A client sends GET requests to one API server with the kubeconfig's credentials.
type client struct {
	// address is what requests are recorded under: host and port.
	address   string
	base      *url.URL
	http      *http.Client
	transport *http.Transport
	timeout   time.Duration
	// late is why a request ends that takes longer than timeout.
	late  error
	log   *requestLog
	slots chan struct{}
}

// requestLog collects requests from all clients.
type requestLog struct {
	mu       sync.Mutex
	requests []evidence.Request
}

func (l *requestLog) add(r evidence.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, r)
}

// take returns the requests since it was last called.
func (l *requestLog) take() []evidence.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	requests := l.requests
	l.requests = nil
	return requests
}

// newClient returns a client of the server at base. Where serverName is not empty, the server's certificate must be
// valid for it instead of the host of base. The certificate must be signed by the kubeconfig's CA in any case: the
// credentials are sent after the handshake only.
func newClient(cfg *rest.Config, base *url.URL, serverName string, timeout time.Duration,
	log *requestLog) (*client, error) {
	tc, err := cfg.TransportConfig()
	if err != nil {
		return nil, err
	}
	if serverName != "" {
		tc.TLS.ServerName = serverName
	}
	tlsConfig, err := transport.TLSConfigFor(tc)
	if err != nil {
		return nil, err
	}
	if tlsConfig == nil {
		tlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	t := newTransport(tc, tlsConfig, timeout)
	rt, err := transport.HTTPWrappersForConfig(tc, t)
	if err != nil {
		return nil, err
	}
	return &client{
		address: hostPort(base),
		base:    base,
		http: &http.Client{
			Transport: rt,
			// A redirect would carry the credentials elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		transport: t,
		timeout:   timeout,
		late:      fmt.Errorf("no whole answer within %s", timeout),
		log:       log,
		slots:     make(chan struct{}, parallelRequests),
	}, nil
}

// newTransport returns a transport that bounds what comes before a body.
func newTransport(tc *transport.Config, tlsConfig *tls.Config, timeout time.Duration) *http.Transport {
	dial := (&net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second}).DialContext
	if tc.DialHolder != nil {
		dial = tc.DialHolder.Dial
	}
	proxy := http.ProxyFromEnvironment
	if tc.Proxy != nil {
		proxy = tc.Proxy
	}
	return &http.Transport{
		Proxy:                  proxy,
		OnProxyConnectResponse: proxyAnswer,
		DialContext:            dial,
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    timeout,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxConnsPerHost:        parallelRequests,
		MaxIdleConnsPerHost:    parallelRequests,
		IdleConnTimeout:        30 * time.Second,
	}
}

// proxyAnswer says that it was the proxy who refused.
func proxyAnswer(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode != http.StatusOK {
		return errors.New("the proxy refuses the connection: " + codeText(res.StatusCode))
	}
	return nil
}

// hostPort returns host and port of a URL, with the port that https has by default.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// A question is one GET request.
type question struct {
	path   string // with query
	accept string
	// profile and local are those of the request; local sets the header x-kubernetes-peer-proxied.
	profile string
	local   bool
	limit   int64
	// retry: 503 is an answer to be retried like 429. A named GET takes it for the answer.
	retry bool
	// read takes the body of a status 200 as it comes, instead of having it kept.
	read func(io.Reader) error
}

// A reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
	sha256 string
	// err says why there is no whole answer.
	err error
}

// told is the state of a source by its reply.
func (r *reply) told() evidence.Told {
	switch {
	case r.err != nil:
		return evidence.Told{State: evidence.Failed, Reason: reason(r.err)}
	case r.status == http.StatusOK:
		return evidence.Told{State: evidence.OK}
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		return evidence.Told{State: evidence.Forbidden, Reason: statusText(r)}
	case r.status == http.StatusNotFound:
		return evidence.Told{State: evidence.Absent, Reason: statusText(r)}
	}
	return evidence.Told{State: evidence.Failed, Reason: statusText(r)}
}

// statusText says what a status that is not 200 means, without anything of the body: it can be of any kind and length.
func statusText(r *reply) string {
	text := codeText(r.status)
	switch {
	case r.status >= 300 && r.status < 400:
		text += ": a redirect"
		if to, err := url.Parse(r.header.Get("Location")); err == nil && to.Host != "" {
			text += fmt.Sprintf(" to %.100q", to.Host)
		}
		text += ", which is not followed"
	case r.header.Get("Retry-After") != "":
		text += fmt.Sprintf(" (Retry-After: %.40q)", r.header.Get("Retry-After"))
	}
	return text
}

func codeText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// get asks a question. From when its turn has come it takes no longer than the client's timeout, and it reads no more
// than the question's limit.
func (c *client) get(ctx context.Context, q question) *reply {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return &reply{err: context.Cause(ctx)}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, c.late)
	defer cancel()
	for {
		start := time.Now()
		r, read := c.once(ctx, q)
		entry := evidence.Request{
			Server: c.address, Path: q.path, Profile: q.profile, Local: q.local,
			Status: r.status, Bytes: read, SHA256: r.sha256, Milliseconds: time.Since(start).Milliseconds(),
		}
		if r.err != nil {
			entry.Error = reason(r.err)
		}
		c.log.add(entry)
		wait, again := retryAfter(r, q)
		if !again {
			return r
		}
		deadline, _ := ctx.Deadline()
		if time.Until(deadline) <= wait {
			return r
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return r
		}
	}
}

// retryAfter tells whether a server asked to come again soon, and when.
func retryAfter(r *reply, q question) (time.Duration, bool) {
	if r.err != nil || r.status != http.StatusTooManyRequests &&
		!(q.retry && r.status == http.StatusServiceUnavailable) {
		return 0, false
	}
	seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > maxRetryAfter {
		return 0, false
	}
	// Zero is no leave to ask without end.
	return time.Duration(max(seconds, 1)) * time.Second, true
}

func (c *client) once(ctx context.Context, q question) (r *reply, read int64) {
	path, query, _ := strings.Cut(q.path, "?")
	target := c.base.JoinPath(path)
	target.RawQuery = query
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(traced, http.MethodGet, target.String(), nil)
	if err != nil {
		return &reply{err: err}, 0
	}
	if q.accept != "" {
		req.Header.Set("Accept", q.accept)
	}
	if q.local {
		req.Header.Set("x-kubernetes-peer-proxied", "true")
	}
	res, err := c.http.Do(req)
	if err != nil {
		if err = cause(ctx, err); !connected.Load() && (errors.Is(err, c.late) || timedOut(err)) {
			err = noConnection(c.timeout)
		}
		return &reply{err: err}, 0
	}
	defer res.Body.Close()
	r = &reply{status: res.StatusCode, header: res.Header}
	if r.status == http.StatusSwitchingProtocols {
		// What follows is no body, and nothing ends the reading of it.
		return r, 0
	}
	limit := q.limit
	if r.status != http.StatusOK {
		limit = min(limit, maxSmall)
	}
	digest := sha256.New()
	body := &countingReader{r: io.TeeReader(io.LimitReader(res.Body, limit+1), digest)}
	if r.status == http.StatusOK && q.read != nil {
		err = q.read(body)
		if err == nil {
			_, err = io.Copy(io.Discard, body)
		}
	} else {
		var buf bytes.Buffer
		_, err = buf.ReadFrom(body)
		r.body = buf.Bytes()
	}
	switch {
	case body.n > limit && r.status == http.StatusOK:
		r.err = fmt.Errorf("the answer is longer than %s", byteCount(limit))
	case err != nil, ctx.Err() != nil:
		// A server that sees us hang up can end its answer in time for us to take it for whole.
		r.err = cause(ctx, err)
	default:
		r.sha256 = hex.EncodeToString(digest.Sum(nil))
	}
	return r, body.n
}

func byteCount(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// cause prefers why a context ended to what its end broke.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

func noConnection(timeout time.Duration) error { return fmt.Errorf("no connection within %s", timeout) }

// reason says in one line of printable words what went wrong on the way to a server. It holds no URL, as that can have
// credentials in it, and nothing of an answer's body.
func reason(err error) string { return line(explain(err)) }

// line is the first line of a text, in printable characters and of a length that fits into a message.
func line(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, text)
	if runes := []rune(text); len(runes) > maxReason {
		return string(runes[:maxReason]) + "…"
	}
	return text
}

func explain(err error) string {
	var (
		urlError  *url.Error
		opError   *net.OpError
		verify    *tls.CertificateVerificationError
		hostname  x509.HostnameError
		unknownCA x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		protocol  textproto.ProtocolError
		corrupt   flate.CorruptInputError
		dnsError  *net.DNSError
	)
	switch {
	case errors.As(err, &urlError):
		return explain(urlError.Err)
	case errors.As(err, &opError) && opError.Op == "proxyconnect":
		return "the proxy: " + explain(opError.Err)
	case errors.As(err, &opError) && opError.Op == "remote error":
		return "it refuses the TLS handshake: " + opError.Err.Error()
	case errors.As(err, &hostname):
		return "its certificate is not valid for " + hostname.Host + " but for " + names(hostname.Certificate)
	case errors.As(err, &unknownCA):
		return "its certificate is not signed by the kubeconfig's CA"
	case errors.As(err, &invalid):
		return "its certificate is not valid: " + invalid.Error()
	case errors.As(err, &verify):
		return "its certificate is not valid: " + verify.Err.Error()
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the answer is not TLS"
	case errors.As(err, &dnsError):
		if dnsError.IsNotFound {
			return "no such host: " + strconv.Quote(dnsError.Name)
		}
		return "the host name cannot be looked up: " + strconv.Quote(dnsError.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to the host"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was closed in the middle of the answer"
	case errors.As(err, &protocol), strings.Contains(err.Error(), "malformed HTTP"):
		return "the answer is not HTTP"
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return "the headers of the answer are longer than " + byteCount(maxHeaderBytes)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return "the answer says that it is gzip and is not"
	case timedOut(err):
		return "no answer in time"
	}
	return err.Error()
}

// names are those that a certificate is valid for.
func names(cert *x509.Certificate) string {
	if cert == nil {
		return "others"
	}
	all := certificateNames(cert)
	switch more := len(cert.DNSNames) + len(cert.IPAddresses) - maxNamesInReason; {
	case len(all) == 0:
		return "none"
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxNamesInReason], ", "), more)
	}
	return strings.Join(all, ", ")
}

// certificateNames are the host names and addresses in a certificate, the first maxNames of them.
func certificateNames(cert *x509.Certificate) []string {
	var all []string
	for _, name := range cert.DNSNames {
		all = append(all, line(name))
	}
	for _, ip := range cert.IPAddresses {
		all = append(all, ip.String())
	}
	return all[:min(len(all), maxNames)]
}
