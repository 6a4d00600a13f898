package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"
	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

func TestProbeReportsAreValid(t *testing.T) {
	schema := compileSchema(t, "probe-report")
	for name, r := range map[string]*ProbeReport{
		"handed off": handedOff(), "without CA": withoutCA(), "complete": completeProbe(), "unreachable": unreachable(), "one release": oneRelease(),
		"fifty": fifty(), "long names": longNames(), "no server": {Summary: ProbeSummary{Verdict: VerdictCannotTell}},
	} {
		fromYAML, err := yaml.YAMLToJSONStrict(write(t, "yaml", r))
		if err != nil {
			t.Fatal(err)
		}
		for format, b := range map[string][]byte{"json": write(t, "json", r), "yaml": fromYAML} {
			if err := schema.Validate(parse(t, b)); err != nil {
				t.Errorf("%s as %s: %v", name, format, err)
			}
		}
	}
}

func TestProbeSchemas(t *testing.T) {
	probe := readSchema(t, "probe-report")
	checkClosedAndUsed(t, probe, write(t, "json", completeProbe()))
	checkSchemaIsType[ProbeReport](t, probe)

	recorded := readSchema(t, "probe-evidence")
	checkClosedAndUsed(t, recorded, record(t, completeEvidence()))
	checkSchemaIsType[evidence.ControlPlane](t, recorded)
}

func TestProbeSchemaIsStrict(t *testing.T) {
	schema := compileSchema(t, "probe-report")
	checkRefused(t, schema, write(t, "json", completeProbe()), [][2]string{
		{`"kind": "ProbeReport"`, `"kind": "CheckReport"`},
		{`"kind": "ProbeReport"`, `"kind": "ProbeReport", "extra": 1`},
		{`"name": "cp-1"`, `"name": "cp-1", "extra": 1`},
		{`"from": "cp-1"`, `"from": "cp-1", "extra": 1`},
		{`"proof": "named-get"`, `"proof": "named-get", "extra": 1`},
		{`"kind": "aggregated"`, `"kind": "aggregated", "extra": 1`},
		{`"rule": "MVP504"`, `"rule": "MVP504", "extra": 1`},
		{`"rules": [`, `"extra": 1, "rules": [`},
		{`"reason": "no mirror pods"`, `"reason": "no mirror pods", "extra": 1`},
		{`"path": "/apis"`, `"path": "/apis", "extra": 1`},
		{`"failing": 1`, `"failing": 1, "extra": 1`},
		{`"name": "cp-1"`, `"name": ""`},
		{`"gate": "on"`, `"gate": "yes"`},
		{`"peerCA": "no"`, `"peerCA": "off"`},
		{`"result": "fail"`, `"result": "FALSE 404"`},
		{`"local": 68`, `"local": -2`},
		{`"verdict": "unknown"`, `"verdict": "?"`},
		{`"proof": "named-get"`, `"proof": ""`},
		{`"kind": "aggregated"`, `"kind": "built-in"`},
		{`"severity": "error"`, `"severity": "fatal"`},
		{`"consequence": "none"`, `"consequence": ""`},
		{`"status": 200`, `"status": 0`},
		{`"sha256": "9`, `"sha256": "G`},
		{`"bytes": 0`, `"bytes": -1`},
		{`"reasons": []`, `"reasons": null`},
		{`"verdict": "not-ready"`, `"verdict": "ready"`}, // in spite of errors
		{`"errors": 2`, `"errors": 0`},                   // not ready without one
	})
}

func record(t *testing.T, c *evidence.ControlPlane) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := c.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// completeEvidence has a value in every field, and documents that are written once.
func completeEvidence() *evidence.ControlPlane {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	known, forbidden := evidence.Told{State: evidence.OK}, evidence.Told{State: evidence.Forbidden, Reason: "403 Forbidden"}
	resource := evidence.Resource{Group: "apps", Version: "v1", Resource: "deployments", Namespaced: true}
	document := evidence.Document{Told: known, Resources: []evidence.Resource{resource}, Stale: []string{"metrics.k8s.io/v1beta1"}}
	flags := map[string]string{"peer-ca-file": "/etc/kubernetes/pki/ca.crt"}
	server := evidence.Server{
		Address: "192.0.2.11:6443", Node: "cp-1", Identity: "apiserver-aaaa", Pod: "kube-apiserver-cp-1", FoundBy: []string{"endpointslice", "lease", "pod"}, Reached: known,
		Version: evidence.Version{Told: known, GitVersion: "v1.36.3", Emulated: "1.35"}, Ready: true,
		Hooks: evidence.Hooks{Told: known, Names: []string{evidence.HookReconciler, evidence.HookPeerProxy}},
		Flags: evidence.Flags{Told: known, Source: "flagz", Values: flags},
		Core:  evidence.Document{Told: known, Resources: []evidence.Resource{{Version: "v1", Resource: "nodes"}}}, Merged: document, Local: document,
		Metrics: evidence.Metrics{Told: known, Readings: []evidence.Reading{{
			Time: now, Gates: map[string]bool{evidence.Gate: true}, Started: now,
			Rerouted:    []evidence.Count{{Code: "200", Value: 3}, {Code: "404", Resource: resource, Value: 1}},
			ProxyErrors: map[string]float64{"hostport_resolution": 2}, SyncErrors: map[string]float64{"hostport_resolution": 1.5e3},
		}}},
		Objects: []evidence.Object{{Resource: resource, Asked: evidence.Served, Alone: evidence.NotServed}, {Resource: resource, Alone: evidence.Unclear}},
	}
	silent := evidence.Server{Address: "192.0.2.12:6443", FoundBy: []string{"given"}, Reached: evidence.Told{State: evidence.Failed, Reason: "connection refused"}}
	silent.Version.State, silent.Hooks.State, silent.Flags.State, silent.Metrics.State = evidence.NotAsked, evidence.NotAsked, evidence.Absent, evidence.NotAsked
	silent.Core.State, silent.Merged.State, silent.Local.State = evidence.NotAsked, evidence.NotAsked, evidence.NotAsked
	return &evidence.ControlPlane{
		APIVersion: evidence.APIVersion, Kind: evidence.Kind, Version: "v0.1.0", Context: "admin@prod", Started: now, Ended: now.Add(time.Second),
		Found: "endpoints of default/kubernetes", ObjectProbe: true, Servers: []evidence.Server{server, silent},
		Shared: evidence.Shared{
			Leases: evidence.Leases{Told: known, Now: now, Items: []evidence.Lease{
				{Name: "apiserver-aaaa", Hostname: "cp-1", Published: "192.0.2.11:6443", Renewed: now, Created: now},
			}},
			Endpoints: evidence.Endpoints{Told: known, Addresses: []string{"192.0.2.11:6443"}},
			Pods: evidence.Pods{Told: known, Items: []evidence.Pod{{
				Name: "kube-apiserver-cp-1", Node: "cp-1", HostIP: "192.0.2.11", Endpoint: "192.0.2.11:6443", Image: "registry.k8s.io/kube-apiserver:v1.36.3",
				Flags: flags, Environment: map[string]string{"HTTPS_PROXY": "http://proxy.example:3128"},
			}}},
			Authentication: evidence.Authentication{Told: known, AllowedNames: []string{"front-proxy-client"}, CASubjects: []string{"CN=front-proxy-ca"}},
			Discovery:      evidence.Binding{Told: known, Authenticated: true},
			APIServices: evidence.APIServices{Told: known, Items: []evidence.APIService{
				{GroupVersion: "metrics.k8s.io/v1beta1", Service: "kube-system/metrics-server", Reason: "MissingEndpoints"},
			}},
			Dials: []evidence.Dial{{
				Address: "192.0.2.11:6443", Connected: true, Unverified: true, Trusted: true, Named: true, Subject: "CN=kube-apiserver", Issuer: "CN=kubernetes",
				Names: []string{"kubernetes.default.svc"}, NotAfter: now, Error: "expired",
			}, {Address: "192.0.2.12:6443", Error: "connection refused"}},
		},
		Requests: []evidence.Request{
			{Server: "192.0.2.11:6443", Path: "/apis", Profile: "nopeer", Local: true, Status: 200, Bytes: 5, Milliseconds: 12, Error: "too long",
				SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
			{Server: "192.0.2.12:6443", Path: "/version", Error: forbidden.Reason},
		},
	}
}

func TestEvidenceIsValid(t *testing.T) {
	schema := compileSchema(t, "probe-evidence")
	recorded := record(t, completeEvidence())
	if !bytes.Contains(recorded, []byte(`"same": "192.0.2.11:6443 local"`)) {
		t.Error("no document is written once for two")
	}
	if err := schema.Validate(parse(t, recorded)); err != nil {
		t.Error(err)
	}
	checkRefused(t, schema, recorded, [][2]string{
		{`"kind": "ProbeEvidence"`, `"kind": "ProbeReport"`},
		{`"address": "192.0.2.11:6443"`, `"address": "192.0.2.11:6443", "extra": 1`},
		{`"gitVersion": `, `"extra": 1, "gitVersion": `},
		{`"same": `, `"resources": [], "same": `},
		{`"state": "failed"`, `"state": "unknown"`},
		{`"flagz"`, `"ps"`},
		{`"peer-ca-file": "`, `"peer-ca-file": 1, "x": "`},
		{`"hostport_resolution": 2`, `"hostport_resolution": "2"`},
		{`"asked": "served"`, `"asked": "yes"`},
		{`"trusted": true`, `"trusted": 1`},
		{`"servers": [`, `"servers": null, "x": [`},
	})
}

// TestRecordedEvidence: what the lab recorded fits the schema, and is written as it was read.
func TestRecordedEvidence(t *testing.T) {
	schema := compileSchema(t, "probe-evidence")
	files, err := filepath.Glob("../../testdata/evidence/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no evidence: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(parse(t, text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		cp, err := evidence.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var again bytes.Buffer
		if err := cp.Write(&again); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(text), again.String()); d != "" {
			t.Errorf("%s is not written as it was read (-read +written):\n%s", file, d)
		}
	}
}
