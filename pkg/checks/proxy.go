package checks

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// proxiedPeerTraffic is MVP311.
var proxiedPeerTraffic = &Rule{
	ID: "MVP311", Name: "proxied-peer-traffic", Severity: Error, HandOff: true,
	Doc: Doc{
		What: "The kube-apiserver pod has HTTPS_PROXY, and NO_PROXY covers neither the control-plane nodes' " +
			"addresses nor their range.",
		Why: "kube-apiserver sends requests for its peers to the proxy, where they fail; the client gets a false " +
			"404. kubeadm copies the variables of its own environment into the pod.",
		Fix:   "Add the nodes' addresses or their range to NO_PROXY and write the manifests again.",
		Facts: []string{"H15"}, Since: "0.1.0",
	},
	Live: proxiedLive,
	Run: func(p *Pass) {
		servers := make([]config.Server, 0, len(p.Views()))
		for _, v := range p.Views() {
			servers = append(servers, v.Server)
		}
		if p.Cluster.Root != nil {
			for _, m := range p.Cluster.Manifests {
				servers = append(servers, m.Server())
			}
		}
		for _, s := range servers {
			p.checkProxy(s)
		}
	},
}

func (p *Pass) checkProxy(s config.Server) {
	env := func(names ...string) (string, *config.EnvVar) {
		for _, name := range names {
			for i, e := range s.Envs {
				if e.Name == name && (e.Value != "" || e.Unknown) {
					return e.Value, &s.Envs[i]
				}
			}
		}
		return "", nil
	}
	proxy, proxyVar := env("HTTPS_PROXY", "https_proxy")
	if proxyVar == nil {
		return
	}
	noProxy, noProxyVar := env("NO_PROXY", "no_proxy")
	at := p.Cluster.FlagsPlace()
	if proxyVar.Node != nil {
		at = proxyVar.Node.Place()
	}
	if proxyVar.Unknown || noProxyVar != nil && noProxyVar.Unknown || config.PlaceholderIn(noProxy) != "" ||
		config.PlaceholderIn(proxy) != "" {
		p.CannotTell("the proxy variables of the kube-apiserver pod come from elsewhere")
		return
	}
	addresses, own := p.peerAddresses(s)
	if own && len(throughProxy(proxy, noProxy, addresses)) == 0 &&
		len(throughProxy(proxy, noProxy, neighbours(addresses))) > 0 {
		p.CannotTell("HTTPS_PROXY is set, NO_PROXY covers this node alone, and the other nodes' addresses are not " +
			"known; name them with --nodes name=ADDRESS,...")
		return
	}
	if len(addresses) == 0 {
		if strings.TrimSpace(noProxy) != "*" {
			p.CannotTell("HTTPS_PROXY is set and the nodes' addresses are not known; name them with --nodes " +
				"name=ADDRESS,...")
		}
		return
	}
	proxied := throughProxy(proxy, noProxy, addresses)
	if len(proxied) == 0 {
		return
	}
	p.Report(Finding{
		Severity: Error, Subject: proxyVar.Name, At: at, Consequence: FalseNotFound,
		Message: fmt.Sprintf("%s is set and NO_PROXY does not cover %s: requests for peers go to the proxy.",
			proxyVar.Name, strings.Join(proxied, ", ")),
		Why: "the proxy does not reach the peers as kube-apiserver needs it, and the client gets a false 404.",
		Fix: "add " + strings.Join(proxied, ",") + " (or the nodes' range) to NO_PROXY in the environment of " +
			"kubeadm, and write the manifests again",
	})
}

// throughProxy returns those hosts that a server with these variables asks through the proxy. The same library decides
// in kube-apiserver.
func throughProxy(proxy, noProxy string, hosts []string) []string {
	proxyFor := (&httpproxy.Config{HTTPSProxy: proxy, NoProxy: noProxy}).ProxyFunc()
	var proxied []string
	for _, host := range hosts {
		if u, err := proxyFor(&url.URL{Scheme: "https", Host: net.JoinHostPort(host, "6443")}); err == nil && u != nil {
			proxied = append(proxied, host)
		}
	}
	return proxied
}

// peerAddresses are the addresses that a server sends requests to: those of all nodes for the pods that kubeadm writes
// from one configuration, of the other nodes for a node's own pod. Where only its own is known, that one stands for
// them.
func (p *Pass) peerAddresses(s config.Server) (addresses []string, onlyOwn bool) {
	var own, others []string
	for _, n := range p.Cluster.Nodes {
		switch {
		case !isIP(n.Address):
		case n.Address == s.Node.Address && s.Manifest != nil:
			own = append(own, n.Address)
		case !slices.Contains(others, n.Address):
			others = append(others, n.Address)
		}
	}
	if len(others) == 0 {
		return own, len(own) > 0
	}
	return others, false
}

// neighbours are the addresses beside those given: what covers one of these covers more than a node.
func neighbours(addresses []string) []string {
	var beside []string
	for _, address := range addresses {
		ip := net.ParseIP(address)
		ip[len(ip)-1] ^= 1
		beside = append(beside, ip.String())
	}
	return beside
}

// egressSelector is MVP312.
var egressSelector = &Rule{
	ID: "MVP312", Name: "egress-selector", Severity: Info, HandOff: true,
	Doc: Doc{
		What: "egress-selector-config-file is set.",
		Why: "If the file has an entry for controlplane, requests for peers go through it from 1.36 on; 1.34 and " +
			"1.35 connect directly.",
		Fix:   "Make sure that the controlplane egress reaches the peers' addresses.",
		Facts: []string{"H8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range where(p.Views(),
			func(v View) bool { return v.Release.Does(release.AsksPeersThroughEgress) }) {
			f := v.Flags.Last(release.FlagEgressSelectorConfig)
			if f == nil || f.Value == "" {
				continue
			}
			p.Report(Finding{
				Severity: Info, Subject: f.Name, At: p.place(f), When: v.When,
				Message: fmt.Sprintf("egress-selector-config-file %s: from 1.36 on requests for peers use its "+
					"controlplane entry, if it has one.", f.Value),
				Why: "if that egress does not reach the peers, they cannot be asked.",
				Fix: "make sure that the controlplane egress reaches the peers' addresses",
			})
		}
	},
}
