package patch

import (
	"bytes"
	"errors"

	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// pickChange returns a change of a cluster by number.
func pickChange(c *config.Cluster, op, n uint8) []checks.Change {
	if c.Editable() != "" || c.Root == nil {
		return nil
	}
	ch := checks.Change{Op: checks.Op(op % 10), Gate: "SomeGate", On: n%2 == 0, Flag: "some-flag", Value: "/some/value"}
	switch {
	case n%7 == 1:
		ch.Value = "it's: \"odd\", #"
	case n%7 == 2:
		ch.Value = "8443"
	}
	args := c.APIServer.Args
	switch ch.Op {
	case checks.SetArg, checks.RemoveArg, checks.RenameArg, checks.DropMergeMethod:
		if len(args) == 0 {
			return nil
		}
		ch.Arg = args[int(n)%len(args)]
	case checks.QuoteValue:
		for _, p := range c.Problems {
			if p.Kind == config.NotString {
				ch.Node, ch.Value = p.Value, p.Value.AsString()
			}
		}
		if ch.Node == nil {
			return nil
		}
	case checks.ReshapeArgs:
		ch.Entry = c.APIServer.ArgsEntry
		if ch.Entry == nil {
			return nil
		}
	case checks.RemoveEntry:
		if len(c.FeatureGates) == 0 {
			return nil
		}
		ch.Entry = c.FeatureGates[int(n)%len(c.FeatureGates)]
	}
	return []checks.Change{ch}
}

func FuzzFix(f *testing.F) {
	for _, data := range caseFiles(f) {
		f.Add(data, uint8(0), uint8(0))
		f.Add(data, uint8(3), uint8(1))
	}
	for _, s := range []string{
		head4 + "apiServer:\n  extraArgs: &a\n  - &b {name: v, value: x}\n  - *b\nscheduler:\n  extraArgs: *a\n",
		head3 + "apiServer:\n  extraArgs:\n    <<: {a: b}\n    \"c\": 'd' # e\n    ? f\n    : |2+\n      g\n\n",
		head3 + "apiServer: {extraArgs: {a: , b: [], c: >-\n d}}\n",
		head4 + "apiServer:\n- x\n",
		head4 + "apiServer:\n  extraArgs:\n  -\n    name: a\n    value: b\n  - name: c\n\n    value: \"d\\\n      e\"\n",
	} {
		for op := range uint8(10) {
			f.Add([]byte(s), op, op)
		}
	}
	for seed := range int64(40) {
		text, _ := randomFile(seed)
		f.Add([]byte(text), uint8(seed), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte, op, n uint8) {
		if len(data) > 1<<13 {
			return
		}
		fuzzOne(t, data, op, n)
		r, err := Fix("x.yaml", data, Options{Judge: needs})
		if err != nil {
			checkFuzzError(t, err)
			return
		}
		checkFixed(t, r, Options{Judge: needs})
		checkOthers(t, r)
		if _, err := ExtraArgs(r.Input.Clusters[0]); err != nil {
			t.Logf("extraargs: %v", err)
		}
	})
}

// fuzzOne makes one change, whatever it is for: it must be refused or leave a file that can be read.
func fuzzOne(t *testing.T, data []byte, op, n uint8) {
	done := false
	r, err := Fix("x.yaml", data, Options{Judge: func(c *config.Cluster) []checks.Finding {
		if done {
			return nil
		}
		done = true
		return []checks.Finding{{Rule: gateRule, Message: "m", At: c.FlagsPlace(), Changes: pickChange(c, op, n)}}
	}})
	if err != nil {
		checkFuzzError(t, err)
		return
	}
	if _, err := config.Read("x.yaml", r.After); err != nil {
		t.Fatalf("the result cannot be read: %v\n%s", err, r.After)
	}
	if patched, err := ConfigMap(r); err == nil {
		if _, err := yamldoc.NewFile("cm.yaml", patched).Text().Documents(); err != nil {
			t.Fatalf("the ConfigMap cannot be read: %v\n%s", err, patched)
		}
	}
	if ops, err := JSONPatch(r); err == nil {
		checkJSONPatch(t, r, ops)
	}
}

func checkFuzzError(t *testing.T, err error) {
	var refusal *Refusal
	var syntax *yamldoc.SyntaxError
	var input *config.Error
	if !errors.As(err, &refusal) && !errors.As(err, &syntax) && !errors.As(err, &input) {
		t.Fatalf("error of an unexpected type %T: %v", err, err)
	}
	if refusal != nil && refusal.Reason == "" {
		t.Fatal("a refusal without a reason")
	}
}

// checkOthers tests that all but the arguments reads as before, and that other documents are the same bytes.
func checkOthers(t *testing.T, r *Result) {
	before, err := config.Read(r.Name, r.Before)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Applied {
		if a.Rules[0] == textRule {
			return
		}
	}
	edited := map[int]bool{}
	for _, c := range before.Clusters {
		edited[c.Doc.FileIndex()] = true
	}
	for i, d := range before.Docs {
		e := r.Input.Docs[i]
		if edited[d.Index] {
			if diff := cmp.Diff(withoutArgs(d.Root.JSON()), withoutArgs(e.Root.JSON())); diff != "" {
				t.Errorf("document %d (-before +after):\n%s\n%s\n%s", d.Index, diff, r.Before, r.After)
			}
			continue
		}
		if !bytes.Equal(d.Text.Data[d.Start:d.End], e.Text.Data[e.Start:e.End]) {
			t.Errorf("document %d changed:\n%s", d.Index, Diff(r.Name, r.Before, r.After))
		}
	}
}

// withoutArgs drops what the hand-made judge may change, and the empty maps around it.
func withoutArgs(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if value = withoutArgs(value); key != "extraArgs" && value != nil && key != "ClusterConfiguration" {
				out[key] = value
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutArgs(v[i])
		}
		return out
	}
	return v
}
