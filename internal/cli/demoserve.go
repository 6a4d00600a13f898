package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/demo"
	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/text"
)

// serveDemo keeps the servers up until the context ends. That is how it is meant to end, hence no error.
func (a *app) serveDemo(ctx context.Context, o *demoOptions) (err error) {
	cp, err := a.startDemo(ctx, o.state.word)
	if err != nil {
		return err
	}
	defer cp.Close()
	file, remove, err := writeDemoKubeconfig(cp, o.kubeconfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := a.write(a.serveText(cp, file, o)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// writeDemoKubeconfig writes the kubeconfig for its owner alone, and returns what removes it again.
func writeDemoKubeconfig(cp *demo.ControlPlane, file string) (name string, remove func() error, err error) {
	text, err := cp.Kubeconfig()
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.Remove(file) }
	if file == "" {
		dir, err := os.MkdirTemp("", "mvpcheck-demo-")
		if err != nil {
			return "", nil, err
		}
		file = filepath.Join(dir, "kubeconfig")
		remove = func() error { return os.RemoveAll(dir) }
	}
	switch err := files.WriteNew(file, text, 0o600); {
	case errors.Is(err, fs.ErrExist):
		return "", nil, fmt.Errorf("%s: is there already; the kubeconfig of the demo replaces no other", file)
	case err != nil:
		return "", nil, err
	}
	return file, remove, nil
}

// serveText says what runs and what to try.
func (a *app) serveText(cp *demo.ControlPlane, file string, o *demoOptions) string {
	var out strings.Builder
	if o.quiet {
		fmt.Fprintln(&out, text.Printable(file))
		return out.String()
	}
	fmt.Fprintf(&out, "Three API servers run until ctrl-C, %s:\n\n", map[string]string{
		stateUnprepared: "with the configuration as most clusters have it",
		statePrepared:   "with the configuration that mvpcheck patch writes",
	}[o.state.word])
	for _, s := range cp.Servers() {
		fmt.Fprintf(&out, "   %s  %s  https://%s\n", s.Name, strings.TrimPrefix(s.Release(), "v"), s.Address)
	}
	fmt.Fprintf(&out, "\nThe kubeconfig, which is removed at the end:\n\n   %s\n\n", text.Printable(file))
	config := text.ShellFile(file)
	other, becomes := statePrepared, "with the hand-off set up"
	if o.state.word == statePrepared {
		other, becomes = stateUnprepared, "without the hand-off"
	}
	fmt.Fprintf(&out, `Try in another terminal:

   %[1]s probe --kubeconfig %[2]s
   kubectl --kubeconfig %[2]s get --raw %[3]s
   kubectl --kubeconfig %[2]s --context cp-2 get --raw %[3]s
   kubectl --kubeconfig %[2]s api-resources
   kubectl --kubeconfig %[2]s -n kube-system get configmap kubeadm-config -o yaml | %[1]s check -

The same %[4]s: %[1]s demo --serve --state %[5]s
`, a.program, config, demoPath, becomes, other)
	return out.String()
}
