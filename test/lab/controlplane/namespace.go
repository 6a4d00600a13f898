//go:build linux

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"github.com/mvpcheck/mvpcheck/test/lab"
)

// Addresses are those that the namespace has: the nodes' own in the order in which nodes are added, and the last for what
// several nodes share, such as the address of a load balancer. They are of the range for documentation (RFC 5737): a loopback
// address would not be that of a server.
var Addresses = []string{"192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15", "192.0.2.100"}

// SharedAddress is the last of Addresses.
const SharedAddress = "192.0.2.100"

// insideVariable is set within the namespace.
const insideVariable = "MVPCHECK_LAB_INSIDE"

// Main is the TestMain of a package whose tests start control planes. It builds the programs that are missing and runs the
// tests in a namespace.
func Main(m *testing.M) {
	os.Exit(Enter(m.Run))
}

// Enter calls run in a network namespace and a UTS namespace of its own, in a new process of the same program with the same
// arguments, and returns its result. It must be called before anything else in main, and by every program that starts
// servers: they are started through the program itself.
//
// Namespaces need root, or a kernel that lets users make namespaces. Where they cannot be made, it says so in one line and returns 1.
func Enter(run func() int) int {
	if len(os.Args) > 1 && os.Args[1] == NodeCommand {
		fmt.Fprintln(os.Stderr, becomeServer(os.Args[2:])) // returns only if that went wrong
		return 1
	}
	if os.Getenv(insideVariable) != "" {
		if err := setUpNetwork(Addresses); err != nil {
			fmt.Fprintln(os.Stderr, "lab: the network of the namespace:", err)
			return 1
		}
		return run()
	}
	code, err := enter()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 1
	}
	return code
}

// enter runs the program within the namespace.
func enter() (code int, err error) {
	if err := buildAll(); err != nil {
		return 0, err
	}
	// What is left behind by tests that were killed goes with this folder.
	tmp, err := os.MkdirTemp("", "mvpcheck-lab-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
	defer signal.Stop(signals)
	runtime.LockOSThread() // Pdeathsig is about the thread that starts the process
	cmd, err := startInside(tmp)
	if err != nil {
		return 0, fmt.Errorf("no network namespace, which the lab needs (root, or user namespaces for everyone): %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s)
		case err := <-done:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, err
			}
			if code := cmd.ProcessState.ExitCode(); code >= 0 {
				return code, nil
			}
			return 1, nil // by a signal
		}
	}
}

// startInside starts the program again, within namespaces. Root makes them as it is, others, and a root that may not, within a
// user namespace in which they are root.
func startInside(tmp string) (*exec.Cmd, error) {
	command := func(user bool) *exec.Cmd {
		cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
		cmd.Args[0] = os.Args[0]
		cmd.Env = append(os.Environ(), insideVariable+"=1", "TMPDIR="+tmp)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS,
			Pdeathsig:  syscall.SIGKILL,
		}
		if user {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
		}
		return cmd
	}
	if os.Geteuid() == 0 {
		cmd := command(false)
		err := cmd.Start()
		if !errors.Is(err, syscall.EPERM) {
			return cmd, err
		}
	}
	cmd := command(true)
	return cmd, cmd.Start()
}

// buildAll builds what is missing. Within the namespace it could not be: there is no way to the modules.
func buildAll() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	releases, err := lab.ReadReleases()
	if err != nil {
		return err
	}
	for _, r := range releases {
		if _, err := r.Build(ctx, os.Stderr, "kubeadm", "kube-apiserver"); err != nil {
			return err
		}
	}
	_, err = lab.BuildEtcd(ctx, os.Stderr)
	return err
}

// setUpNetwork gives lo the addresses and makes it the way to everywhere: kubeadm takes the address of the default route's
// interface, and a request to any other address is lost instead of refused.
func setUpNetwork(addresses []string) error {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return err
	}
	link, err := openNetlink()
	if err != nil {
		return err
	}
	defer link.close()
	if err := link.up(lo.Index); err != nil {
		return fmt.Errorf("lo: %w", err)
	}
	for _, address := range addresses {
		if err := link.addAddress(lo.Index, net.ParseIP(address)); err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
	}
	if err := link.addDefaultRoute(lo.Index); err != nil {
		return fmt.Errorf("default route: %w", err)
	}
	return nil
}
