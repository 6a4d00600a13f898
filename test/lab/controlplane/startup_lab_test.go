//go:build lab && linux

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// startRow is a fact about start-up: what the servers of releases do with extraArgs of a ClusterConfiguration.
type startRow struct {
	fact, name string
	releases   string   // minors, with blanks between
	args       []string // names and values of extraArgs
	files      map[string][]byte
	// exits is a part of what the server says as it exits, empty: it starts.
	exits string
	// check looks at the server that has started.
	check func(t *testing.T, s *Server)
}

const (
	gate   = release.Gate
	gateOn = gate + "=true"

	gateRequired = "requires UnknownVersionInteroperabilityProxy feature to be turned on"
	noTransport  = "failed to create proxy transport"
)

// gated are extraArgs with the gate on and those given.
func gated(args ...string) []string { return append([]string{"feature-gates", gateOn}, args...) }

// gates are extraArgs with a feature-gates value, and peer-ca-file, which lets a server exit whose gate is off.
func gates(value string) []string { return []string{"feature-gates", value, "peer-ca-file", CA} }

var startRows = []startRow{
	{fact: "S1", name: "peer-ca-file", releases: "1.34 1.35", args: []string{"peer-ca-file", CA}, exits: gateRequired},
	{fact: "S1", name: "peer-advertise-ip", releases: "1.34 1.35", args: []string{"peer-advertise-ip", "192.0.2.11"}, exits: gateRequired},
	{fact: "S1", name: "peer-advertise-port", releases: "1.34 1.35", args: []string{"peer-advertise-port", "6443"}, exits: gateRequired},
	{fact: "S2", name: "gate off", releases: "1.36 1.37", args: gates(gate + "=false"), exits: gateRequired},
	{fact: "S3", name: "AllBeta off", releases: "1.36 1.37", args: gates("AllBeta=false"), exits: gateRequired},
	{fact: "S4", name: "emulating 1.35", releases: "1.36 1.37", args: []string{"emulated-version", "1.35", "peer-ca-file", CA}, exits: gateRequired},
	// AllAlpha also turns gates on with which a server waits for APIs that are off by default: the row after these two.
	{fact: "S5", name: "AllAlpha", releases: "1.34", args: append(gates("AllAlpha=true"), "runtime-config", "api/all=true", "etcd-prefix", "/1.34")},
	{fact: "S5", name: "AllAlpha", releases: "1.35", args: append(gates("AllAlpha=true"), "runtime-config", "api/all=true", "etcd-prefix", "/1.35")},
	{fact: "S5", name: "AllAlpha alone", releases: "1.35", args: append(gates("AllAlpha=true"), "etcd-prefix", "/new"), exits: "timed out waiting for the condition"},
	{fact: "S5", name: "AllAlpha", releases: "1.37", args: gates("AllAlpha=true"), exits: "depends on features that are disabled: [GenericWorkload]"},
	{fact: "S6", name: "identity off", releases: "1.36 1.37", args: []string{"feature-gates", "APIServerIdentity=false"}, exits: "depends on features that are disabled: [APIServerIdentity]"},
	{fact: "S6", name: "identity off, gate on", releases: "1.35", args: gated("feature-gates", "APIServerIdentity=false"), exits: "depends on features that are disabled: [APIServerIdentity]"},
	// Up to 1.34 gates do not depend on each other.
	{fact: "S6", name: "identity off, gate on", releases: "1.34", args: gated("feature-gates", "APIServerIdentity=false")},
	{fact: "S6", name: "identity off, gate off", releases: "1.35", args: []string{"feature-gates", "APIServerIdentity=false"}},

	{fact: "S7", name: "no such file", releases: "1.34 1.35 1.36 1.37", args: gated("peer-ca-file", PKI+"/no-such.crt"), exits: noTransport},
	{fact: "S7", name: "leading blank", releases: "1.36", args: gated("peer-ca-file", " "+CA), exits: noTransport},
	{fact: "S7", name: "trailing newline", releases: "1.36", args: gated("peer-ca-file", CA+"\n"), exits: noTransport},
	{fact: "S7", name: "no certificate", releases: "1.36", args: gated("peer-ca-file", PKI+"/peers.crt"), exits: noTransport,
		files: map[string][]byte{PKI + "/peers.crt": []byte("none\n")}},
	{fact: "S7b", name: "empty file", releases: "1.35 1.36 1.37", args: gated("peer-ca-file", PKI+"/peers.crt"),
		files: map[string][]byte{PKI + "/peers.crt": {}}},

	{fact: "S8", name: "misspelt", releases: "1.34 1.35 1.36 1.37", args: gates("UnknownVersionInteroperabiltyProxy=true"), exits: "unrecognized feature gate"},
	{fact: "S8", name: "wrong case", releases: "1.36", args: gates("unknownVersionInteroperabilityProxy=true"), exits: "unrecognized feature gate"},
	{fact: "S8", name: "unknown", releases: "1.34 1.36", args: gated("feature-gates", "NoSuchGate=true"), exits: "unrecognized feature gate"},

	{fact: "S8b", name: "yes", releases: "1.36", args: gates(gate + "=yes"), exits: "invalid value of " + gate},
	{fact: "S8b", name: "no value", releases: "1.36", args: gates(gate), exits: "missing bool value for " + gate},
	{fact: "S8b", name: "empty value", releases: "1.36", args: gates(gate + "="), exits: "invalid value of " + gate},
	{fact: "S8b", name: "quotes", releases: "1.36", args: gates(`"` + gate + `=true"`), exits: "invalid value of"},
	{fact: "S8b", name: "colon", releases: "1.36", args: gates(gate + ": true"), exits: "not registered"},

	{fact: "S8c", name: "blanks and line breaks", releases: "1.35", args: gates(" " + gate + " = true ,\n APIServerIdentity=true\n")},
	{fact: "S8c", name: "True", releases: "1.35", args: gates(gate + "=True")},
	{fact: "S8c", name: "1", releases: "1.35", args: gates(gate + "=1")},
	{fact: "S8c", name: "trailing comma", releases: "1.35", args: gates(gateOn + ",")},
	{fact: "S8c", name: "prefix", releases: "1.35 1.37", args: gates("kube:" + gateOn + ",kube:APIServerIdentity=true")},
	{fact: "S8d", name: "with and without prefix", releases: "1.36", args: gates("kube:" + gateOn + ",APIServerIdentity=true"), exits: "do not mix"},

	{fact: "S8e", name: "on, then off", releases: "1.35 1.36", args: gates(gateOn + "," + gate + "=false"), exits: gateRequired},
	{fact: "S8e", name: "off, then on", releases: "1.35", args: gates(gate + "=false," + gateOn)},
	{fact: "S8e", name: "on, then AllAlpha off", releases: "1.35", args: gates(gateOn + ",AllAlpha=false")},
	{fact: "S8e", name: "off, then AllAlpha on", releases: "1.35", args: gates(gate + "=false,AllAlpha=true"), exits: gateRequired},
	// AllBeta takes APIServerIdentity along, unless that is named too.
	{fact: "S8e", name: "on, then AllBeta off", releases: "1.36 1.37", args: gates(gateOn + ",AllBeta=false"), exits: "depends on features that are disabled: [APIServerIdentity]"},
	{fact: "S8e", name: "on with identity, then AllBeta off", releases: "1.36", args: gates(gateOn + ",APIServerIdentity=true,AllBeta=false")},

	{fact: "S8f", name: "locked", releases: "1.34 1.35 1.36", args: gated("feature-gates", "ConsistentListFromCache=false"), exits: "locked"},
	{fact: "S8g", name: "unknown flag", releases: "1.36", args: []string{"cloud-provider", "external"}, exits: "unknown flag: --cloud-provider"},
	{fact: "S8g", name: "capitals", releases: "1.36", args: gated("Peer-CA-File", CA), exits: "unknown flag: --Peer-CA-File"},
	{fact: "S8g", name: "camel case", releases: "1.36", args: gated("peerCAFile", CA), exits: "unknown flag: --peerCAFile"},
	{fact: "S8j", name: "underscores", releases: "1.36", args: gated("peer_ca_file", CA), check: hasHandOffHook},
	{fact: "S8j", name: "underscores, gate off", releases: "1.35", args: []string{"peer_ca_file", CA}, exits: gateRequired},

	{fact: "S8k", name: "duration", releases: "1.36", args: []string{"event-ttl", "2"}, exits: "event-ttl"},
	{fact: "S8k", name: "boolean", releases: "1.36", args: []string{"profiling", "external"}, exits: "profiling"},
	{fact: "S8k", name: "runtime-config without value", releases: "1.36", args: []string{"runtime-config", "api/all"}, exits: "api/all"},
	// It serves for a minute, and is never ready.
	{fact: "S8k", name: "no service addresses", releases: "1.33 1.37", args: []string{"runtime-config", "networking.k8s.io/v1/servicecidrs=false"},
		exits: "unable to perform initial IP and Port allocation check"},
	{fact: "S8k", name: "a part of RBAC", releases: "1.33 1.37", args: []string{"runtime-config", "rbac.authorization.k8s.io/v1/clusterroles=false"},
		exits: "unable to initialize roles"},
	{fact: "S8k", name: "unknown group", releases: "1.36", args: []string{"runtime-config", "no.such.example/v1=true"}, exits: "no.such.example"},
	{fact: "S8k", name: "emulating a newer one", releases: "1.36", args: []string{"emulated-version", "1.37"}, exits: "emulat"},
	{fact: "S8k", name: "emulating too old a one", releases: "1.36", args: []string{"emulated-version", "1.32"}, exits: "emulat"},
	{fact: "S8k", name: "emulating kube:1.35", releases: "1.36", args: []string{"emulated-version", "kube:1.35"}, exits: `could not parse \"kube:1.35\" as version`},
	{fact: "S8k", name: "emulating 1.33", releases: "1.36", args: gated("emulated-version", "1.33", "peer-ca-file", CA)},
	{fact: "S8k", name: "emulating kube=1.35", releases: "1.36", args: gated("emulated-version", "kube=1.35", "peer-ca-file", CA)},

	{fact: "S8h", name: "host name", releases: "1.35 1.36", args: []string{"advertise-address", "cp-1"}, exits: "failed to parse IP"},
	{fact: "S8h", name: "loopback", releases: "1.36", args: []string{"advertise-address", "127.0.0.1"}},
	{fact: "S8i", name: "nonsense", releases: "1.35 1.36 1.37", args: gated("peer-ca-file", CA, "peer-advertise-ip", "foo", "peer-advertise-port", "bar")},
	{fact: "S9", name: "certificate", releases: "1.35 1.36 1.37", args: gated("peer-ca-file", CA, "proxy-client-cert-file", ""), exits: "proxy-cert-file not specified"},
	{fact: "S9", name: "key", releases: "1.36", args: gated("peer-ca-file", CA, "proxy-client-key-file", ""), exits: "proxy-key-file not specified"},
	{fact: "S10", name: "merged", releases: "1.35", args: gated("peer-ca-file", CA, "feature-gates", "APIServerIdentity=true"), check: hasHandOffHook},
	{fact: "S10", name: "the last wins", releases: "1.35", args: gated("peer-ca-file", CA, "feature-gates", gate+"=false"), exits: gateRequired},
	{fact: "S11", name: "merged", releases: "1.35 1.36", args: []string{"requestheader-allowed-names", "one", "requestheader-allowed-names", "two"},
		check: func(t *testing.T, s *Server) {
			// It is written some time after the server is ready. The names of servers that were there before stay, too.
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			var body string
			err := poll(ctx, 200*time.Millisecond, func() (bool, error) {
				body = string(s.Get(t, "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication").Body)
				return strings.Contains(body, `\"one\"`) && strings.Contains(body, `\"two\"`), nil
			})
			if err != nil {
				t.Errorf("not both names: %s", body)
			}
		}},
}

func hasHandOffHook(t *testing.T, s *Server) {
	if gate, handOff := s.Hooks(t); !gate || !handOff {
		t.Errorf("hook of the gate: %v, of the hand-off: %v", gate, handOff)
	}
}

// TestStartUp starts a real server for each row and release and compares what it does with the fact, and with what
// mvpcheck predicts from the ClusterConfiguration and the node's files.
func TestStartUp(t *testing.T) {
	cp := New(t, Options{})
	// Two at a time, each with an address of its own.
	addresses := make(chan string, 2)
	addresses <- Addresses[0]
	addresses <- Addresses[1]
	for i, row := range startRows {
		for _, minor := range strings.Fields(row.releases) {
			t.Run(strings.Join([]string{row.fact, row.name, minor}, "/"), func(t *testing.T) {
				t.Parallel()
				address := <-addresses
				defer func() { addresses <- address }()
				s := cp.Add(t, Node{
					Release: minor, Name: fmt.Sprintf("row-%d-%s", i+1, strings.ReplaceAll(minor, ".", "-")), Address: address,
					Config: emptyConfig + extraArgs(row.args), Files: row.files,
				})
				row.run(t, s)
			})
		}
	}
}

func (row startRow) run(t *testing.T, s *Server) {
	predicted := predictions(t, s)
	s.Start(t)
	defer s.Kill()
	err := s.Ready(t.Context())
	var exit *ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Fatal(err)
	case row.exits == "" && exit != nil:
		t.Errorf("does not start: %v", exit)
	case row.exits != "" && exit == nil:
		t.Errorf("starts; want an exit with %q", row.exits)
	case exit != nil && (exit.Code <= 0 || !strings.Contains(exit.Log, row.exits)):
		t.Errorf("want an exit with %q: %v", row.exits, exit)
	case exit == nil && row.check != nil:
		row.check(t, s)
	}
	for _, p := range predicted {
		if (len(p.rules) > 0) != (exit != nil) {
			t.Errorf("exits: %v; mvpcheck, as %s: %v", exit != nil, p.as, p.rules)
		}
	}
}

// extraArgs is the apiServer section with names and values.
func extraArgs(pairs []string) string {
	var b strings.Builder
	b.WriteString("apiServer:\n  extraArgs:\n")
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "  - name: %q\n    value: %q\n", pair[0], pair[1])
	}
	return b.String()
}

// prediction is what mvpcheck says of one server in one role: the rules that say that it will not start.
type prediction struct {
	as    string
	rules []string
}

// predictions asks mvpcheck about the server as it is, and as the running and as the new one of an upgrade.
func predictions(t *testing.T, s *Server) []prediction {
	t.Helper()
	text, err := os.ReadFile(s.ConfigFile)
	if err != nil {
		t.Fatal(err)
	}
	in, err := config.Read(s.ConfigFile, text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := release.Parse(s.Release.Version)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(as string, pair checks.Pair, when checks.When) prediction {
		p := prediction{as: as}
		res := checks.Run(checks.Input{Cluster: in.Clusters[0], Pair: pair, Root: s.Root, Now: time.Now(), CertDays: 30}, checks.All())
		for _, f := range res.Findings {
			if f.Consequence == checks.WillNotStart && slices.Contains(f.When, when) {
				p.rules = append(p.rules, f.Rule.ID)
			}
		}
		return p
	}
	return []prediction{
		ask("it is", checks.Pair{From: r, To: r}, checks.Running),
		ask("running", checks.Pair{From: r, To: r.Next(), Upgrade: true}, checks.Running),
		ask("target", checks.Pair{From: r.Prev(), To: r, Upgrade: true}, checks.Target),
	}
}
