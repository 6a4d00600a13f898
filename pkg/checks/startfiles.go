package checks

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/certs"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/startup"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// unreadableFile is MVP127.
var unreadableFile = &Rule{
	ID: "MVP127", Name: "unreadable-file", Severity: Error,
	Doc: Doc{
		What: "With --root: a file that a flag of kube-apiserver names and that the server reads at start is missing, a folder, empty, or not of its kind: " +
			"CA bundles, keys of service accounts and certificates for etcd and kubelets, and the files that configure audit, admission, authentication, authorization, encryption, tracing and egress. " +
			"Of what such a file holds, CEL expressions, KMS plugins and the configuration of admission plugins but PodSecurity are not judged. MVP208 has the files of the hand-off.",
		Why:   "kube-apiserver exits at start on such a file.",
		Fix:   "Put the right file there; on a kubeadm node kubeadm init phase certs writes certificates and keys that are missing.",
		Facts: []string{"S7"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		store := p.openRoot()
		if store == nil {
			p.skipWithoutFiles()
			return
		}
		keys := keysAtHand(store, p.pairs())
		for _, file := range startup.Files() {
			for _, g := range p.flagsWhere(func(v View, f *config.Flag) bool { return f.Name == file.Flag && isRead(&file, v, f) }) {
				p.fileUnreadable(store, &file, g, keys)
			}
		}
	},
}

// isRead tells whether the server reads the file that a flag names: it is not empty, and of several values the last
// one, unless they add up.
func isRead(file *startup.File, v View, f *config.Flag) bool {
	inForce := f == v.Flags.Last(f.Name) || release.Accumulates(f.Name)
	return f.Value != "" && !f.Unknown && inForce && file.IsRead(v.server())
}

// server is the view as package startup judges it.
func (v View) server() *startup.Server {
	return startup.NewServer(release.Nearest(v.Release), settings(v), v.Effective)
}

func (p *Pass) fileUnreadable(store *certs.Store, file *startup.File, g flagGroup, keys bool) {
	f, v := g.flag, g.views[0]
	host, ok := onHost(v, f.Value)
	switch {
	case ok && file.Written && !strings.HasSuffix(f.Value, "/"): // which is MVP125's
		p.fileUnwritable(store, g, host)
		return
	case file.Written && madeByKernel(f.Value):
		p.CannotTell("whether there is a file %s in the container, where none can be made and kube-apiserver exits without it", f.Value)
		return
	case file.Written:
		return
	case !ok:
		p.locate(v, f.Name, f.Value) // says that it cannot be told
		return
	}
	text, problem := store.Text(host)
	clear(text)
	if problem == certs.Empty && file.EmptyStarts || problem == certs.Missing && leftOut(store, file, f, keys) || !p.seen(f.Name, f.Value, problem) {
		return
	}
	says := problem.Says()
	if problem == certs.OK {
		says = file.Refused(v.server(), v.node(store), f.Value)
	}
	if says != "" {
		p.reportStops(Finding{
			At:      p.placeOr(f, v),
			Message: fmt.Sprintf("%s %s %s.", f.Name, quoted(f.Value), says),
			Fix:     "put " + file.What + " there",
		}, g.views)
	}
}

// node has the files of the view's node.
func (v View) node(store *certs.Store) startup.Node {
	return startup.Node{
		Store: store,
		Host:  func(name string) (string, bool) { return onHost(v, name) },
		Mounted: func(name string) bool {
			return slices.ContainsFunc(v.Mounts, func(m config.Volume) bool { return m.MountPath != "" && config.Within(name, m.MountPath) })
		},
	}
}

// fileUnwritable reports a file that the server cannot make: it makes the folders that are missing.
func (p *Pass) fileUnwritable(store *certs.Store, g flagGroup, host string) {
	says := ""
	if is, _ := store.Folder(host); is {
		says = certs.Directory.Says()
	} else if belowFile(store, host) {
		says = "lies below a file"
	}
	if says != "" {
		p.reportStops(Finding{
			At:      p.placeOr(g.flag, g.views[0]),
			Message: fmt.Sprintf("%s %s %s.", g.flag.Name, quoted(g.flag.Value), says),
			Fix:     "name a file" + p.byHand(),
		}, g.views)
	}
}

// madeByKernel tells whether a path is of a file system in which nobody makes files. A standard stream of the process
// is there.
func madeByKernel(name string) bool {
	clean := path.Clean(name)
	return (strings.HasPrefix(clean, "/proc/") || strings.HasPrefix(clean, "/sys/")) && !streams[clean]
}

var streams = map[string]bool{"/proc/self/fd/1": true, "/proc/self/fd/2": true, "/proc/1/fd/1": true, "/proc/1/fd/2": true}

// belowFile tells whether a file stands where a path needs a folder.
func belowFile(store *certs.Store, host string) bool {
	for dir := path.Dir(host); dir != "/" && dir != "."; dir = path.Dir(dir) {
		text, problem := store.Text(dir)
		clear(text)
		switch problem {
		case certs.OK, certs.Empty, certs.TooLarge:
			return true
		case certs.Directory:
			return false
		}
	}
	return false
}

// leftOut tells whether a file is missing because a copy of a node's files does without it: what kubeadm itself names,
// it has made, and private keys are often not copied.
func leftOut(store *certs.Store, file *startup.File, f *config.Flag, keys bool) bool {
	return !store.WholeSystem() && (f.Origin == config.FromKubeadm || file.Secret && !keys)
}
