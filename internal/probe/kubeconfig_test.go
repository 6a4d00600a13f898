package probe

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/mvpcheck/mvpcheck/internal/certs/certstest"
	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// home is a folder without any kubeconfig, and an environment that names none.
func home(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	before, admin := clientcmd.RecommendedHomeFile, adminKubeconfig
	clientcmd.RecommendedHomeFile, adminKubeconfig = filepath.Join(dir, "home"), filepath.Join(dir, "admin.conf")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile, adminKubeconfig = before, admin })
	return dir
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// kubeconfig is one with the contexts that are named, each with a server of that name.
func kubeconfig(current string, contexts ...string) string {
	text := "apiVersion: v1\nkind: Config\ncurrent-context: " + current + "\nusers: [{name: u, user: {token: " + testToken + "}}]\nclusters:\n"
	for _, c := range contexts {
		text += fmt.Sprintf("- {name: %s, cluster: {server: \"https://%s.example:6443\"}}\n", c, c)
	}
	text += "contexts:\n"
	for _, c := range contexts {
		text += fmt.Sprintf("- {name: %s, context: {cluster: %s, user: u}}\n", c, c)
	}
	return text
}

func TestLoadConfigOrder(t *testing.T) {
	dir := home(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	// Each step adds a source that comes before those of the earlier ones.
	check := func(step, given, context, wantHost, wantName string) {
		t.Helper()
		cfg, name, err := LoadConfig(given, context)
		if err != nil {
			t.Errorf("%s: %v", step, err)
			return
		}
		if cfg.Host != "https://"+wantHost+".example:6443" || name != wantName || cfg.BearerToken != testToken || cfg.Timeout != 0 || cfg.UserAgent != "mvpcheck" {
			t.Errorf("%s: %s %q", step, cfg.Host, name)
		}
	}
	_, _, err := LoadConfig("", "")
	if want := "no kubeconfig: none of --kubeconfig, $KUBECONFIG, ~/.kube/config and " + file("admin.conf") + " is there"; err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
	write(t, dir, "admin.conf", kubeconfig("admin", "admin", "second"))
	check("admin.conf", "", "", "admin", "admin")
	check("admin.conf with a context", "", "second", "second", "second")
	t.Setenv("KUBERNETES_SERVICE_HOST", "192.0.2.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	check("in a pod without a ServiceAccount", "", "", "admin", "admin")
	write(t, dir, "home", kubeconfig("home", "home", "other"))
	check("~/.kube/config", "", "", "home", "home")
	check("--context", "", "other", "other", "other")
	t.Setenv("KUBECONFIG", strings.Join([]string{file("missing"), file("one"), file("two")}, string(filepath.ListSeparator)))
	write(t, dir, "one", kubeconfig("one", "one"))
	write(t, dir, "two", kubeconfig("two", "two"))
	check("$KUBECONFIG", "", "", "one", "one")
	check("the second of $KUBECONFIG", "", "two", "two", "two")
	check("--kubeconfig", file("two"), "", "two", "two")
}

func TestLoadConfigErrors(t *testing.T) {
	dir := home(t)
	write(t, dir, "home", kubeconfig("home", "home"))
	secret := "*" + testPassword
	cluster := func(text string) string {
		return "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {" + text + "}}]\ncontexts: [{name: a, context: {cluster: a, user: u}}]\nusers: [{name: u, user: {token: x}}]\n"
	}
	user := func(text string) string {
		return "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: \"https://a\"}}]\ncontexts: [{name: a, context: {cluster: a, user: u}}]\nusers: [{name: u, user: {" + text + "}}]\n"
	}
	tests := []struct {
		name, text, context, want string // want with FILE for the file
	}{
		{"no YAML", "a: b: c\n", "", `kubeconfig FILE: error loading config file "FILE": yaml: mapping values are not allowed in this context`},
		{"a script", "#!/bin/sh\necho\n", "", `kubeconfig FILE: error loading config file "FILE": couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`},
		{"a password like an alias", user("password: " + secret), "", `kubeconfig FILE: error loading config file "FILE": yaml: unknown anchor`},
		{"a token that is no text", user("token: {a: " + testToken + "}"), "", "*cannot unmarshal object into Go struct field*"},
		{"no base64", user("client-key-data: " + testPassword), "", "*illegal base64 data at input byte *"},
		{"another kind", "apiVersion: v1\nkind: Pod\n", "", "*no kind \"Pod\" is registered*"},
		{"empty", "", "", "kubeconfig FILE: it has no contexts"},
		{"no current context", kubeconfig("", "a"), "", "kubeconfig FILE: it has no current-context; choose one with --context"},
		{"a current context that is not there", kubeconfig("b", "a"), "", `kubeconfig FILE: no context "b"`},
		{"--context that is not there", kubeconfig("a", "a"), "c\n", `kubeconfig FILE: no context "c\n"`},
		{"no cluster", strings.Replace(kubeconfig("a", "a"), "cluster: a", "cluster: b", 1), "", `kubeconfig FILE: context "a" is of cluster "b", which is not there`},
		{"no server", cluster(""), "", "*invalid configuration: *"},
		{"CA that is not there", cluster("server: \"https://a\", certificate-authority: nowhere.crt"), "", "*nowhere.crt: no such file or directory*"},
		{"proxy with a password", cluster("server: \"https://a\", proxy-url: \"http://user:" + testPassword + "@ho st\""), "", `kubeconfig FILE: the proxy-url of cluster "a" is no URL of the kind http, https or socks5`},
		{"proxy of another kind", cluster("server: \"https://a\", proxy-url: \"ftp://user:" + testPassword + "@host\""), "", `kubeconfig FILE: the proxy-url of cluster "a" is no URL of the kind http, https or socks5`},
		{"two ways to log in", user("username: u, password: " + testPassword + ", token: " + testToken), "", "*more than one authentication method found for u*"},
		{"key without certificate", user("client-key-data: " + base64.StdEncoding.EncodeToString([]byte(testPassword)) + ", client-certificate: nowhere"), "", "*nowhere*"},
	}
	for i, tt := range tests {
		file := write(t, dir, fmt.Sprintf("kubeconfig-%d", i), tt.text)
		_, _, err := LoadConfig(file, tt.context)
		if err == nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		got := err.Error()
		want := strings.ReplaceAll(tt.want, "FILE", file)
		if part := strings.Trim(want, "*"); part == want && got != want || !strings.Contains(got, part) {
			t.Errorf("%s: error %s\nwant %s", tt.name, got, want)
		}
		if strings.ContainsAny(got, "\n\r") || !strings.Contains(got, file) || strings.Contains(got, testPassword) || strings.Contains(got, testToken) {
			t.Errorf("%s: error %q", tt.name, got)
		}
	}

	missing := filepath.Join(dir, "missing")
	if _, _, err := LoadConfig(missing, ""); err == nil || err.Error() != "kubeconfig "+missing+": no such file" {
		t.Errorf("error %v", err)
	}
	if _, _, err := LoadConfig(dir, ""); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("error %v", err)
	}
	// It names a cluster, if in vain: that of another source is another.
	t.Setenv("KUBECONFIG", missing)
	if _, _, err := LoadConfig("", ""); err == nil || err.Error() != "kubeconfig "+missing+": no such file" {
		t.Errorf("error %v", err)
	}
}

// Every way to log in works, and leaves no trace in the evidence.
func TestLogin(t *testing.T) {
	c, older, newer := pair(t)
	dir := home(t)
	client := c.ca.Issue(t, "admin", valid, certstest.Usage(x509.ExtKeyUsageClientAuth))
	cert, key := write(t, dir, "admin.crt", string(certstest.PEM(client))), write(t, dir, "admin.key", string(client.KeyPEM(t)))
	byCertificate := func(r *http.Request) bool {
		return len(r.TLS.PeerCertificates) > 0 && r.TLS.PeerCertificates[0].Subject.CommonName == "admin" && r.Header.Get("Authorization") == ""
	}
	byToken := func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+testToken }
	b64 := func(text []byte) string { return base64.StdEncoding.EncodeToString(text) }
	plugin := func(name, script string) string {
		file := write(t, dir, name, "#!/bin/sh\n"+script)
		if err := os.Chmod(file, 0o700); err != nil {
			t.Fatal(err)
		}
		return "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ./" + name + ", installHint: \"install it\\nsomehow\"}"
	}
	credential := func(status string) string {
		return `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{` + status + "}}'\n"
	}
	tests := []struct {
		name, user string
		accepts    func(*http.Request) bool
		err        string
	}{
		{"token", "token: " + testToken, byToken, ""},
		{"tokenFile", "tokenFile: " + write(t, dir, "token", testToken+"\n"), byToken, ""},
		{"password", "username: admin, password: " + testPassword, func(r *http.Request) bool {
			user, password, ok := r.BasicAuth()
			return ok && user == "admin" && password == testPassword
		}, ""},
		{"client certificate", "client-certificate: " + cert + ", client-key: " + key, byCertificate, ""},
		{"client certificate inside", "client-certificate-data: " + b64(certstest.PEM(client)) + ", client-key-data: " + b64(client.KeyPEM(t)), byCertificate, ""},
		{"impersonation", "token: " + testToken + ", as: someone", func(r *http.Request) bool { return byToken(r) && r.Header.Get("Impersonate-User") == "someone" }, ""},
		{"exec", plugin("plugin", credential(`"token":"`+testToken+`"`)), byToken, ""},
		{"exec with a certificate", plugin("certificate", `awk 'BEGIN{printf "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"clientCertificateData\":\""}{printf "%s\\n",$0}' `+cert+
			` && printf '","clientKeyData":"' && awk '{printf "%s\\n",$0}' `+key+` && echo '"}}'`+"\n"), byCertificate, ""},
		// The time that someone needs to log in is not that of a request.
		{"slow exec", plugin("slow", "sleep 1\n"+credential(`"token":"`+testToken+`"`)), byToken, ""},
		{"failing exec", plugin("failing", "echo "+testToken+"; echo "+testPassword+"; exit 3\n"), byToken,
			"the kubeconfig's exec plugin: getting credentials: exec: executable " + filepath.Join(dir, "failing") + " failed with exit code 3"},
		{"exec that says nothing", plugin("nothing", "echo "+testToken+"\n"), byToken, "the kubeconfig's exec plugin: getting credentials: decoding stdout: *"},
		{"no exec", strings.Replace(plugin("x", ""), "./x", "./nowhere", 1), byToken, "the kubeconfig's exec plugin: getting credentials: exec: *"},
		{"refused", "token: wrong-" + testToken, byToken, "cannot ask " + older.address + ": it refuses the credentials of the kubeconfig (401 Unauthorized); name the API servers with --server if this one is down"},
		{"refused exec", plugin("wrong", credential(`"token":"wrong"`)), byToken, "cannot ask " + older.address + ": it refuses the credentials of the kubeconfig (401 Unauthorized); name the API servers with --server if this one is down"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.name, "exec") && runtime.GOOS == "windows" {
				t.Skip("the plugin is a shell script")
			}
			c.accepts = tt.accepts
			file := write(t, dir, "kubeconfig", "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: u}}]\n"+
				"clusters: [{name: a, cluster: {server: \"https://"+older.address+"\", certificate-authority-data: "+b64(certstest.PEM(c.ca))+"}}]\n"+
				"users: [{name: u, user: {"+tt.user+"}}]\n")
			cfg, name, err := LoadConfig(file, "")
			if err != nil {
				t.Fatal(err)
			}
			timeout := 20 * time.Second
			if tt.name == "slow exec" {
				timeout = 900 * time.Millisecond
			}
			cp, err := ask(t, Options{Config: cfg, Context: name, Timeout: timeout})
			if err != nil || tt.err != "" {
				if got := fmt.Sprint(err); !oneOf(got, tt.err) || strings.ContainsAny(got, "\n") || strings.Contains(got, testToken) || strings.Contains(got, testPassword) {
					t.Errorf("error %q, want %q", got, tt.err)
				}
				return
			}
			for _, f := range []*fake{older, newer} {
				if s := serverAt(t, cp, f); !s.Reached.OK() || !s.Merged.OK() {
					t.Errorf("%+v", s)
				}
			}
			checkReasons(t, cp)
		})
	}
}

// A kubeconfig of which the server is down is of use where the servers are given.
func TestGivenServers(t *testing.T) {
	c, older, newer := pair(t)
	down := c.newFake("down", "v1.35.4", oldOnes)
	down.close()
	nothing := c.newFake("nothing", "v1.35.4", oldOnes, at("", html))
	for _, f := range []*fake{down, nothing} {
		_, err := ask(t, Options{Config: c.config(f)})
		if err == nil || !strings.HasPrefix(err.Error(), "cannot ask "+f.address+": ") || !strings.HasSuffix(err.Error(), "; name the API servers with --server if this one is down") {
			t.Errorf("error %v", err)
		}
		cp := mustAsk(t, Options{Config: c.config(f), Servers: []string{older.address, newer.address, "https://" + older.address}})
		if len(cp.Servers) != 2 || cp.Found != "--server" || !cp.Shared.Endpoints.OK() {
			t.Errorf("%+v", cp)
		}
	}
	// With a path, such as that of a proxy in front of API servers.
	below := c.newFake("below", "v1.35.4", oldOnes, answering(func(_ http.ResponseWriter, r *http.Request) bool {
		path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/clusters/a%2Fb")
		if !ok {
			t.Errorf("asked for %s", r.URL)
		}
		r.URL.Path = path
		return false
	}))
	for _, o := range []Options{{Servers: []string{"https://" + below.address + "/clusters/a%2Fb/"}}, {}} {
		o.Config = c.config(below)
		o.Config.Host += "/clusters/a%2Fb"
		c.listed = nil
		cp := mustAsk(t, o)
		if s := serverAt(t, cp, below); !s.Reached.OK() || !s.Local.OK() {
			t.Errorf("%+v", s)
		}
	}
}

func TestNothingNamesTheServers(t *testing.T) {
	c, older, _ := pair(t)
	c.listed = nil
	cp := mustAsk(t, Options{Config: c.config(older)})
	if s := serverAt(t, cp, older); len(cp.Servers) != 1 || !s.Reached.OK() || s.FoundBy[0] != evidence.FromKubeconfig ||
		cp.Found != "the kubeconfig's server alone: nothing that it lets us read names the others" {
		t.Errorf("%+v", cp)
	}
}
