//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mvpcheck/mvpcheck/test/lab"
)

// state is what is known of the control plane that runs. It is in the folder of the lab's programs.
type state struct {
	// Pid is the process that holds the control plane, Started when it started, so that another process that has got its
	// number is not taken for it; Inside is a process in the namespace.
	Pid     int
	Started string
	Inside  int
	// Kubeconfigs are those of the nodes, in their order; Nodes say what they are.
	Kubeconfigs, Nodes []string
	// Error is why it did not come up.
	Error string
}

func stateFile() (string, error) {
	dir, err := lab.CacheDir()
	return filepath.Join(dir, "control-plane.json"), err
}

// logFile is what the control plane writes, beside the state.
func logFile() (string, error) {
	dir, err := lab.CacheDir()
	return filepath.Join(dir, "control-plane.log"), err
}

// readState returns the state of a control plane that runs, nil when there is none.
func readState() (*state, error) {
	file, err := stateFile()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if s.Error == "" && startOf(s.Pid) != s.Started {
		return nil, nil // gone without taking leave
	}
	return &s, nil
}

func (s *state) write() error {
	file, err := stateFile()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	// Written aside: who reads it finds all or nothing.
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func removeState() error {
	file, err := stateFile()
	if err != nil {
		return err
	}
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// startOf tells when a process started, in the kernel's own count, "" when there is none.
func startOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, the second field, may have blanks in its parentheses. The start is the 22nd.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}
