package patch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

var (
	gateRule = &checks.Rule{ID: "MVP101", Name: "gate", Fixable: true}
	caRule   = &checks.Rule{ID: "MVP201", Name: "ca", Fixable: true}
	addrRule = &checks.Rule{ID: "MVP302", Name: "address", Fixable: true}
	textRule = &checks.Rule{ID: "MVP003", Name: "string", Fixable: true}
	formRule = &checks.Rule{ID: "MVP002", Name: "shape", Fixable: true}
)

// needs is a judge by hand: the shape, strings, the gate, the CA, and no advertise-address.
func needs(c *config.Cluster) []checks.Finding {
	var out []checks.Finding
	report := func(rule *checks.Rule, message string, changes ...checks.Change) {
		if c.Editable() != "" || c.Root == nil {
			changes = nil
		}
		out = append(out, checks.Finding{Rule: rule, Message: message, At: c.FlagsPlace(), Changes: changes})
	}
	for _, p := range c.Problems {
		switch {
		case p.Kind == config.NotString:
			report(textRule, "not a string", checks.Change{Op: checks.QuoteValue, Node: p.Value, Value: p.Value.AsString(), Summary: "quoted"})
		case p.Kind == config.WrongShape && p.Entry != nil && p.Value == p.Entry.Value:
			report(formRule, "shape of "+p.Component, checks.Change{Op: checks.ReshapeArgs, Entry: p.Entry, Summary: "reshaped"})
		}
	}
	if c.APIServer.Unreadable != "" {
		return out
	}
	var gates []string
	ca := false
	for _, a := range c.APIServer.Args {
		switch {
		case a.MergeMethod != "":
		case release.NormalizeFlag(a.Name) == "feature-gates":
			gates = append(gates, a.Value)
		case release.NormalizeFlag(a.Name) == "peer-ca-file":
			ca = a.Value == strings.TrimSpace(a.Value) && a.Value != ""
			if !ca && a.Value != "" {
				report(caRule, "CA malformed", checks.Change{Op: checks.SetArg, Arg: a, Value: strings.TrimSpace(a.Value), Summary: "set peer-ca-file"})
				ca = true
			}
		case a.Name == "advertise-address":
			report(addrRule, "address", checks.Change{Op: checks.RemoveArg, Arg: a, Summary: "removed advertise-address"})
		}
	}
	if on, _ := release.ParseFeatureGates(gates).Explicit(release.Gate); !on {
		report(gateRule, "gate", checks.Change{Op: checks.SetGate, Gate: release.Gate, On: true, Summary: "set the gate"})
	}
	if !ca {
		report(caRule, "CA", checks.Change{Op: checks.SetFlag, Flag: "peer-ca-file", Value: "/etc/kubernetes/pki/ca.crt", Summary: "set peer-ca-file"})
	}
	return out
}

// caseFiles are the inputs that people have.
func caseFiles(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("../../testdata/cases/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = data
	}
	return files
}
