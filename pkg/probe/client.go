package probe

import (
	"bytes"
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
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/mvpcheck/mvpcheck/pkg/evidence"
)

// The bounds of what a server can make us read, hold and wait for.
const (
	maxHeaderBytes   = 64 << 10
	maxDiscovery     = 16 << 20
	maxList          = 8 << 20
	maxSmall         = 256 << 10
	maxMetrics       = 128 << 20 // streamed, not held
	maxRetryAfter    = 3 * time.Second
	parallelServers  = 16
	parallelRequests = 8
)

// A client sends GET requests to one API server with the kubeconfig's credentials.
type client struct {
	// address is what requests are recorded under: host and port.
	address string
	base    *url.URL
	http    *http.Client
	timeout time.Duration
	log     *requestLog
	slots   chan struct{}
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

// newClient returns a client of the server at base. Where serverName is not empty, the server's certificate must be
// valid for it instead of the host of base. The certificate must be signed by the kubeconfig's CA in any case: the
// credentials are sent after the handshake only.
func newClient(cfg *rest.Config, base *url.URL, serverName string, timeout time.Duration, log *requestLog) (*client, error) {
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
	proxy := http.ProxyFromEnvironment
	if tc.Proxy != nil {
		proxy = tc.Proxy
	}
	dial := (&net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second}).DialContext
	if tc.DialHolder != nil {
		dial = tc.DialHolder.Dial
	}
	rt, err := transport.HTTPWrappersForConfig(tc, &http.Transport{
		Proxy:                  proxy,
		DialContext:            dial,
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    timeout,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxConnsPerHost:        parallelRequests,
		IdleConnTimeout:        30 * time.Second,
	})
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
		timeout: timeout,
		log:     log,
		slots:   make(chan struct{}, parallelRequests),
	}, nil
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
	text := strconv.Itoa(r.status)
	if name := http.StatusText(r.status); name != "" {
		text += " " + name
	}
	switch {
	case r.status >= 300 && r.status < 400:
		text += ": a redirect"
		if to, err := url.Parse(r.header.Get("Location")); err == nil && to.Host != "" {
			text += " to " + strconv.Quote(to.Host)
		}
		text += ", which is not followed"
	case r.header.Get("Retry-After") != "":
		text += fmt.Sprintf(" (Retry-After: %.40q)", r.header.Get("Retry-After"))
	}
	return text
}

// get asks a question. It never takes longer than the client's timeout, and reads no more than the question's limit.
func (c *client) get(ctx context.Context, q question) *reply {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return &reply{err: context.Cause(ctx)}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no whole answer within %s", c.timeout))
	defer cancel()
	for {
		start := time.Now()
		r, bytes := c.once(ctx, q)
		entry := evidence.Request{
			Server: c.address, Path: q.path, Profile: q.profile, Local: q.local,
			Status: r.status, Bytes: bytes, SHA256: r.sha256, Milliseconds: time.Since(start).Milliseconds(),
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
	if r.err != nil || r.status != http.StatusTooManyRequests && !(q.retry && r.status == http.StatusServiceUnavailable) {
		return 0, false
	}
	seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
	wait := time.Duration(seconds) * time.Second
	if err != nil || seconds < 0 || wait > maxRetryAfter {
		return 0, false
	}
	// Zero is no leave to ask without end.
	return max(wait, time.Second), true
}

func (c *client) once(ctx context.Context, q question) (r *reply, read int64) {
	path, query, _ := strings.Cut(q.path, "?")
	target := *c.base
	target.Path = strings.TrimSuffix(c.base.Path, "/") + path
	target.RawQuery = query
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
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
		return &reply{err: cause(ctx, err)}, 0
	}
	defer res.Body.Close()
	r = &reply{status: res.StatusCode, header: res.Header}
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
	case err != nil:
		r.err = cause(ctx, err)
	case body.n > limit && r.status == http.StatusOK:
		r.err = fmt.Errorf("the answer is longer than %s", byteCount(limit))
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

// reason says in one line of words what went wrong on the way to a server. It holds no URL, as that can have
// credentials in it, and nothing of an answer's body.
func reason(err error) string {
	var (
		urlError    *url.Error
		opError     *net.OpError
		verify      *tls.CertificateVerificationError
		hostname    x509.HostnameError
		unknownCA   x509.UnknownAuthorityError
		invalid     x509.CertificateInvalidError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		dnsError    *net.DNSError
		timeoutting interface{ Timeout() bool }
	)
	switch {
	case errors.As(err, &hostname):
		return "its certificate is not valid for " + hostname.Host + " but for " + names(hostname.Certificate)
	case errors.As(err, &unknownCA):
		return "its certificate is not signed by the kubeconfig's CA"
	case errors.As(err, &invalid):
		return "its certificate is not valid: " + invalid.Error()
	case errors.As(err, &verify):
		return "its certificate is not valid: " + verify.Err.Error()
	case errors.As(err, &record):
		return "the answer is not TLS"
	case errors.As(err, &alert):
		return "it refused the TLS handshake: " + alert.Error()
	case errors.As(err, &dnsError):
		return "no such host: " + strconv.Quote(dnsError.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was closed in the middle of the answer"
	case errors.As(err, &opError) && opError.Timeout():
		return "no connection in time"
	case errors.As(err, &urlError):
		return reason(urlError.Err)
	case errors.As(err, &timeoutting) && timeoutting.Timeout():
		return "no answer in time"
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// names are those that a certificate is valid for.
func names(cert *x509.Certificate) string {
	if cert == nil {
		return "others"
	}
	all := certificateNames(cert)
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

func certificateNames(cert *x509.Certificate) []string {
	var all []string
	for _, name := range cert.DNSNames {
		// As it is untrusted text.
		all = append(all, strings.Trim(strconv.Quote(name), `"`))
	}
	for _, ip := range cert.IPAddresses {
		all = append(all, ip.String())
	}
	return all
}
