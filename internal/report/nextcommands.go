package report

// command is a command of this program, with what is the same for all of them: flags, and the file.
func (o *TextOptions) command(name, argument string) string {
	s := o.Program + " " + name
	for _, f := range o.Flags {
		s += " " + shellQuote(f)
	}
	if argument != "" {
		s += " " + shellFile(argument)
	}
	return s
}

// nextStep is a command that one would type now, what for, and when.
type nextStep struct{ label, command, when string }

// clusterNext are the commands for a cluster with findings.
func clusterNext(c *Cluster, s Summary, o TextOptions) []nextStep {
	var steps []nextStep
	if s.Fixable > 0 {
		steps = append(steps, nextStep{label: "See the changes", command: o.command("patch --diff", c.Argument)})
	}
	return append(steps, nextStep{label: "Explain a rule", command: o.Program + " explain " + shellQuote(worst(c.Findings).Rule)})
}

// planNext are the commands for what comes after a plan.
func planNext(r *PlanReport, o TextOptions) []nextStep {
	const when = "now and after each step"
	why := nextStep{label: "See why", command: o.command("check", r.Argument)}
	switch patched := r.Patched; {
	case r.Summary.Verdict == VerdictReady:
		return []nextStep{{"Prove it on the servers", o.Program + " probe", when}}
	case len(r.Findings) == 0 && r.Summary.Verdict == VerdictCannotTell:
		return []nextStep{{"Ask the servers", o.Program + " probe", when}}
	case patched != nil && patched.Refused == "":
		return []nextStep{why, {label: "See the changes", command: o.command("patch --diff", r.Argument)}}
	}
	return []nextStep{why}
}

// probeNext are the commands for what comes after a probe.
func probeNext(r *ProbeReport, o TextOptions) []nextStep {
	if r.Summary.Verdict == VerdictReady {
		return []nextStep{{"Ask again", o.Program + " probe", "after each server is upgraded"}}
	}
	var steps []nextStep
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity == SeverityError {
			steps = append(steps, nextStep{label: "Explain a rule", command: o.Program + " explain " + shellQuote(f.Rule)})
			break
		}
	}
	return append(steps, nextStep{"Ask again", o.Program + " probe --wait 2m", "when that is mended"})
}
