//go:build linux

package main

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

// up starts the control plane as a process of its own and waits until it is there.
func up(args []string) error {
	if _, err := parse(args); err != nil {
		return err
	}
	s, err := readState()
	if err != nil {
		return err
	}
	if s != nil && s.Error == "" {
		return errors.New("one is running; end it first: make lab-down")
	}
	if err := removeState(); err != nil {
		return err
	}
	cmd, err := startRun(args)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			return failed(err)
		case <-time.After(200 * time.Millisecond):
		}
		s, err := readState()
		if err != nil {
			return err
		}
		if s != nil && s.Error == "" {
			fmt.Print(s.help())
			return nil
		}
	}
}

// startRun starts this program as lab run, which stays when this process and its terminal are gone.
func startRun(args []string) (*exec.Cmd, error) {
	name, err := logFile()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command("/proc/self/exe", append([]string{"run"}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

// failed says why lab run has ended.
func failed(err error) error {
	if s, stateErr := readState(); stateErr == nil && s != nil && s.Error != "" {
		return errors.New(s.Error)
	}
	name, _ := logFile()
	text, _ := os.ReadFile(name)
	return fmt.Errorf("did not come up: %w\n%s", err, text)
}

// help says what to do with it.
func (s *state) help() string {
	var b strings.Builder
	b.WriteString("The control plane is up:\n")
	for i, node := range s.Nodes {
		fmt.Fprintf(&b, "  %s  %s\n", node, s.Kubeconfigs[i])
	}
	b.WriteString("It is in a network namespace of its own. To run a command there, with KUBECONFIG for the first server:\n" +
		"  go run ./test/lab/cmd/lab exec -- COMMAND\nor\n" +
		"  " + strings.Join(s.enter(), " ") + " COMMAND\n" +
		"To end it: make lab-down\n")
	return b.String()
}

// enter is the command that runs another where the servers can be reached.
func (s *state) enter() []string {
	words := []string{"nsenter", fmt.Sprintf("--target=%d", s.Inside), "--net"}
	if own, _ := os.Readlink("/proc/self/ns/user"); own != "" {
		if theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", s.Inside)); err == nil && theirs != own {
			words = append(words, "--user", "--preserve-credentials")
		}
	}
	return words
}

// execute runs a command within the namespace.
func execute(args []string) error {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	s, err := readState()
	if err != nil {
		return err
	}
	if s == nil || s.Error != "" {
		return errors.New("no control plane is running; start one: make lab-up")
	}
	if len(args) == 0 {
		return errors.New("exec: a command is missing")
	}
	words := append(s.enter(), args...)
	path, err := exec.LookPath(words[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, words, append(os.Environ(), "KUBECONFIG="+s.Kubeconfigs[0]))
}

// down ends the control plane, which cleans up behind itself.
func down() error {
	s, err := readState()
	if err != nil {
		return err
	}
	if s == nil || s.Error != "" {
		fmt.Println("No control plane is running.")
		return removeState()
	}
	if err := syscall.Kill(s.Pid, syscall.SIGTERM); err != nil {
		return err
	}
	for range 300 {
		if startOf(s.Pid) != s.Started {
			fmt.Println("The control plane has ended.")
			return removeState()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("process %d has not ended", s.Pid)
}
