package probe

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// bodyText is in what hostile servers send. It is not to be in any reason.
const bodyText = "TEXT-OF-A-BODY"

// A hostile server stands beside two healthy ones.
type hostileServer struct {
	name string
	// start starts the server. With a path of its own it is healthy otherwise.
	start func(*cluster) *fake
	// told picks the state of the source that shows it, and want is what it says of it. Of several, separated by |, one
	// must be it.
	told func(*evidence.Server) evidence.Told
	want string
	// slow: the timeout is to end this. rounds is how many of them may pass, 2 where it is zero.
	slow   bool
	rounds int
}

// The bounds of the test. A busy machine takes its time; what is not slow is to end long before it is.
const (
	shortTimeout = 1500 * time.Millisecond
	longTimeout  = 30 * time.Second
	enough       = 10 * time.Second
	maxGrowth    = 100 << 20
)

func reachedOf(s *evidence.Server) evidence.Told { return s.Reached }
func mergedOf(s *evidence.Server) evidence.Told  { return s.Merged.Told }
func metricsOf(s *evidence.Server) evidence.Told { return s.Metrics.Told }
func hooksOf(s *evidence.Server) evidence.Told   { return s.Hooks.Told }
func flagsOf(s *evidence.Server) evidence.Told   { return s.Flags.Told }

// over returns a start of an HTTP server that answers path, or all where it is empty, with h.
func over(path string, h http.HandlerFunc, options ...func(*fake)) func(*cluster) *fake {
	return func(c *cluster) *fake {
		return c.newFake("hostile", "v1.36.3", newOnes, append(options, at(path, h))...)
	}
}

// raw returns a start of a server that speaks TLS and then what serve says.
func raw(serve func(net.Conn)) func(*cluster) *fake {
	return func(c *cluster) *fake { return c.newRaw(c.identity(), serve) }
}

// says answers each request on a connection with a text.
func says(text string) func(net.Conn) {
	return func(conn net.Conn) {
		if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			req.Body.Close()
			_, _ = io.WriteString(conn, text)
		}
	}
}

// endless writes a text again and again until the client has gone, or so many bytes.
func endless(w io.Writer, text string, limit int64) {
	chunk := bytes.Repeat([]byte(text), 64<<10/len(text)+1)
	for n := int64(0); n < limit; n += int64(len(chunk)) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// slowly writes a byte a second.
func slowly(w http.ResponseWriter, r *http.Request) {
	for {
		if _, err := io.WriteString(w, "{"); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Second):
		}
	}
}

func bigJSON(before, each string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, before)
		endless(w, each, 100<<20)
	}
}

func answers(code int, header, value, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set(header, value)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// firstly answers the first request for a path with h, later ones as usual.
func firstly(path string, h http.HandlerFunc) func(*cluster) *fake {
	return func(c *cluster) *fake {
		done := make(chan struct{}, 1)
		return c.newFake("hostile", "v1.36.3", newOnes, answering(func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			select {
			case done <- struct{}{}:
				h(w, r)
				return true
			default:
				return false
			}
		}))
	}
}

// bomb is GiBs of one text in gzip: one member again and again.
func bomb(before, each string) http.HandlerFunc {
	head, member := compressed([]byte(before)), compressed(bytes.Repeat([]byte(each), 16<<20/len(each)))
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(head)
		for range 128 {
			if _, err := w.Write(member); err != nil {
				return
			}
		}
	}
}

func html(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<html><body>%s</body></html>", bodyText)
}

const (
	isNo      = "it does not answer as an API server: "
	late      = "no whole answer within 1.5s"
	notHTTP   = "the answer is not HTTP"
	cutOff    = "the connection was closed in the middle of the answer"
	notJSON   = "the answer is not JSON of a discovery document"
	longPiece = "a part of the answer is longer than 1 MiB"
	manyThere = "the document lists more than 50000 resources"
)

// hostileText is text that does harm on a terminal.
const hostileText = "\x1b[31mred\n\u202eforged\u2028"

func hostileServers() []hostileServer {
	hostileDoc := func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, list("APIGroupDiscoveryList", []any{map[string]any{
			"metadata": map[string]string{"name": hostileText}, "versions": []any{map[string]any{
				"version": "v1/../../x?", "resources": []any{map[string]any{"resource": "../../" + hostileText, "subresources": []any{map[string]string{"subresource": "#"}}}},
			}},
		}}))
	}
	deep := strings.Repeat(`[`, 200_000)
	return []hostileServer{
		{name: "endless body", start: over("", func(w http.ResponseWriter, _ *http.Request) { endless(w, bodyText, 1<<40) }), want: "the answer is longer than 256 KiB"},
		{name: "endless body of an error", start: over("", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			endless(w, bodyText, 1<<40)
		}), want: isNo + "500 Internal Server Error"},
		{name: "endless document", start: over("/apis", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"kind":"APIGroupDiscoveryList","items":[`)
			endless(w, `{"metadata":{"name":"`+strings.Repeat("x", 500)+`"}},`, 1<<40)
		}), told: mergedOf, want: "the answer is longer than 16 MiB"},
		{name: "one byte a second", start: over("", slowly), want: late, slow: true},
		{name: "one byte a second, HTTP/1", start: over("", slowly, oneHTTP), want: late, slow: true},
		{name: "documents of one byte a second", start: over("/apis", slowly), told: mergedOf, want: late, slow: true, rounds: 5},
		{name: "metrics of one byte a second", start: over("/metrics", slowly), told: metricsOf, want: late, slow: true},
		{name: "named GETs of one byte a second", start: over("/apis/storagemigration.k8s.io/", slowly), told: mergedOf, slow: true, rounds: 5},

		{name: "100 MiB of version", start: over("/version", bigJSON(`{"gitVersion":"`, bodyText)), want: "the answer is longer than 256 KiB"},
		{name: "100 MiB of resources", start: over("/apis", bigJSON(`{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"resources":[`, `{"resource":"things"},`)), told: mergedOf, want: manyThere},
		{name: "100 MiB of nothings", start: over("/apis", bigJSON(`{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"resources":[`, `0,`)), told: mergedOf, want: notJSON},
		{name: "100 MiB of subresources", start: over("/apis", bigJSON(`{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"resources":[{"subresources":[`, `{},`)), told: mergedOf, want: longPiece},
		{name: "100 MiB of groups", start: over("/apis", bigJSON(`{"kind":"APIGroupDiscoveryList","items":[`, `{"metadata":{"name":"`+strings.Repeat("x", 500)+`"}},`)), told: mergedOf, want: "the answer is longer than 16 MiB"},
		{name: "100 MiB of a name", start: over("/apis", bigJSON(`{"kind":"`, bodyText)), told: mergedOf, want: longPiece},
		{name: "100 MiB of metrics", start: over("/metrics", bigJSON("", "some_metric_of_no_interest{with=\"labels\"} 12345\n")), told: metricsOf, want: "none of the metrics of an API server"},
		{name: "100 MiB of our metrics", start: over("/metrics", bigJSON("", "apiserver_rerouted_request_total{code=\"200\"} 12345\n")), told: metricsOf, want: "more series of the Mixed Version Proxy than any server has"},
		{name: "100 MiB of one line of metrics", start: over("/metrics", bigJSON("apiserver_rerouted_request_total{code=\"200\"} 1\n", bodyText)), told: metricsOf},
		{name: "100 MiB of hooks", start: over("/readyz", bigJSON("", "[+]poststarthook/x ok\n")), told: hooksOf, want: "the answer is longer than 256 KiB"},
		{name: "100 MiB of flags", start: over("/flagz", bigJSON(`{"kind":"Flagz","flags":{"x":"`, bodyText)), told: flagsOf, want: "the answer is longer than 256 KiB"},
		{name: "100 MiB of an object", start: over("/apis/storagemigration.k8s.io/", bigJSON(`{"kind":"Status","x":"`, bodyText)), told: mergedOf},
		{name: "gzip bomb", start: over("", bomb("", bodyText)), want: "the answer is longer than 256 KiB"},
		{name: "gzip bomb of resources", start: over("/apis", bomb(`{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"resources":[`, `{"resource":"things"},`)), told: mergedOf, want: manyThere},
		{name: "gzip bomb of metrics", start: over("/metrics", bomb("", "some_metric_of_no_interest{with=\"labels\"} 12345\n")), told: metricsOf, want: "the answer is longer than 128 MiB"},

		{name: "HTML", start: over("", html), want: isNo + "/version is not the JSON of an API server"},
		{name: "HTML documents", start: over("/apis", html), told: mergedOf, want: notJSON},
		{name: "HTML metrics", start: over("/metrics", html), told: metricsOf, want: "none of the metrics of an API server"},
		{name: "HTML hooks", start: over("/readyz", html), told: hooksOf, want: "/readyz?verbose lists no start hooks"},
		{name: "HTML flags", start: over("/flagz", html), told: flagsOf, want: "/flagz is not in the format that was asked for"},
		{name: "broken gzip", start: over("", answers(200, "Content-Encoding", "gzip", bodyText)), want: "the answer says that it is gzip and is not"},
		{name: "broken gzip in the middle", start: over("", answers(200, "Content-Encoding", "gzip", string(compressed([]byte(bodyText))[:15])+bodyText)), want: "the answer says that it is gzip and is not|" + cutOff},
		{name: "unknown encoding", start: over("", answers(200, "Content-Encoding", "br", bodyText)), want: isNo + "/version is not the JSON of an API server"},
		{name: "protobuf", start: over("/apis", answers(200, "Content-Type", "application/vnd.kubernetes.protobuf", "k8s\x00\n\x0c\n\x02v1\x12\x06Status\x1a")), told: mergedOf, want: notJSON},
		{name: "legacy discovery", start: over("/apis", answers(200, "", "", `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)), told: mergedOf, want: "the answer is not aggregated discovery (kind APIGroupDiscoveryList)"},
		{name: "two documents", start: over("/apis", answers(200, "", "", `{"kind":"APIGroupDiscoveryList","items":[]}{}`)), told: mergedOf, want: notJSON},
		{name: "half a document", start: over("/apis", answers(200, "", "", `{"kind":"APIGroupDiscoveryList","items":[{"me`)), told: mergedOf, want: notJSON},
		{name: "deeply nested", start: over("/apis", answers(200, "", "", `{"kind":"APIGroupDiscoveryList","x":`+deep)), told: mergedOf, want: notJSON},
		{name: "deeply nested items", start: over("/apis", answers(200, "", "", `{"kind":"APIGroupDiscoveryList","items":`+deep)), told: mergedOf, want: notJSON},
		{name: "deeply nested version", start: over("/version", answers(200, "", "", deep)), want: isNo + "/version is not the JSON of an API server"},
		{name: "hostile names", start: over("/apis", hostileDoc), told: mergedOf},
		{name: "hostile version", start: over("/version", func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, map[string]string{"gitVersion": hostileText, "emulationMinor": hostileText})
		})},
		{name: "hostile hooks and flags", start: over("/readyz", answers(200, "", "", "[+]poststarthook/"+hostileText+" ok\n"))},

		{name: "no content", start: over("", answers(204, "", "", "")), want: isNo + "204 No Content"},
		{name: "switching protocols", start: raw(func(conn net.Conn) {
			says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" + bodyText)(conn)
			_, _ = io.Copy(io.Discard, conn) // until the client ends it
		}), want: isNo + "101 Switching Protocols"},
		{name: "informational answers without end", start: raw(func(conn net.Conn) {
			says("")(conn)
			endless(conn, "HTTP/1.1 103 Early Hints\r\nLink: "+bodyText+"\r\n\r\n", 1<<40)
		}), want: "the headers of the answer are longer than 64 KiB"},
		{name: "headers without end", start: raw(func(conn net.Conn) {
			says("HTTP/1.1 200 OK\r\n")(conn)
			endless(conn, "X-Header: "+bodyText+"\r\n", 1<<40)
		}), want: "the headers of the answer are longer than 64 KiB"},
		{name: "a header of 1 MiB", start: over("", answers(200, "X-Header", strings.Repeat("x", 1<<20), ""), oneHTTP), want: "the headers of the answer are longer than 64 KiB"},
		{name: "a header of 1 MiB, HTTP/2", start: over("", answers(200, "X-Header", strings.Repeat("x", 1<<20), "")), want: "connection error: COMPRESSION_ERROR|http2: response header list larger than advertised limit"},
		{name: "a status line with text", start: raw(says("HTTP/1.1 599 " + bodyText + hostileText + "\r\nContent-Length: 0\r\n\r\n")), want: isNo + "599|" + notHTTP},
		{name: "a header that is none", start: raw(says("HTTP/1.1 200 OK\r\n" + bodyText + hostileText + "\r\n\r\n")), want: notHTTP},
		{name: "no HTTP", start: raw(says(bodyText + hostileText + "\r\n\r\n")), want: notHTTP},
		{name: "closed in the header", start: raw(says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n")), want: cutOff},
		{name: "closed in a line of the header", start: raw(says("HTTP/1.1 200 OK\r\nContent-Le")), want: notHTTP},
		{name: "closed before the header", start: raw(says("")), want: cutOff},
		{name: "closed in the body", start: raw(says("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{" + bodyText)), want: cutOff},
		{name: "closed in a chunk", start: raw(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{" + bodyText)), want: cutOff},
		{name: "a chunk that is none", start: raw(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + bodyText + "\r\n")), want: "invalid byte in chunk length"},
		{name: "body aborted, HTTP/2", start: over("", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, bodyText)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}), want: "stream error: stream ID 1; INTERNAL_ERROR; received from peer"},
		{name: "silent", start: func(c *cluster) *fake {
			return c.newRaw(nil, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
		}, want: "no connection within 1.5s", slow: true},
		{name: "silent after the handshake", start: raw(func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }), want: late, slow: true},
		{name: "silent HTTP/2", start: over("", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), want: late, slow: true},
		{name: "silent metrics and flags", start: over("/metrics", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), told: metricsOf, want: late, slow: true},
		{name: "plain HTTP", start: func(c *cluster) *fake {
			return c.newRaw(nil, func(conn net.Conn) {
				_, _ = conn.Read(make([]byte, 1))
				_, _ = io.WriteString(conn, "HTTP/1.0 400 Bad Request\r\n\r\n"+bodyText)
			})
		}, want: "the answer is not TLS|connection reset"},
		{name: "no TLS", start: func(c *cluster) *fake {
			return c.newRaw(nil, func(conn net.Conn) {
				_, _ = conn.Read(make([]byte, 1<<10))
				_, _ = io.WriteString(conn, bodyText+hostileText)
			})
		}, want: "the answer is not TLS|connection reset"},
		{name: "closed at once", start: func(c *cluster) *fake { return c.newRaw(nil, func(net.Conn) {}) }, want: cutOff + "|connection reset"},
		{name: "nobody there", start: func(c *cluster) *fake {
			f := c.newRaw(nil, func(net.Conn) {})
			f.close()
			return f
		}, want: "connection refused"},
		{name: "another CA", start: func(c *cluster) *fake {
			other := certstest.NewCA(c.t, "kubernetes", valid)
			return c.newFake("hostile", "v1.36.3", newOnes, certificate(other.Issue(c.t, hostileText, valid, certstest.DNS(certstest.PeerNames...), ips("127.0.0.1"))))
		}, want: "its certificate is not signed by the kubeconfig's CA"},
		{name: "another name", start: func(c *cluster) *fake {
			return c.newFake("hostile", "v1.36.3", newOnes, certificate(c.ca.Issue(c.t, hostileText, valid, certstest.DNS("a.example", "b\x1b[31m.example"), ips("192.0.2.1"))))
		}, want: "its certificate is not valid for 127.0.0.1 but for a.example, b\ufffd[31m.example, 192.0.2.1"},
		{name: "a thousand names", start: func(c *cluster) *fake {
			var all []string
			for i := range 1000 {
				all = append(all, strconv.Itoa(i)+".example")
			}
			return c.newFake("hostile", "v1.36.3", newOnes, certificate(c.ca.Issue(c.t, "x", valid, certstest.DNS(all...))))
		}, want: "its certificate is not valid for 127.0.0.1 but for 0.example, 1.example, 2.example, 3.example, 4.example, 5.example, 6.example, 7.example and 992 more"},
		{name: "expired", start: func(c *cluster) *fake {
			return c.newFake("hostile", "v1.36.3", newOnes, certificate(c.ca.Issue(c.t, "x", valid, ips("127.0.0.1"),
				certstest.Ends(time.Now().Add(-time.Minute)))))
		}, want: "its certificate is not valid: x509: certificate has expired or is not yet valid: *"},

		{name: "429 for a second", start: firstly("/version", answers(429, "Retry-After", "1", bodyText)), want: "", slow: true},
		{name: "429 for an hour", start: over("", answers(429, "Retry-After", "3600", bodyText)), want: isNo + `429 Too Many Requests (Retry-After: "3600")`},
		{name: "429 with no number", start: over("", answers(429, "Retry-After", hostileHeader, bodyText)), want: isNo + `429 Too Many Requests (Retry-After: "soon, but not \"now\"; xxxxxxxxxxxxxxxxxxx")`},
		{name: "429 with a great number", start: over("", answers(429, "Retry-After", "9223372036854775807", bodyText)), want: isNo + `429 Too Many Requests (Retry-After: "9223372036854775807")`},
		{name: "429 without Retry-After", start: over("", answers(429, "", "", bodyText)), want: isNo + "429 Too Many Requests"},
		{name: "429 without end", start: over("", answers(429, "Retry-After", "0", bodyText)), want: isNo + `429 Too Many Requests (Retry-After: "0")`, slow: true},
		{name: "503 for an hour", start: over("", answers(503, "Retry-After", "3600", bodyText)), want: isNo + `503 Service Unavailable (Retry-After: "3600")`},
		{name: "503 documents for a second", start: firstly("/apis", answers(503, "Retry-After", "1", bodyText)), told: mergedOf, want: "", slow: true},
		{name: "401", start: over("", answers(401, "", "", bodyText)), want: "it refuses the credentials of the kubeconfig (401 Unauthorized)"},
		{name: "403 documents", start: over("/apis", answers(403, "", "", bodyText)), told: mergedOf, want: "403 Forbidden"},
	}
}

var hostileHeader = `soon, but not "now"; ` + strings.Repeat("x", 1000)

func TestHostileServers(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	var slow sync.WaitGroup
	for _, h := range hostileServers() {
		if h.slow {
			judge := h.prepare(t)
			slow.Go(func() { judge(t) })
		}
	}
	slow.Wait()
	checkGoroutines(t, goroutines)
	for _, h := range hostileServers() {
		if !h.slow {
			t.Run(h.name, func(t *testing.T) {
				goroutines := runtime.NumGoroutine()
				stop := watchHeap()
				h.prepare(t)(t)
				if grown := stop(); grown > maxGrowth {
					t.Errorf("the heap grew by %d MiB", grown>>20)
				}
				checkGoroutines(t, goroutines)
			})
		}
	}
}

// prepare starts the servers and returns a function that asks them and judges the outcome.
func (h hostileServer) prepare(t *testing.T) (judge func(*testing.T)) {
	c, older, newer := pair(t)
	hostile := h.start(c)
	return func(t *testing.T) {
		defer func() {
			for _, f := range []*fake{older, newer, hostile} {
				f.close()
			}
		}()
		baseline, err := ask(t, Options{Config: c.config(older), Timeout: longTimeout})
		if err != nil {
			t.Errorf("%s: %v", h.name, err)
			return
		}
		c.listed = append(c.listed, hostile)
		timeout, limit := longTimeout, enough
		if h.slow {
			timeout, limit = shortTimeout, time.Duration(cmp.Or(h.rounds, 2))*shortTimeout+enough/2
		}
		start := time.Now()
		cp, err := ask(t, Options{Config: c.config(older), Timeout: timeout})
		if took := time.Since(start); took > limit {
			t.Errorf("%s: took %s", h.name, took)
		}
		if err != nil {
			t.Errorf("%s: %v", h.name, err)
			return
		}
		for _, f := range []*fake{older, newer} {
			want, got := serverAt(t, baseline, f), serverAt(t, cp, f)
			// What the hostile server lists by itself, the others are asked for too: that is what it may do.
			got.Objects = slices.DeleteFunc(got.Objects, func(o evidence.Object) bool { return want.Object(o.Resource) == nil })
			if diff := gocmp.Diff(want, got, cmpopts.IgnoreFields(evidence.Reading{}, "Time", "Rerouted")); diff != "" {
				t.Errorf("%s: %s suffers (-want +got):\n%s", h.name, f.name, diff)
			}
		}
		told := h.told
		if told == nil {
			told = reachedOf
		}
		if got := told(serverAt(t, cp, hostile)); got.OK() != (h.want == "") || !oneOf(got.Reason, h.want) {
			t.Errorf("%s: %s: %q, want %q", h.name, got.State, got.Reason, h.want)
		}
		checkReasons(t, cp)
	}
}

// checkGoroutines waits until no more goroutines run than before, but for some that are not the prober's.
func checkGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 500 {
		if runtime.NumGoroutine() <= before+3 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}

// oneOf tells whether a reason is one of those wanted; a star at the end stands for anything.
func oneOf(got, want string) bool {
	for w := range strings.SplitSeq(want, "|") {
		before, open := strings.CutSuffix(w, "*")
		if got == w || open && strings.HasPrefix(got, before) {
			return true
		}
	}
	return false
}

// watchHeap returns a function that tells by how much the heap has grown at most.
func watchHeap() (stop func() int64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, peak := int64(m.HeapInuse), int64(m.HeapInuse)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, int64(m.HeapInuse))
			select {
			case <-ctx.Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		cancel()
		<-done
		return peak - before
	}
}

// checkReasons makes sure that the recording is valid, that each reason in the evidence is one line of printable text without anything that is not
// for everyone's eyes, and that no secret is anywhere.
func checkReasons(t testing.TB, cp *evidence.ControlPlane) {
	t.Helper()
	text := recorded(t, cp)
	for _, secret := range []string{testToken, testPassword, "PRIVATE KEY"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the evidence", secret)
		}
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := evidenceSchema()
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Error(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, v := range v {
				walk(v)
			}
		case map[string]any:
			state, _ := v["state"].(string)
			if _, is := v["reason"]; state != "" && (state == "ok") == is && state != "not-asked" {
				t.Errorf("a state %q with reason %v", state, v["reason"])
			}
			for name, v := range v {
				if s, ok := v.(string); ok && (name == "reason" || name == "error") {
					checkReason(t, s)
				}
				walk(v)
			}
		}
	}
	walk(v)
}

var evidenceSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	return jsonschema.NewCompiler().Compile("../../docs/schema/probe-evidence.schema.json")
})

func checkReason(t testing.TB, s string) {
	t.Helper()
	printable := func(r rune) bool { return !strconv.IsPrint(r) }
	if s == "" || strings.ContainsFunc(s, printable) || strings.Contains(s, "://") || strings.Contains(s, bodyText) || len(s) > 3*maxReason {
		t.Errorf("a reason %q", s)
	}
}

// A redirect is not followed: the other host gets no connection, much less the credentials.
func TestRedirect(t *testing.T) {
	for _, path := range []string{"", "/version", "/apis", "/metrics", "/apis/storagemigration.k8s.io/", "/readyz"} {
		for _, code := range []int{302, 307} {
			c, older, newer := pair(t)
			other := c.newFake("other", "v1.36.3", newOnes)
			hostile := c.newFake("hostile", "v1.36.3", newOnes, at(path, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://user:"+testPassword+"@"+other.address+r.URL.Path, code)
			}))
			c.listed = []*fake{older, newer, hostile}
			cp := mustAsk(t, Options{Config: c.config(older)})
			want := fmt.Sprintf("%d %s: a redirect to %q, which is not followed", code, http.StatusText(code), other.address)
			s := serverAt(t, cp, hostile)
			if path == "" && s.Reached.Reason != isNo+want || path == "/apis" && s.Local.Reason != want || path == "/metrics" && s.Metrics.Reason != want {
				t.Errorf("%s: %+v", path, s)
			}
			if n := other.conns.Load(); n != 0 {
				t.Errorf("%s %d: the other host got %d connections", path, code, n)
			}
			checkReasons(t, cp)
		}
	}
}

// The kubeconfig's server itself can be the hostile one.
func TestHostileLists(t *testing.T) {
	const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	tests := []struct {
		name string
		h    http.HandlerFunc
		want string
	}{
		{"100 MiB of leases", bigJSON(`{"kind":"LeaseList","items":[`, `{"metadata":{"name":"x"}},`), "the list is longer than any that was asked for"},
		{"100 MiB of nothings", bigJSON(`{"kind":"LeaseList","items":[`, `0,`), errNotJSON.Error()},
		{"100 MiB of one lease", bigJSON(`{"kind":"LeaseList","items":[{"metadata":{"name":"`, bodyText), longPiece},
		{"100 MiB of members", bigJSON(`{"kind":"LeaseList","x":1`, `,"x":"`+strings.Repeat("x", 500)+`"`), "the answer is longer than 8 MiB"},
		{"gzip bomb", bomb(`{"kind":"LeaseList","x":1`, `,"x":"`+strings.Repeat("x", 500)+`"`), "the answer is longer than 8 MiB"},
		{"HTML", html, errNotJSON.Error()},
		{"empty object", answers(200, "", "", "{}"), errNotJSON.Error()},
		{"empty", answers(200, "", "", ""), errNotJSON.Error()},
		{"another kind", answers(200, "", "", `{"kind":"Status"}`), errNotJSON.Error()},
		{"wrong types", answers(200, "", "", `{"kind":"LeaseList","items":[{"metadata":7}]}`), errNotJSON.Error()},
		{"no time", answers(200, "", "", `{"kind":"LeaseList","items":[{"spec":{"renewTime":"soon"}}]}`), errNotJSON.Error()},
		{"deeply nested", answers(200, "", "", `{"kind":"LeaseList","items":[{"x":`+strings.Repeat("[", 200_000)), errNotJSON.Error()},
		{"cut off", answers(200, "", "", `{"kind":"LeaseList","items":[`), errNotJSON.Error()},
		{"null items", answers(200, "", "", `{"items":null,"kind":"LeaseList"}`), ""},
		{"hostile names and hosts", func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, list("LeaseList", []any{lease(hostileText, hostileText, 0), lease(hostileText+"2", "192.0.2.1:6443/"+hostileText, time.Hour)}))
		}, ""},
		{"times that cannot be written", answers(200, "", "", `{"kind":"LeaseList","items":[{"metadata":{"name":"x"},"spec":{"renewTime":"9999-12-31T23:59:59-23:59"}}]}`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, older, newer := pair(t)
			hostile := c.newFake("hostile", "v1.36.3", newOnes, at(leases, tt.h))
			c.listed = []*fake{older, newer}
			stop := watchHeap()
			cp := mustAsk(t, Options{Config: c.config(hostile)})
			if grown := stop(); grown > maxGrowth {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
			if got := cp.Shared.Leases.Told; got.Reason != tt.want || got.OK() != (tt.want == "") || !got.OK() && cp.Shared.Leases.Items != nil {
				t.Errorf("%+v, want %q", cp.Shared.Leases, tt.want)
			}
			for _, s := range cp.Servers {
				if !s.Reached.OK() || len(s.Objects) != 1 {
					t.Errorf("%+v", s)
				}
			}
			checkReasons(t, cp)
		})
	}
}
