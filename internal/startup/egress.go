package startup

import (
	"fmt"
	"slices"
	"strings"
)

type egressConnection struct {
	ProxyProtocol string
	Transport     *struct {
		TCP *struct {
			URL       string `json:"url"`
			TLSConfig *struct {
				CABundle              string `json:"caBundle"`
				ClientCert, ClientKey string
			}
		} `json:"tcp"`
		UDS *struct{ UDSName string } `json:"uds"`
	}
}

// egress judges an EgressSelectorConfiguration: pkg/server/egressselector/config.go of k8s.io/apiserver.
func egress(c content) string {
	var config struct {
		EgressSelections []struct {
			Name       string
			Connection egressConnection
		}
	}
	if problem := c.decode(&config); problem != "" {
		return problem
	}
	seen := map[string]bool{}
	for i, s := range config.EgressSelections {
		at := fmt.Sprintf("egressSelections[%d]", i)
		name := strings.ToLower(s.Name)
		if !slices.Contains([]string{"cluster", "controlplane", "etcd"}, name) || seen[name] {
			return has(at, "with the name %q, which is none of cluster, controlplane and etcd, or there twice", s.Name)
		}
		seen[name] = true
		if problem := s.Connection.refused(at, c.sees); problem != "" {
			return problem
		}
	}
	return ""
}

func (c egressConnection) refused(at string, exists func(string) bool) string {
	t := c.Transport
	switch c.ProxyProtocol {
	case "Direct":
		if t != nil {
			return has(at, "with a transport, which a direct connection does not have")
		}
		return ""
	case "GRPC":
		if t == nil || t.UDS == nil || t.UDS.UDSName == "" {
			return has(at, "without transport.uds.udsName, which GRPC needs")
		}
		return ""
	case "HTTPConnect":
	default:
		return has(at, "with the proxyProtocol %q, which is none of Direct, HTTPConnect and GRPC", c.ProxyProtocol)
	}
	switch {
	case t == nil || (t.TCP == nil) == (t.UDS == nil):
		return has(at, "without one of transport.tcp and transport.uds")
	case t.UDS != nil && t.UDS.UDSName == "":
		return has(at, "with transport.uds without udsName")
	case t.UDS != nil:
		return ""
	case strings.HasPrefix(t.TCP.URL, "http://") && t.TCP.TLSConfig == nil:
		return ""
	case !strings.HasPrefix(t.TCP.URL, "https://") || t.TCP.TLSConfig == nil:
		return has(at, "with an url that is neither http:// without tlsConfig nor https:// with it")
	}
	tls := t.TCP.TLSConfig
	if tls.CABundle != "" && !exists(tls.CABundle) || !exists(tls.ClientCert) || !exists(tls.ClientKey) {
		return has(at, "with a tlsConfig that names a file that is not there")
	}
	return ""
}
