package checks

import (
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// malformedFeatureGates is MVP105.
var malformedFeatureGates = &Rule{
	ID: "MVP105", Name: "malformed-feature-gates", Severity: Error, Fixable: true,
	Doc: Doc{
		What: "feature-gates of kube-apiserver has an entry that it cannot read: no equals sign, a value that is no " +
			"boolean, quotes inside the value, \"Gate: true\", or entries with and without the prefix kube: " +
			"side by side.",
		Why: "kube-apiserver exits at start. Blanks and line breaks around entries, True, 1 and a trailing comma " +
			"are fine.",
		Fix:   "Write Gate=true or Gate=false, separated by commas.",
		Facts: []string{"S8b", "S8c", "S8d"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			flags := v.Flags.All(release.FlagFeatureGates)
			for _, pr := range v.Gates.Problems {
				flag := flags[pr.Span.Value]
				if flag.Unknown {
					continue
				}
				p.Report(Finding{
					Severity: Error, Subject: pr.Text, At: part(flag, pr.Span.Offset, pr.Span.Length),
					Consequence: WillNotStart, When: v.When,
					Message: fmt.Sprintf("kube-apiserver cannot read %s in feature-gates: %s.", quoted(pr.Text),
						gateProblems[pr.Kind]),
					Why:     exitsAtStart + ".",
					Fix:     "write entries as Gate=true, separated by commas",
					Changes: p.changes(mendGates(flags)...),
				})
			}
		}
	},
}

var gateProblems = map[release.GateProblemKind]string{
	release.Quoted:           "quotes do not belong inside the value",
	release.ColonSeparator:   "gate and value are separated by =, not by a colon",
	release.UnknownComponent: "it knows no component of that name in front of the colon",
	release.MissingValue:     "it has no =true or =false",
	release.EmptyName:        "the gate's name is missing",
	release.NotBool:          "the value is not true or false",
	release.MixedPrefix:      "entries with and without the prefix kube: cannot be mixed",
}

// mendGates returns the changes that make feature-gates readable, none where the meaning is not plain.
func mendGates(flags []*config.Flag) []Change {
	var changes []Change
	var values []string
	for _, f := range flags {
		value := mendGatesValue(f.Value)
		values = append(values, value)
		if f.Arg == nil || f.Origin != config.FromExtraArgs {
			return nil
		}
		if value != f.Value {
			changes = append(changes,
				Change{Op: SetArg, Arg: f.Arg, Value: value, Summary: "wrote feature-gates as Gate=true"})
		}
	}
	if len(release.ParseFeatureGates(values).Problems) > 0 {
		return nil
	}
	return changes
}

func mendGatesValue(value string) string {
	segments := strings.Split(value, ",")
	for i, s := range segments {
		text := strings.TrimSpace(s)
		if text == "" {
			continue
		}
		mended := strings.NewReplacer(`"`, "", "'", "", "`", "").Replace(text)
		mended = strings.TrimPrefix(mended, "kube:")
		if !strings.Contains(mended, "=") {
			mended = strings.Replace(mended, ":", "=", 1)
		}
		name, val, ok := strings.Cut(mended, "=")
		name, val = strings.TrimSpace(name), strings.TrimSpace(val)
		switch strings.ToLower(val) {
		case "yes", "on", "y", "enabled", "enable":
			val = "true"
		case "no", "off", "n", "disabled", "disable":
			val = "false"
		case "":
			if !ok && name == release.Gate {
				val = "true"
			}
		}
		segments[i] = strings.Replace(s, text, name+"="+val, 1)
	}
	return strings.Join(segments, ",")
}

// misspeltGate is MVP106.
var misspeltGate = &Rule{
	ID: "MVP106", Name: "misspelt-gate", Severity: Error, Fixable: true,
	Doc: Doc{
		What:  "feature-gates has a name that is " + release.Gate + " but for a few letters, or their case.",
		Why:   "kube-apiserver exits at start: unrecognized feature gate.",
		Fix:   "Write " + release.Gate + ".",
		Facts: []string{"S8"}, Since: "0.1.0",
	},
	Run: func(p *Pass) {
		for _, v := range p.Views() {
			flags := v.Flags.All(release.FlagFeatureGates)
			for _, e := range v.Gates.Entries {
				// Quotes around the right name are MVP105's.
				if !release.IsMisspelling(e.Name) || strings.Trim(e.Name, "\"'`") == release.Gate {
					continue
				}
				flag := flags[e.Span.Value]
				f := Finding{
					Severity: Error, Subject: e.Name, At: part(flag, e.NameSpan.Offset, e.NameSpan.Length),
					Consequence: WillNotStart, When: v.When,
					Message: fmt.Sprintf("kube-apiserver has no feature gate %s; it is written %s.", quoted(e.Name),
						release.Gate),
					Why: exitsAtStart + ".",
					Fix: gateOnText,
				}
				if flag.Arg != nil && flag.Origin == config.FromExtraArgs {
					value := flag.Value[:e.NameSpan.Offset] + release.Gate + flag.Value[e.NameSpan.End():]
					f.Changes = p.changes(Change{Op: SetArg, Arg: flag.Arg, Value: value,
						Summary: "corrected the gate's name"})
				}
				p.Report(f)
			}
		}
	},
}
