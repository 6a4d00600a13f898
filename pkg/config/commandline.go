package config

import (
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// Origin says where a flag of an effective command line comes from.
type Origin uint8

// The origins of flags.
const (
	// FromKubeadm: kubeadm's own argument.
	FromKubeadm Origin = iota
	// FromExtraArgs: an extraArg.
	FromExtraArgs
	// FromMerge: kubeadm's own argument with an extraArg of a mergeMethod.
	FromMerge
	// FromManifest: a word of a pod's command.
	FromManifest
)

// Flag is one flag of a command line.
type Flag struct {
	// Name is the flag's name with dashes, whatever was written (S8j).
	Name string
	// Spelling is the name as written, without the leading dashes.
	Spelling string
	Value    string
	// Unknown: the value is not known here (the address of a node that nothing names, a template mark); Value is
	// then what is known of it, or empty.
	Unknown bool
	Origin  Origin
	// Arg is the extraArg, for FromExtraArgs and FromMerge.
	Arg *Arg
	// At is the place of the value; zero for kubeadm's own arguments.
	At yamldoc.Place
}

// CommandLine is the command line of a kube-apiserver without the program, in its order.
type CommandLine []Flag

// Last returns the last flag of a name, which is the one in force for a flag that does not accumulate, or nil.
func (c CommandLine) Last(name string) *Flag {
	for i := len(c) - 1; i >= 0; i-- {
		if c[i].Name == name {
			return &c[i]
		}
	}
	return nil
}

// All returns the flags of a name in their order.
func (c CommandLine) All(name string) []*Flag {
	var flags []*Flag
	for i := range c {
		if c[i].Name == name {
			flags = append(flags, &c[i])
		}
	}
	return flags
}

// Value returns the value in force of a flag, empty where it is not set.
func (c CommandLine) Value(name string) string {
	if f := c.Last(name); f != nil {
		return f.Value
	}
	return ""
}

// Args returns the words as they stand in a manifest: --name=value.
func (c CommandLine) Args() []string {
	words := make([]string, len(c))
	for i, f := range c {
		words[i] = "--" + f.Spelling + "=" + f.Value
	}
	return words
}

// Server is one kube-apiserver as it is configured.
type Server struct {
	Node  Node
	Flags CommandLine
	// FlagsUnknown: a patch or a wrapper does what cannot be followed here; Flags may lack or have too much.
	FlagsUnknown bool
	Envs         []EnvVar
	// Mounts are the host paths that the pod sees; HostMount tells whether a path lies within.
	Mounts []Volume
	// Manifest is the pod that the server was read from, nil for one that kubeadm would write.
	Manifest *Manifest
}

// Servers returns the API servers as kubeadm would write them, one for each control-plane node that is known and at
// least one; for manifests, the pods as they are. All releases from 1.33 to 1.37 whose kubeadm reads a configuration
// make the same of it (compared in the lab), so this does not ask for which.
func (c *Cluster) Servers() []Server {
	if c.Root == nil && c.Form != FormKind {
		servers := make([]Server, 0, len(c.Manifests))
		for _, m := range c.Manifests {
			servers = append(servers, m.Server())
		}
		return servers
	}
	nodes := c.Nodes
	if len(nodes) == 0 {
		nodes = []Node{{}}
	}
	mounts := c.mounts()
	servers := make([]Server, 0, len(nodes))
	for _, n := range nodes {
		flags, known := applyPatches(c.CommandLine(n), c.Patches)
		servers = append(servers, Server{Node: n, Flags: flags, FlagsUnknown: !known, Envs: c.APIServer.Envs,
			Mounts: mounts})
	}
	return servers
}

// Server returns the pod as a server.
func (m *Manifest) Server() Server {
	return Server{Node: m.Node, Flags: m.Flags(), FlagsUnknown: m.Unreadable, Envs: m.Envs, Mounts: m.Mounts,
		Manifest: m}
}

// CommandLine returns the command line that kubeadm writes for a node: its own arguments sorted, less
// those that extraArgs replace, then the extraArgs in their order (kubeadm's getAPIServerCommand and
// ArgumentsToCommand; compared with the real one in the lab).
func (c *Cluster) CommandLine(n Node) CommandLine {
	base := c.baseArguments(n)
	var last map[string]*Arg
	if len(c.APIServer.Args) > 0 {
		last = make(map[string]*Arg, len(c.APIServer.Args))
	}
	for _, a := range c.APIServer.Args {
		last[a.Name] = a
	}
	// The base is this call's own: what stays of it is kept in place.
	out := base[:0]
	for _, f := range base {
		a, ok := last[f.Name]
		switch {
		case !ok:
			out = append(out, f)
		case a.MergeMethod == "append":
			out = append(out, mergedFlag(f, a, f.Value+a.Value))
		case a.MergeMethod == "prepend":
			out = append(out, mergedFlag(f, a, a.Value+f.Value))
		}
	}
	for _, a := range c.APIServer.Args {
		if a.MergeMethod != "" {
			continue
		}
		f := Flag{Name: release.NormalizeFlag(a.Name), Spelling: a.Name, Value: a.Value, Origin: FromExtraArgs, Arg: a,
			At: a.ValuePlace()}
		f.Unknown = PlaceholderIn(a.Value) != ""
		out = append(out, f)
	}
	return out
}

func mergedFlag(f Flag, a *Arg, value string) Flag {
	f.Value, f.Origin, f.Arg, f.At = value, FromMerge, a, a.ValuePlace()
	f.Unknown = f.Unknown || PlaceholderIn(a.Value) != ""
	return f
}

// DroppedArgs returns the extraArgs that kubeadm drops: those with a mergeMethod and no argument of kubeadm's
// own to merge with, and those of which a later one of the same name decides.
func (c *Cluster) DroppedArgs() []*Arg {
	if !slices.ContainsFunc(c.APIServer.Args, func(a *Arg) bool { return a.MergeMethod != "" }) {
		return nil
	}
	own := map[string]bool{}
	for _, f := range c.baseArguments(Node{}) {
		own[f.Name] = true
	}
	last := map[string]*Arg{}
	for _, a := range c.APIServer.Args {
		last[a.Name] = a
	}
	var dropped []*Arg
	for _, a := range c.APIServer.Args {
		if a.MergeMethod != "" && (!own[a.Name] || last[a.Name] != a) {
			dropped = append(dropped, a)
		}
	}
	return dropped
}

// baseArguments are kubeadm's own, sorted by name; the same in 1.33 to 1.37.
func (c *Cluster) baseArguments(n Node) CommandLine {
	dir := c.CertificatesDir.Value
	cert := func(name string) string { return path.Join(dir, name) }
	address, known := canonicalAddress(n.Address)
	port := n.Port
	if port == 0 {
		port = 6443
	}
	out := make(CommandLine, 0, 32+len(c.APIServer.Args))
	add := func(name, value string) {
		out = append(out, Flag{Name: name, Spelling: name, Value: value, Unknown: PlaceholderIn(value) != ""})
	}
	add("advertise-address", address)
	out[0].Unknown, out[0].At = !known, n.At
	add("allow-privileged", "true")
	if !c.APIServer.has("authorization-config") {
		add("authorization-mode", "Node,RBAC")
	}
	add("client-ca-file", cert("ca.crt"))
	add("enable-admission-plugins", "NodeRestriction")
	add("enable-bootstrap-token-auth", "true")
	c.etcdArguments(add, cert, address)
	add("kubelet-client-certificate", cert("apiserver-kubelet-client.crt"))
	add("kubelet-client-key", cert("apiserver-kubelet-client.key"))
	add("kubelet-preferred-address-types", "InternalIP,ExternalIP,Hostname")
	add("proxy-client-cert-file", cert("front-proxy-client.crt"))
	add("proxy-client-key-file", cert("front-proxy-client.key"))
	add("requestheader-allowed-names", "front-proxy-client")
	add("requestheader-client-ca-file", cert("front-proxy-ca.crt"))
	add("requestheader-extra-headers-prefix", "X-Remote-Extra-")
	add("requestheader-group-headers", "X-Remote-Group")
	add("requestheader-username-headers", "X-Remote-User")
	add("secure-port", strconv.Itoa(port))
	out[len(out)-1].At = n.At
	add("service-account-issuer", "https://kubernetes.default.svc."+c.DNSDomain.Value)
	add("service-account-key-file", cert("sa.pub"))
	add("service-account-signing-key-file", cert("sa.key"))
	add("service-cluster-ip-range", c.ServiceSubnet.Value)
	add("tls-cert-file", cert("apiserver.crt"))
	add("tls-private-key-file", cert("apiserver.key"))
	return out
}

// etcdArguments adds those for etcd, sorted.
func (c *Cluster) etcdArguments(add func(name, value string), cert func(string) string, address string) {
	if c.Etcd.External {
		if c.Etcd.CAFile != "" {
			add("etcd-cafile", c.Etcd.CAFile)
		}
		if c.Etcd.CertFile != "" && c.Etcd.KeyFile != "" {
			add("etcd-certfile", c.Etcd.CertFile)
			add("etcd-keyfile", c.Etcd.KeyFile)
		}
		add("etcd-servers", strings.Join(c.Etcd.Endpoints, ","))
		return
	}
	own := "https://127.0.0.1:2379"
	if strings.Contains(address, ":") {
		own = "https://[::1]:2379"
	}
	servers := own
	for _, a := range c.Etcd.LocalArgs {
		switch {
		case a.Name != "advertise-client-urls":
		case a.MergeMethod == "append":
			servers = own + a.Value
		case a.MergeMethod == "prepend":
			servers = a.Value + own
		default:
			servers = a.Value
		}
	}
	add("etcd-cafile", cert("etcd/ca.crt"))
	add("etcd-certfile", cert("apiserver-etcd-client.crt"))
	add("etcd-keyfile", cert("apiserver-etcd-client.key"))
	add("etcd-servers", servers)
}

// canonicalAddress returns a localAPIEndpoint.advertiseAddress as kubeadm writes it into the manifest. known is
// false where kubeadm takes an address of the node's own instead: none given, unspecified, or loopback.
func canonicalAddress(s string) (address string, known bool) {
	ip := net.ParseIP(s)
	if ip == nil {
		return s, s != "" && PlaceholderIn(s) == ""
	}
	return ip.String(), !ip.IsUnspecified() && !ip.IsLoopback()
}

func (c Component) has(name string) bool {
	for _, a := range c.Args {
		if a.Name == name {
			return true
		}
	}
	return false
}

// mounts are the host paths that kubeadm's kube-apiserver pod always has, and the extraVolumes; the folders that
// kubeadm mounts only where they exist on the host are MaybeMounted.
func (c *Cluster) mounts() []Volume {
	dir := c.CertificatesDir.Value
	mounts := []Volume{
		{Name: "k8s-certs", HostPath: dir, MountPath: dir},
		{Name: "ca-certs", HostPath: "/etc/ssl/certs", MountPath: "/etc/ssl/certs"},
	}
	if c.Etcd.External {
		for i, folder := range c.etcdFolders() {
			mounts = append(mounts, Volume{Name: "etcd-certs-" + strconv.Itoa(i), HostPath: folder, MountPath: folder})
		}
	}
	for _, v := range c.APIServer.Volumes {
		// A volume of the same name replaces kubeadm's own.
		for i := range mounts {
			if mounts[i].Name == v.Name {
				mounts[i] = v
				v.Name = ""
				break
			}
		}
		if v.Name != "" || v.MountPath != "" && v.Node != nil && !contains(mounts, v.Node) {
			mounts = append(mounts, v)
		}
	}
	return mounts
}

// etcdFolders are the folders of an external etcd's certificates that kubeadm mounts: not those that begin, as a
// string, like one that is mounted anyway.
func (c *Cluster) etcdFolders() []string {
	var folders []string
	for _, file := range []string{c.Etcd.CAFile, c.Etcd.CertFile, c.Etcd.KeyFile} {
		if file != "" && !slices.Contains(folders, path.Dir(file)) {
			folders = append(folders, path.Dir(file))
		}
	}
	mounted := append([]string{c.CertificatesDir.Value, "/etc/ssl/certs"}, MaybeMounted...)
	folders = slices.DeleteFunc(folders, func(f string) bool {
		return slices.ContainsFunc(mounted, func(m string) bool { return strings.HasPrefix(f, m) })
	})
	slices.Sort(folders)
	return folders
}

func contains(mounts []Volume, node *yamldoc.Value) bool {
	for _, m := range mounts {
		if m.Node == node {
			return true
		}
	}
	return false
}

// MaybeMounted are the folders that kubeadm mounts into the kube-apiserver pod where they exist on the node that it
// runs on (pkg volumes.go of kubeadm 1.33 to 1.37).
var MaybeMounted = []string{
	"/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/ca-certificates", "/usr/share/ca-certificates",
	"/usr/local/share/ca-certificates",
}

// Mounted returns the host path behind a path in the pod, through the mount with the longest path; ok is false
// where no mount covers it.
func (s Server) Mounted(file string) (host string, ok bool) {
	best := ""
	for _, m := range s.Mounts {
		if m.MountPath != "" && Within(file, m.MountPath) && len(m.MountPath) >= len(best) {
			best = m.MountPath
			host = path.Join(m.HostPath, strings.TrimPrefix(path.Clean(file), path.Clean(m.MountPath)))
		}
	}
	return host, best != ""
}

// Within tells whether a path lies in a folder, or is it.
func Within(file, dir string) bool {
	file, dir = path.Clean(file), path.Clean(dir)
	return file == dir || dir == "/" || strings.HasPrefix(file, dir+"/")
}

// Flags reads the words of the pod's command as pflag does: --name=value, --name value, and boolean flags
// without a value.
func (m *Manifest) Flags() CommandLine { return readWords(m.Command) }
