//go:build lab && linux

package campaign

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/test/lab"
	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// outcome is what becomes of a server.
type outcome string

const (
	// starts: it was ready, or where it lets nobody ask, it was still there long after it began to listen.
	starts outcome = "starts"
	// exits: it ended by itself.
	exits outcome = "exits"
	// notReady: neither within the time.
	notReady outcome = "not ready"
	// refused: kubeadm does not take the configuration.
	refused outcome = "refused by kubeadm"
)

const (
	trialTimeout = 100 * time.Second
	// silence is how long a server that answers 401 or 403 must live: all that ends a server by itself comes earlier.
	silence = 12 * time.Second
)

// trial is a setting that was tried.
type trial struct {
	setting Setting
	outcome outcome
	// code and log are those of a server that exits; of one that is not ready, what it answers is in the log.
	code int
	log  string
	args []string
	said []prediction
	took time.Duration
}

// tryOut starts a server with the setting on a node of that address: in a new cluster, or else in one that there was before,
// which has the objects that a cluster begins with.
func tryOut(t *testing.T, cp *controlplane.ControlPlane, s Setting, address string, newOne bool) (r trial, err error) {
	r.setting = s.At(Site{Etcd: cp.Etcd, Address: address})
	started := time.Now()
	err = try(t, func(a *attempt) {
		server := cp.Add(a, controlplane.Node{
			Release: s.Release, Name: fmt.Sprintf("setting-%d", s.Index), Address: address, Config: r.setting.Config(), Files: nodeFiles(cp),
		})
		text, err := os.ReadFile(server.ConfigFile)
		if err != nil {
			a.Fatalf("%v", err)
		}
		r.said = predict(a, text, server.Release, server.Root)
		if !slices.Contains(s.Names(), "etcd-prefix") {
			prefix := fmt.Sprintf("--etcd-prefix=/campaign/%d", time.Now().UnixNano())
			server.Args = append(server.Args, prefix)
			if !newOne {
				cp.Begin(a, controlplane.Node{
					Release: s.Release, Name: fmt.Sprintf("before-%d", s.Index), Address: address,
					Flags: []controlplane.Change{controlplane.Raw(prefix)},
				})
			}
		}
		r.args = server.Args
		server.Start(a)
		r.watch(a, cp, server)
	})
	if err != nil && strings.Contains(err.Error(), lab.ErrRefused.Error()) {
		r.outcome, r.log = refused, err.Error()
		err = try(t, func(a *attempt) {
			of, err := lab.FindRelease(s.Release)
			if err != nil {
				a.Fatalf("%v", err)
			}
			r.said = predict(a, []byte(lab.WithNode(of.Pin(r.setting.Config()), "cp-1", address)), of, "")
		})
	}
	r.took = time.Since(started)
	return r, err
}

// watch waits for what becomes of the server.
func (r *trial) watch(a *attempt, cp *controlplane.ControlPlane, server *controlplane.Server) {
	ctx, cancel := context.WithTimeout(a.Context(), trialTimeout)
	defer cancel()
	client := adminClient(a, cp)
	var refusedSince time.Time
	answer := "no answer"
	for {
		// Asked before the answer is judged: a server that answers and has ended has ended.
		status, body := readiness(ctx, client, server)
		if code, _, ok := server.Exited(); ok {
			r.outcome, r.code, r.log = exits, code, server.LogText()
			return
		}
		switch {
		case status == http.StatusOK:
			r.outcome, r.log = starts, server.LogText()
			return
		case status != http.StatusUnauthorized && status != http.StatusForbidden:
			refusedSince = time.Time{}
		case refusedSince.IsZero():
			refusedSince = time.Now()
		case time.Since(refusedSince) > silence:
			r.outcome, r.log = starts, server.LogText()
			return
		}
		if status != 0 {
			answer = fmt.Sprint(status, " ", body)
		}
		select {
		case <-ctx.Done():
			r.outcome, r.log = notReady, answer+"\n"+server.LogText()
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// listening is the line that a server writes when it begins to listen.
var listening = regexp.MustCompile(`Serving securely on ([0-9a-f.:\[\]]*\d)`)

// readiness asks the server where it says that it listens, else where it should; the status is 0 where there is no answer.
func readiness(ctx context.Context, client *http.Client, server *controlplane.Server) (status int, body string) {
	host := server.HostPort()
	if m := listening.FindStringSubmatch(server.LogText()); m != nil {
		host = m[1]
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/readyz", nil)
	if err != nil {
		return 0, err.Error() // a port that is none
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

func adminClient(a *attempt, cp *controlplane.ControlPlane) *http.Client {
	pair, err := tls.X509KeyPair(cp.Admin.CertPEM(), cp.Admin.KeyPEM())
	if err != nil {
		a.Fatalf("%v", err)
	}
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}},
	}}
}

// nodeFiles are the files of a node, with those that are made of the certificates of the control plane.
func nodeFiles(cp *controlplane.ControlPlane) map[string][]byte {
	files := Files()
	ca, key := cp.CA.CertPEM(), cp.Admin.KeyPEM()
	files[extra+"text-and-ca.crt"] = append([]byte("the cluster's\n"), ca...)
	files[extra+"two.crt"] = slices.Concat(ca, cp.EtcdCA.CertPEM())
	files[extra+"cert-and-key.pem"] = slices.Concat(cp.Admin.CertPEM(), key)
	files[extra+"pkcs8.key"] = key
	files[extra+"no-line-break.crt"] = bytes.TrimSpace(ca)
	files[extra+"keys.pem"] = publicKeys(cp)
	return files
}

// publicKeys are two in one file, as for the change of a key.
func publicKeys(cp *controlplane.ControlPlane) []byte {
	var out []byte
	for _, id := range []*controlplane.Identity{cp.CA, cp.Admin} {
		der, err := x509.MarshalPKIXPublicKey(id.Key.Public())
		if err != nil {
			panic(err) // only for kinds of keys that the lab does not make
		}
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	}
	return out
}

// write writes all that it takes to try the setting again and to understand it.
func (r trial) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s\nagain: make lab-fuzz SEED=%d ONLY=%d RUN=TestStartUp\n%s", r.setting, r.setting.Seed, r.setting.Index, r.setting.Config())
	fmt.Fprintf(b, "kube-apiserver %s\n", strings.Join(r.args, " "))
	for _, p := range r.said {
		fmt.Fprintf(b, "mvpcheck, as %s: %s\n", p.as, p)
	}
	fmt.Fprintf(b, "the server: %s, exit code %d\n%s\n", r.outcome, r.code, lastLines(r.log, 12))
}

// lastLines returns the last lines of a log, without those that say nothing.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	// A flag that is refused is followed by all flags that there are.
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Usage:") }); i >= 0 {
		lines = append(lines[:i:i], lines[len(lines)-1])
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "createTransport failed") })
	lines = lines[max(0, len(lines)-n):]
	for i, l := range lines {
		lines[i] = "  | " + l[:min(len(l), 600)]
	}
	return strings.Join(lines, "\n")
}
