//go:build lab && linux

package demo

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/internal/evidence"
	"github.com/mvpcheck/mvpcheck/internal/report"
)

// compareProbe runs mvpcheck probe on both and compares what it records, field by field, and what it says.
func (p *pair) compareProbe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text, err := p.embedded.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	want, got := p.probe(t, p.real[0].Kubeconfig(t)), p.probe(t, file)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-real +embedded):\n%s", d)
	}
}

// A probed control plane is what probe recorded and said, without what must differ.
type probed struct {
	Code     int
	Evidence *evidence.ControlPlane
	Report   report.ProbeReport
}

func (p *pair) probe(t *testing.T, kubeconfig string) probed {
	t.Helper()
	record := filepath.Join(t.TempDir(), "evidence.json")
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), []string{"mvpcheck", "probe", "-o", "json", "--record", record, "--kubeconfig", kubeconfig},
		cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	data, err := os.ReadFile(record)
	if err != nil {
		t.Fatalf("%v: exit code %d: %s", err, code, errs.String())
	}
	ev, err := evidence.Read(strings.NewReader(p.addresses(string(data))))
	if err != nil {
		t.Fatal(err)
	}
	r := probed{Code: code, Evidence: ev}
	if err := json.Unmarshal([]byte(p.addresses(out.String())), &r.Report); err != nil {
		t.Fatal(err)
	}
	strip(ev)
	r.Report.Context, r.Report.Time, r.Report.Evidence = "", time.Time{}, nil
	return r
}

// strip takes out what must differ between two control planes: times, digests and sizes, how often servers have asked each
// other, and what the lab's servers have that kubeadm does not write.
func strip(cp *evidence.ControlPlane) {
	cp.Context, cp.Started, cp.Ended = "", time.Time{}, time.Time{}
	for i := range cp.Servers {
		s := &cp.Servers[i]
		for j := range s.Metrics.Readings {
			m := &s.Metrics.Readings[j]
			m.Time, m.Started = time.Time{}, time.Time{}
			// A real server counts up to a dozen errors until it knows its peers.
			m.SyncErrors = nil
			for k := range m.Rerouted {
				m.Rerouted[k].Value = 0
			}
		}
		stripFlags(s.Flags.Values)
	}
	for i := range cp.Shared.Leases.Items {
		l := &cp.Shared.Leases.Items[i]
		l.Renewed, l.Created = time.Time{}, time.Time{}
	}
	cp.Shared.Leases.Now = time.Time{}
	for i := range cp.Shared.Pods.Items {
		pod := &cp.Shared.Pods.Items[i]
		pod.HostIP = ""
		stripFlags(pod.Flags)
	}
	for i := range cp.Shared.Dials {
		d := &cp.Shared.Dials[i]
		// The names of the certificate are compared where they matter: Named.
		d.Names, d.NotAfter = nil, time.Time{}
	}
	for i := range cp.Requests {
		r := &cp.Requests[i]
		r.Bytes, r.SHA256, r.Milliseconds = 0, "", 0
	}
	slices.SortFunc(cp.Shared.Dials, func(a, b evidence.Dial) int { return strings.Compare(a.Address, b.Address) })
}

// stripFlags takes out the flags with a node's own address, and the one that the lab adds.
func stripFlags(flags map[string]string) {
	for _, name := range []string{"advertise-address", "secure-port", "bind-address"} {
		delete(flags, name)
	}
}
