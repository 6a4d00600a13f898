// Package commands checks the command lines that the documentation and the kinder workflow tell people to type, for tests:
// those of mvpcheck by mvpcheck itself, those of other programs by tables of their subcommands and flags (tables.go).
package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mvpcheck/mvpcheck/internal/cli"
)

// unknown stands for the part of a word that only a shell knows.
const unknown = "UNKNOWN"

// Script returns what is wrong with the commands of a shell script, nil where there is nothing.
func Script(text string) error {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	var errs []error
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			var args []string
			for _, w := range call.Args {
				args = append(args, wordText(w.Parts))
			}
			errs = append(errs, Args(args...))
		}
		return true
	})
	return errors.Join(errs...)
}

// wordText returns a word as the program gets it.
func wordText(parts []syntax.WordPart) string {
	var out strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			out.WriteString(unescape(part.Value))
		case *syntax.SglQuoted:
			out.WriteString(part.Value)
		case *syntax.DblQuoted:
			out.WriteString(wordText(part.Parts))
		default:
			out.WriteString(unknown)
		}
	}
	return out.String()
}

// unescape removes the backslashes of a literal.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// Args returns what is wrong with one command, its words apart.
func Args(args ...string) error {
	program, rest := args[0], args[1:]
	switch program {
	case "mvpcheck", "kubectl-mvpcheck", "bin/mvpcheck":
		return mvpcheck(rest)
	case "sudo", "exec", "nice":
		return nested(program, rest)
	case "timeout":
		return nested(program, rest[min(1, len(rest)):])
	case "sh", "bash", "/bin/sh", "/bin/bash":
		return shell(args)
	case "go":
		return goCommand(rest)
	}
	if program == "kubectl" && len(rest) > 0 && rest[0] == "mvpcheck" {
		return mvpcheck(rest[1:])
	}
	if table, ok := programs()[program]; ok {
		return table.check(program, rest)
	}
	if slices.Contains(plain, program) {
		return nil
	}
	return fmt.Errorf("no table knows the program %q", program)
}

func nested(program string, rest []string) error {
	if len(rest) == 0 {
		return fmt.Errorf("%s: no command behind it", program)
	}
	return Args(rest...)
}

// shell checks the script of sh -c and its like.
func shell(args []string) error {
	if len(args) >= 3 && strings.HasPrefix(args[1], "-") && strings.HasSuffix(args[1], "c") {
		return Script(args[2])
	}
	return fmt.Errorf("%s: only %s -c SCRIPT can be checked", strings.Join(args, " "), args[0])
}

// goCommand looks at what go runs.
func goCommand(rest []string) error {
	switch {
	case len(rest) >= 2 && rest[0] == "run" && rest[1] == "./cmd/mvpcheck":
		return mvpcheck(rest[2:])
	case len(rest) == 2 && rest[0] == "install" && rest[1] == "github.com/mvpcheck/mvpcheck/cmd/mvpcheck@latest":
		return nil
	case len(rest) >= 2 && rest[0] == "test":
		return nil
	}
	return fmt.Errorf("go %s: not known", strings.Join(rest, " "))
}

// mvpcheck has the program read its flags, and show its help in place of doing something.
func mvpcheck(args []string) error {
	if len(args) == 1 && args[0] == "--version" {
		return nil
	}
	line := "mvpcheck " + strings.Join(args, " ")
	var out, errs bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}
	code := cli.Main(context.Background(), append(append([]string{"mvpcheck"}, args...), "--help"), streams)
	switch {
	case code != 0:
		return fmt.Errorf("%s: %s", line, strings.TrimSpace(errs.String()))
	case len(args) == 0 || strings.HasPrefix(args[0], "-"):
		return nil
	case !strings.Contains(out.String(), "\n  mvpcheck "+args[0]):
		return fmt.Errorf("%s: no such command", line) // the help was that of mvpcheck
	}
	return nil
}

// Topic tells whether a text of prose names a program and commands of it as a whole, such as kubeadm upgrade.
func Topic(text string) bool {
	name, words, _ := strings.Cut(text, " ")
	p, ok := programs()[name]
	return ok && p.prefix(words)
}

// flags says for each flag, with its dashes, whether it has a value of its own.
type flags map[string]bool

// command is a subcommand.
type command struct {
	flags flags
	// least and most say how many arguments it takes.
	least, most int
	// rest checks the arguments; nil takes any.
	rest func(args []string) error
}

// program is one with subcommands, such as "init phase control-plane apiserver".
type program struct {
	// global are the flags that all its commands have.
	global   flags
	commands map[string]command
}

// check finds the subcommand, which may stand behind flags, and looks at its flags and arguments.
func (p program) check(name string, args []string) error {
	fail := func(format string, a ...any) error {
		return fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), fmt.Sprintf(format, a...))
	}
	words, cmd := "", command{}
	var known flags
	var given []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			given = append(given, args[i+1:]...)
			i = len(args)
		case strings.HasPrefix(arg, "-") && arg != "-":
			flag, _, joined := strings.Cut(arg, "=")
			valued, ok := known[flag]
			if !ok {
				valued, ok = p.global[flag]
			}
			if !ok {
				return fail("the table has no flag %s for %q", flag, words)
			}
			switch {
			case joined && !valued && !strings.Contains(arg, "=true") && !strings.Contains(arg, "=false"):
				return fail("%s has no value", flag)
			case !joined && valued:
				if i++; i >= len(args) {
					return fail("%s needs a value", flag)
				}
			}
		default:
			next := strings.TrimSpace(words + " " + arg)
			if c, ok := p.commands[next]; ok && len(given) == 0 {
				words, cmd, known = next, c, c.flags
			} else if words == "" || p.prefix(next) && cmd.most == 0 && cmd.rest == nil {
				if !p.prefix(next) {
					return fail("the table has no command %q", next)
				}
				words = next
			} else {
				given = append(given, arg)
			}
		}
	}
	if _, ok := p.commands[words]; !ok {
		return fail("the table has no command %q", words)
	}
	if len(given) < cmd.least || len(given) > cmd.most {
		return fail("%d arguments, want %d to %d", len(given), cmd.least, cmd.most)
	}
	if cmd.rest != nil {
		if err := cmd.rest(given); err != nil {
			return fail("%v", err)
		}
	}
	return nil
}

// prefix tells whether a command begins with these words.
func (p program) prefix(words string) bool {
	for name := range p.commands {
		if strings.HasPrefix(name, words+" ") {
			return true
		}
	}
	return false
}
