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

// authenticate tells who sends a request: the user whom a peer sends it for, the owner of a client certificate or of
// the token, or anybody. Credentials that are no good are not anybody's.
func (p *process) authenticate(r *http.Request) (who user, ok bool) {
	token, hasToken := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if len(r.TLS.PeerCertificates) > 0 {
		cert := r.TLS.PeerCertificates[0]
		subject, name := cert.Subject, r.Header.Get("X-Remote-User")
		peer := len(p.allowed) == 0 || slices.Contains(p.allowed, subject.CommonName)
		switch {
		case name != "" && peer && signed(cert, p.proxyCA):
			return user{name, r.Header.Values("X-Remote-Group")}, true
		case signed(cert, p.clientCA):
			return user{subject.CommonName, append(slices.Clone(subject.Organization), groupAuthenticated)}, true
		case !hasToken:
			return user{}, false
		}
	}
	if hasToken {
		ok = subtle.ConstantTimeCompare([]byte(token), []byte(p.cp.token)) == 1
		return user{"demo-admin", []string{groupMasters, groupAuthenticated}}, ok
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
	document := strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/")
	return document && slices.Contains(u.groups, groupAuthenticated)
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
