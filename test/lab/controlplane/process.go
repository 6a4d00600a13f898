//go:build linux

package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// NodeCommand is the first argument of a program that starts servers where it is to become one, by [Enter].
const NodeCommand = "mvpcheck-lab-node"

// serverPath is where the server's program is in a node's file system.
const serverPath = "/usr/local/bin/kube-apiserver"

// becomeServer turns the process, which has a UTS and a mount namespace of its own, into the kube-apiserver of a node.
func becomeServer(args []string) error {
	host, root, args := args[0], args[1], args[2:]
	if err := syscall.Sethostname([]byte(host)); err != nil {
		return fmt.Errorf("%s: host name: %w", host, err)
	}
	// In /proc the server finds the default route, where it has to choose an address.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%s: mounts: %w", host, err)
	}
	if err := syscall.Mount("/proc", filepath.Join(root, "proc"), "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("%s: /proc: %w", host, err)
	}
	if err := syscall.Chroot(root); err != nil {
		return fmt.Errorf("%s: chroot %s: %w", host, root, err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	err := syscall.Exec(serverPath, append([]string{filepath.Base(serverPath)}, args...), os.Environ())
	return fmt.Errorf("%s: %s: %w", host, serverPath, err)
}

// process is a program that runs until it is ended.
type process struct {
	cmd  *exec.Cmd
	log  string // the file with its output
	done chan struct{}
}

// start starts a program with a file for its output. The kernel kills it when the lab's own process ends, however that
// comes.
func start(cmd *exec.Cmd, log string) (*process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// Go keeps its threads for as long as the process lives, unless a goroutine ends that is locked to one.
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// exited returns the exit code, -1 for a process that a signal ended; ok is false while it runs.
func (p *process) exited() (code int, ok bool) {
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode(), true
	default:
		return 0, false
	}
}

// end sends a signal and waits; a process that has not ended by then is killed, and that is an error.
func (p *process) end(s syscall.Signal, wait time.Duration) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(wait):
	}
	_ = p.cmd.Process.Kill()
	<-p.done
	return fmt.Errorf("%s was still running %s after signal %s", p.cmd.Args[0], wait, s)
}

// kill ends the process at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// text returns what the process has written.
func (p *process) text() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// tail returns the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
