package cli

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ManPages returns the manual pages of section 1 by their names: one of the program and one of each command. The version
// and the date stand in their margins.
func ManPages(version string, date time.Time) map[string][]byte {
	a := &app{program: "mvpcheck"}
	root := a.rootCommand()
	root.InitDefaultHelpCmd()
	root.InitDefaultVersionFlag()
	commands := []*cobra.Command{root}
	for _, cmd := range root.Commands() {
		if documented(cmd) {
			commands = append(commands, cmd)
		}
	}
	pages := map[string][]byte{}
	for _, cmd := range commands {
		p := &manPage{cmd: cmd, version: version, date: date.UTC()}
		p.write(commands)
		pages[manName(cmd)+".1"] = p.out.Bytes()
	}
	return pages
}

// manName is what man is asked for: mvpcheck-check for mvpcheck check.
func manName(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return cmd.Name()
	}
	return cmd.Parent().Name() + "-" + cmd.Name()
}

// manPage is one page in the language of man(7).
type manPage struct {
	out     bytes.Buffer
	cmd     *cobra.Command
	version string
	date    time.Time
}

func (p *manPage) write(all []*cobra.Command) {
	cmd := p.cmd
	cmd.InitDefaultHelpFlag()
	p.out.WriteString(".\\\" Written from the commands of mvpcheck.\n")
	fmt.Fprintf(&p.out, ".TH %s 1 %s \"%s\" \"%s\"\n", strings.ToUpper(roff(manName(cmd))), p.date.Format(time.DateOnly),
		roff("mvpcheck "+p.version), "mvpcheck Manual")
	p.section("NAME")
	fmt.Fprintf(&p.out, "%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	p.section("SYNOPSIS")
	arguments := strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())
	if !cmd.HasParent() {
		arguments = " COMMAND [flags]"
	}
	fmt.Fprintf(&p.out, "\\fB%s\\fR%s\n", roff(cmd.CommandPath()), roff(arguments))
	p.description()
	p.commands()
	p.options()
	if cmd.Example != "" {
		p.section("EXAMPLES")
		p.literal(strings.Split(unindent(cmd.Example), "\n"))
	}
	p.section("SEE ALSO")
	var others []string
	for _, c := range all {
		if c != cmd {
			others = append(others, fmt.Sprintf("\\fB%s\\fR(1)", roff(manName(c))))
		}
	}
	p.out.WriteString(strings.Join(others, ",\n") + "\n")
}

func (p *manPage) section(title string) { fmt.Fprintf(&p.out, ".SH %s\n", title) }

// exitCodes begins the paragraph that gets a section of its own.
const exitCodes = "Exit codes"

// description writes the long text: paragraphs, and what is indented as it is.
func (p *manPage) description() {
	long := p.cmd.Long
	if long == "" {
		long = p.cmd.Short
	}
	long, codes, _ := strings.Cut(strings.TrimSpace(long), "\n\n"+exitCodes)
	p.section("DESCRIPTION")
	for i, text := range strings.Split(long, "\n\n") {
		if i > 0 {
			p.out.WriteString(".PP\n")
		}
		if lines := strings.Split(text, "\n"); allIndented(lines) {
			p.literal(lines)
		} else {
			p.text(text)
		}
	}
	if codes != "" {
		p.section("EXIT STATUS")
		p.text(exitCodes + codes)
	}
}

func allIndented(lines []string) bool {
	for _, line := range lines {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			return false
		}
	}
	return true
}

// manWidth is the width of the source: mandoc has an opinion on it.
const manWidth = 80

// text writes a text that the formatter fills into lines.
func (p *manPage) text(s string) {
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len(roff(line+" "+word)) > manWidth {
			p.out.WriteString(roff(line) + "\n")
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	p.out.WriteString(roff(line) + "\n")
}

// literal writes lines as they are.
func (p *manPage) literal(lines []string) {
	p.out.WriteString(".RS 4\n.nf\n")
	for _, line := range lines {
		p.out.WriteString(roff(strings.TrimPrefix(strings.TrimRightFunc(line, unicode.IsSpace), "    ")) + "\n")
	}
	p.out.WriteString(".fi\n.RE\n")
}

// commands lists those of the program, or what a command has below it.
func (p *manPage) commands() {
	first := true
	for _, sub := range p.cmd.Commands() {
		if !documented(sub) {
			continue
		}
		if first {
			p.section("COMMANDS")
			first = false
		}
		name := roff(sub.Name())
		if !p.cmd.HasParent() {
			name = roff(manName(sub))
		}
		fmt.Fprintf(&p.out, ".TP\n\\fB%s\\fR", name)
		if !p.cmd.HasParent() {
			p.out.WriteString("(1)")
		}
		p.out.WriteString("\n")
		p.text(sub.Short)
	}
}

func (p *manPage) options() {
	flags := p.cmd.LocalFlags()
	if !flags.HasAvailableFlags() {
		return
	}
	p.section("OPTIONS")
	for _, f := range splitUsages(flags) {
		fmt.Fprintf(&p.out, ".TP\n\\fB%s\\fR", strings.ReplaceAll(roff(f.names), ", ", `\fR, \fB`))
		if f.value != "" {
			fmt.Fprintf(&p.out, " \\fI%s\\fR", roff(f.value))
		}
		p.out.WriteString("\n")
		p.text(f.usage)
	}
}

// flagUsage is a line of the help: "-o, --output", "FORMAT[=FILE]", "text or json".
type flagUsage struct{ names, value, usage string }

// splitUsages takes the help of flags apart; pflag alone knows which defaults it shows.
func splitUsages(flags *pflag.FlagSet) []flagUsage {
	var all []flagUsage
	for line := range strings.Lines(flags.FlagUsages()) {
		left, usage, _ := strings.Cut(strings.TrimSpace(line), "   ")
		var u flagUsage
		u.usage = strings.TrimSpace(usage)
		i := strings.Index(left, "--")
		long, value, _ := strings.Cut(left[i:], " ")
		u.names, u.value = left[:i]+long, value
		all = append(all, u)
	}
	return all
}

// roffEscapes are the characters that mean something else to a formatter, or look different to it.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

// roff escapes a line of text.
func roff(s string) string {
	s = roffEscapes.Replace(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
