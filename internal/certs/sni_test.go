package certs

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
)

func TestParseSNI(t *testing.T) {
	for value, want := range map[string]SNI{
		"a.crt,a.key":            {CertFile: "a.crt", KeyFile: "a.key"},
		" a.crt , a.key ":        {CertFile: "a.crt", KeyFile: "a.key"},
		"a.crt,a.key:*.x.y, z.y": {CertFile: "a.crt", KeyFile: "a.key", Names: []string{"*.x.y", "z.y"}},
	} {
		got, ok := ParseSNI(value)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%q: ok %v, -want +got:\n%s", value, ok, diff)
		}
	}
	for _, value := range []string{"", "a.crt", "a,b,c", "a,b:", "a,b: ", ":x"} {
		if got, ok := ParseSNI(value); ok {
			t.Errorf("%q: %+v", value, got)
		}
	}
}

// TestServed asks a TLS server that is set up as kube-apiserver's dynamiccertificates does it.
func TestServed(t *testing.T) {
	ca := certstest.NewCA(t, "kubernetes")
	named := func(dns ...string) *certstest.Identity { return ca.Issue(t, "some", certstest.DNS(dns...)) }
	right, other := named(PeerName), named("api.example.com")
	for _, tc := range []struct {
		name string
		main *certstest.Identity
		sni  []SNI
		ids  []*certstest.Identity
		want int
	}{
		{"no SNI", other, nil, nil, -1},
		{"another name", right, []SNI{{}}, []*certstest.Identity{other}, -1},
		{"names of the certificate", right, []SNI{{}}, []*certstest.Identity{named("api.example.com", PeerName)}, 0},
		{"wildcard of the certificate", right, []SNI{{}}, []*certstest.Identity{named("*.default.svc")}, 0},
		{"common name", right, []SNI{{}}, []*certstest.Identity{ca.Issue(t, PeerName)}, 0},
		{"pattern", right, []SNI{{Names: []string{PeerName}}}, []*certstest.Identity{other}, 0},
		{"wildcard pattern", right, []SNI{{Names: []string{"*.default.svc"}}}, []*certstest.Identity{other}, 0},
		{"too wide a wildcard", right, []SNI{{Names: []string{"*.svc"}}}, []*certstest.Identity{other}, -1},
		{"pattern for another name", right, []SNI{{Names: []string{"api.example.com"}}}, []*certstest.Identity{named(PeerName)}, -1},
		{"pattern for another name, main not valid", other, []SNI{{Names: []string{"api.example.com"}}}, []*certstest.Identity{right}, 0},
		{"nothing valid", other, []SNI{{Names: []string{"x.example.com"}}}, []*certstest.Identity{named("y")}, -1},
		{"the earlier", right, []SNI{{Names: []string{PeerName}}, {Names: []string{PeerName}}}, []*certstest.Identity{other, right}, 0},
		{"pattern before name", right, []SNI{{}, {Names: []string{PeerName}}}, []*certstest.Identity{named(PeerName), other}, 1},
		{"name before wildcard pattern", right, []SNI{{Names: []string{"*.default.svc"}}, {}}, []*certstest.Identity{other, named(PeerName)}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Served(PeerName, tc.main.Cert, tc.sni, certificates(tc.ids...))
			if got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
			shown := ask(t, tc.main, tc.sni, tc.ids)
			want := tc.main
			if got >= 0 {
				want = tc.ids[got]
			}
			if !shown.Equal(want.Cert) {
				t.Errorf("the TLS server shows %v, want %v", shown.DNSNames, want.Cert.DNSNames)
			}
		})
	}
}

// ask returns what a server shows for PeerName; its set-up is that of syncCerts and BuildNamedCertificates.
func ask(t *testing.T, main *certstest.Identity, sni []SNI, ids []*certstest.Identity) *x509.Certificate {
	t.Helper()
	pair := func(i *certstest.Identity) tls.Certificate {
		return tls.Certificate{Certificate: [][]byte{i.Cert.Raw}, PrivateKey: i.Key}
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair(main)}, Time: func() time.Time { return certstest.Now }}
	explicit, byName := map[string]*tls.Certificate{}, map[string]*tls.Certificate{}
	for i := len(sni) - 1; i >= 0; i-- {
		cert := pair(ids[i])
		for _, n := range sni[i].Names {
			explicit[n] = &cert
		}
		if len(sni[i].Names) == 0 {
			for _, n := range append([]string{ids[i].Cert.Subject.CommonName}, ids[i].Cert.DNSNames...) {
				byName[n] = &cert
			}
		}
	}
	for n, c := range explicit {
		byName[n] = c
	}
	if len(sni) > 0 {
		//lint:ignore SA1019 kube-apiserver uses it.
		config.NameToCertificate = byName
		for _, c := range byName {
			config.Certificates = append(config.Certificates, *c)
		}
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	go func() {
		server := tls.Server(b, config)
		_ = server.Handshake()
	}()
	client := tls.Client(a, &tls.Config{ServerName: PeerName, InsecureSkipVerify: true})
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	return client.ConnectionState().PeerCertificates[0]
}
