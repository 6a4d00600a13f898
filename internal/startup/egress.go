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
			return fmt.Sprintf("has %s with the name %q, which is none of cluster, controlplane and etcd, or there twice", at, s.Name)
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
			return fmt.Sprintf("has %s with a transport, which a direct connection does not have", at)
		}
		return ""
	case "GRPC":
		if t == nil || t.UDS == nil || t.UDS.UDSName == "" {
			return fmt.Sprintf("has %s without transport.uds.udsName, which GRPC needs", at)
		}
		return ""
	case "HTTPConnect":
	default:
		return fmt.Sprintf("has %s with the proxyProtocol %q, which is none of Direct, HTTPConnect and GRPC", at, c.ProxyProtocol)
	}
	switch {
	case t == nil || (t.TCP == nil) == (t.UDS == nil):
		return fmt.Sprintf("has %s without one of transport.tcp and transport.uds", at)
	case t.UDS != nil && t.UDS.UDSName == "":
		return fmt.Sprintf("has %s with transport.uds without udsName", at)
	case t.UDS != nil:
		return ""
	case strings.HasPrefix(t.TCP.URL, "http://") && t.TCP.TLSConfig == nil:
		return ""
	case !strings.HasPrefix(t.TCP.URL, "https://") || t.TCP.TLSConfig == nil:
		return fmt.Sprintf("has %s with an url that is neither http:// without tlsConfig nor https:// with it", at)
	}
	tls := t.TCP.TLSConfig
	if tls.CABundle != "" && !exists(tls.CABundle) || !exists(tls.ClientCert) || !exists(tls.ClientKey) {
		return fmt.Sprintf("has %s with a tlsConfig that names a file that is not there", at)
	}
	return ""
}
