package demo

import (
	"crypto/subtle"
	"crypto/x509"
	"net/http"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
)

const (
	groupMasters       = "system:masters"
	groupAuthenticated = "system:authenticated"
)

// A user is who sends a request.
type user struct {
	name   string
	groups []string
}

// authenticate tells who sends a request: the user whom a peer sends it for, the owner of a client certificate or of the
// token, or anybody. Credentials that are no good are not anybody's.
func (s *Server) authenticate(p *process, r *http.Request) (who user, ok bool) {
	var cert *x509.Certificate
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		cert = r.TLS.PeerCertificates[0]
	}
	token, hasToken := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case cert != nil && signed(cert, p.proxyCA) && (len(p.allowed) == 0 || slices.Contains(p.allowed, cert.Subject.CommonName)) &&
		r.Header.Get("X-Remote-User") != "":
		return user{r.Header.Get("X-Remote-User"), r.Header.Values("X-Remote-Group")}, true
	case cert != nil && signed(cert, p.clientCA):
		return user{cert.Subject.CommonName, append(slices.Clone(cert.Subject.Organization), groupAuthenticated)}, true
	case hasToken && subtle.ConstantTimeCompare([]byte(token), []byte(s.cp.token)) == 1:
		return user{"demo-admin", []string{groupMasters, groupAuthenticated}}, true
	case cert != nil, hasToken:
		return user{}, false
	}
	return user{"system:anonymous", []string{"system:unauthenticated"}}, true
}

func signed(cert *x509.Certificate, by *x509.CertPool) bool {
	_, err := cert.Verify(x509.VerifyOptions{Roots: by, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil
}

// public are the paths that anybody may read by default (the ClusterRole system:public-info-viewer).
var public = []string{"/healthz", "/livez", "/readyz", "/version"}

// may tells whether a user may do what a request asks for. There are no roles but those that a cluster begins with.
func (u user) may(q *request) bool {
	switch {
	case slices.Contains(u.groups, groupMasters):
		return true
	case q.verb != "get" || q.resource != "":
		return false
	case slices.Contains(public, strings.TrimSuffix(q.path, "/")):
		return true
	}
	path := strings.TrimSuffix(q.path, "/") + "/"
	return slices.Contains(u.groups, groupAuthenticated) && (strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/"))
}

// ConfigFor is the connection to the server of a user with a client certificate.
func (s *Server) ConfigFor(name string, groups ...string) (*rest.Config, error) {
	id, err := s.cp.pki.client(caFile, name, groups...)
	if err != nil {
		return nil, err
	}
	cfg := s.Config()
	cfg.BearerToken, cfg.CertData = "", certPEM(id)
	cfg.KeyData, err = keyutil.MarshalPrivateKeyToPEM(id.PrivateKey)
	return cfg, err
}
