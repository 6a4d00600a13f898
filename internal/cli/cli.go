// Package cli is the command line: flags, wiring and exit codes. What it uses of the world (streams, environment,
// clock) is passed in; it decides nothing about configurations.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/mvpcheck/mvpcheck/internal/text"
)

// The exit codes, the same for every command and every output format. exitFindings wins over exitFailed.
const (
	exitOK       = 0 // nothing at or above --fail-on
	exitFindings = 1 // findings at or above it
	exitUsage    = 2 // the command line or .mvpcheck.yaml is wrong
	exitFailed   = 3 // could not check, or could not tell
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// OutIsTerminal decides about colour.
	OutIsTerminal bool
}

// OSStreams are the streams of the process.
func OSStreams() Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, OutIsTerminal: isatty.IsTerminal(os.Stdout.Fd())}
}

// app is one run of the program with all that it takes from the world.
type app struct {
	Streams
	// program is what the user types to call us: mvpcheck, or kubectl mvpcheck.
	program string
	lookup  func(string) (string, bool)
	now     func() time.Time
}

// Main runs the command line args, of which the first is the name of the program, and returns the exit code.
func Main(ctx context.Context, args []string, s Streams) int {
	a := &app{Streams: s, program: programName(args), lookup: os.LookupEnv, now: time.Now}
	return a.run(ctx, args)
}

// programName is what a user typed: kubectl runs a plugin as kubectl-mvpcheck.
func programName(args []string) string {
	if len(args) > 0 && strings.HasPrefix(filepath.Base(args[0]), "kubectl-") {
		return "kubectl mvpcheck"
	}
	return "mvpcheck"
}

// run never panics: what nobody foresaw becomes one line and an exit code that does not look like success.
func (a *app) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			a.complain(internalError(r).Error())
			code = exitFailed
		}
	}()
	root := a.rootCommand()
	root.SetArgs(args[min(1, len(args)):])
	err := root.ExecuteContext(ctx)
	return a.exitCode(err)
}

// internalError is what becomes of a panic.
func internalError(r any) error {
	return fmt.Errorf("internal error: %v; please report it with the input that led to it", r)
}

// exitCode prints an error and returns the exit code for it.
func (a *app) exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case !errors.As(err, &e):
		// Only cobra returns plain errors, for what it does not understand of the command line.
		e = &exitError{code: exitUsage, err: err}
	}
	if e.err != nil {
		for _, err := range unjoin(e.err) {
			a.complain(err.Error())
		}
	}
	return e.code
}

// complain prints one line to standard error. What comes from files must not reach a terminal as it is.
func (a *app) complain(msg string) {
	fmt.Fprintf(a.Err, "%s: %s\n", a.program, a.inProgramsName(text.Printable(msg)))
}

// inProgramsName puts what the user types in place of mvpcheck where a text tells of commands to type.
func (a *app) inProgramsName(s string) string {
	if a.program == "mvpcheck" {
		return s
	}
	for _, command := range []string{"check", "patch", "plan", "probe", "explain", "demo", "version", "completion",
		"help", "--help"} {
		s = strings.ReplaceAll(s, "mvpcheck "+command, a.program+" "+command)
	}
	return s
}

// exitError ends a command with an exit code; err may be nil where everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return "exit code " + strconv.Itoa(e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError is a mistake in how the program was called.
func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// failure is what could not be done; nil stays nil.
func failure(err error) error {
	var e *exitError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &exitError{exitFailed, err}
}

// unjoin returns the errors that errors.Join put together.
func unjoin(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}
