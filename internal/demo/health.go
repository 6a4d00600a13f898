package demo

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// A check is a line of /readyz?verbose.
type check struct {
	name string
	// has tells which servers have it; nil: all.
	has func(*process) bool
	// only is the one of readyz, and of livez and healthz, that has it; empty: all have.
	only string
}

func hook(name string, has func(*process) bool) check {
	return check{name: "poststarthook/" + name, has: has}
}

// The conditions of checks: the gate, the gate and a peer CA, and the latter in one release.
func gateOn(p *process) bool     { return p.gate }
func handsOn(p *process) bool    { return p.transport != nil }
func handsOnOld(p *process) bool { return p.transport != nil && p.minor() < 36 }
func handsOnNew(p *process) bool { return p.transport != nil && p.minor() >= 36 }
func since36(p *process) bool    { return p.minor() >= 36 }

// healthChecks are the checks in their order, as servers of 1.35 and 1.36 have them (test/lab/demo).
var healthChecks = []check{
	{name: "ping"},
	{name: "log"},
	{name: "loopback-serving-certificate", has: since36, only: "livez"},
	{name: "etcd"},
	{name: "etcd-readiness", only: "readyz"},
	{name: "informer-sync", only: "readyz"},
	hook("start-apiserver-admission-initializer", nil),
	hook("generic-apiserver-start-informers", nil),
	hook("priority-and-fairness-config-consumer", nil),
	hook("priority-and-fairness-filter", nil),
	hook("storage-object-count-tracker-hook", nil),
	hook("start-apiextensions-informers", nil),
	hook("start-apiextensions-controllers", nil),
	hook("crd-informer-synced", nil),
	hook("start-system-namespaces-controller", nil),
	hook(evidence.HookReconciler, gateOn),
	hook(evidence.HookPeerProxy, handsOn),
	hook("local-discovery-cache-sync", handsOn),
	hook("peer-discovery-cache-sync", handsOnOld),
	hook("gv-deletion-workers", handsOnOld),
	hook("excluded-groups-reaper", handsOnOld),
	hook("peer-discovery-workers", handsOnNew),
	hook("start-cluster-authentication-info-controller", nil),
	hook("start-kube-apiserver-identity-lease-controller", nil),
	hook("start-kube-apiserver-identity-lease-garbage-collector", nil),
	hook("storage-readiness", since36),
	hook("start-legacy-token-tracking-controller", nil),
	hook("start-service-ip-repair-controllers", nil),
	hook("rbac/bootstrap-roles", nil),
	hook("scheduling/bootstrap-system-priority-classes", nil),
	hook("priority-and-fairness-config-producer", nil),
	hook("bootstrap-controller", nil),
	hook("start-kubernetes-service-cidr-controller", nil),
	hook("aggregator-reload-proxy-client-cert", nil),
	hook("start-kube-aggregator-informers", nil),
	hook("apiservice-status-local-available-controller", nil),
	hook("apiservice-status-remote-available-controller", nil),
	hook("apiservice-registration-controller", nil),
	hook("apiservice-discovery-controller", nil),
	hook("kube-apiserver-autoregistration", nil),
	{name: "autoregister-completion"},
	hook("apiservice-openapi-controller", nil),
	hook("apiservice-openapiv3-controller", nil),
	{name: "shutdown", only: "readyz"},
}

// serveHealth answers /readyz, /livez and /healthz. The servers are always well.
func (p *process) serveHealth(w http.ResponseWriter, r *http.Request, what string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	if !r.URL.Query().Has("verbose") {
		fmt.Fprint(w, "ok")
		return
	}
	kind := what
	if kind == "healthz" {
		kind = "livez"
	}
	var text strings.Builder
	for _, c := range healthChecks {
		if (c.has == nil || c.has(p)) && (c.only == "" || c.only == kind) {
			fmt.Fprintf(&text, "[+]%s ok\n", c.name)
		}
	}
	fmt.Fprintf(w, "%s%s check passed\n", text.String(), what)
}
