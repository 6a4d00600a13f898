package patch

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// once makes the changes that pick returns of the file, and no others.
func once(text string, pick func(c *config.Cluster) []checks.Change) (string, error) {
	done := false
	r, err := Fix("x.yaml", []byte(text), Options{Judge: func(c *config.Cluster) []checks.Finding {
		if done {
			return nil
		}
		done = true
		return []checks.Finding{{Rule: gateRule, Message: "m", At: c.FlagsPlace(), Changes: pick(c)}}
	}})
	if err != nil {
		return "", err
	}
	return string(r.After), nil
}

func gateAndCA(*config.Cluster) []checks.Change {
	return []checks.Change{
		{Op: checks.SetGate, Gate: release.Gate, On: true, Summary: "set the gate"},
		{Op: checks.SetFlag, Flag: "peer-ca-file", Value: "/etc/kubernetes/pki/ca.crt", Summary: "set peer-ca-file"},
	}
}

func arg(c *config.Cluster, name string) *config.Arg {
	for _, a := range c.APIServer.Args {
		if a.Name == name {
			return a
		}
	}
	return nil
}

func remove(names ...string) func(*config.Cluster) []checks.Change {
	return func(c *config.Cluster) []checks.Change {
		var out []checks.Change
		for _, name := range names {
			out = append(out, checks.Change{Op: checks.RemoveArg, Arg: arg(c, name)})
		}
		return out
	}
}

func set(name, value string) func(*config.Cluster) []checks.Change {
	return func(c *config.Cluster) []checks.Change {
		return []checks.Change{{Op: checks.SetArg, Arg: arg(c, name), Value: value}}
	}
}

func gate(*config.Cluster) []checks.Change {
	return []checks.Change{{Op: checks.SetGate, Gate: release.Gate, On: true}}
}

func mount(*config.Cluster) []checks.Change {
	return []checks.Change{{Op: checks.AddVolume, Value: "/etc/peers/ca.crt"}}
}

func reshapeArgs(c *config.Cluster) []checks.Change {
	return []checks.Change{{Op: checks.ReshapeArgs, Entry: c.APIServer.ArgsEntry}}
}

func quote(path ...string) func(*config.Cluster) []checks.Change {
	return func(c *config.Cluster) []checks.Change {
		v := c.Root.Get(path...)
		return []checks.Change{{Op: checks.QuoteValue, Node: v, Value: v.AsString()}}
	}
}

func quoteArg(name string) func(*config.Cluster) []checks.Change {
	return func(c *config.Cluster) []checks.Change {
		a := arg(c, name)
		return []checks.Change{{Op: checks.QuoteValue, Node: a.ValueNode, Value: a.Value}}
	}
}

func rename(from, to string) func(*config.Cluster) []checks.Change {
	return func(c *config.Cluster) []checks.Change {
		return []checks.Change{{Op: checks.RenameArg, Arg: arg(c, from), Flag: to}}
	}
}

func dropMerge(name string) func(*config.Cluster) []checks.Change {
	return func(c *config.Cluster) []checks.Change {
		return []checks.Change{{Op: checks.DropMergeMethod, Arg: arg(c, name)}}
	}
}

func moveGate(c *config.Cluster) []checks.Change {
	return []checks.Change{{Op: checks.RemoveEntry, Entry: c.FeatureGates[0]}, {Op: checks.SetGate, Gate: release.Gate, On: true}}
}

const (
	head4 = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
	head3 = "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n"
	headV = "apiVersion: kubeadm.k8s.io/v1\nkind: ClusterConfiguration\n"
)

// opTest is one edit; head is put in front of both texts.
type opTest struct {
	name, head, text string
	pick             func(c *config.Cluster) []checks.Change
	want             string
}

func runOps(t *testing.T, tests []opTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := once(tt.head+tt.text, tt.pick)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.head+tt.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
			got, err = once(crlf(tt.head+tt.text), tt.pick)
			if err != nil {
				t.Fatalf("CRLF: %v", err)
			}
			if diff := cmp.Diff(crlf(tt.head+tt.want), got); diff != "" && !strings.Contains(tt.text, `\n`) {
				t.Errorf("text with CRLF (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAddFlags(t *testing.T) {
	const items = "  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n  - name: peer-ca-file\n    value: /etc/kubernetes/pki/ca.crt\n"
	const entries = "    feature-gates: UnknownVersionInteroperabilityProxy=true\n    peer-ca-file: /etc/kubernetes/pki/ca.crt\n"
	deep := func(s string) string { return strings.ReplaceAll("\n"+s, "\n  ", "\n    ")[1:] }
	runOps(t, []opTest{
		{"no apiServer", head4, "", gateAndCA, "apiServer:\n  extraArgs:\n" + items},
		{"no apiServer, map", head3, "", gateAndCA, "apiServer:\n  extraArgs:\n" + entries},
		{"no apiServer, comment and separator", head4, "networking: {} # n\n\n# end\n---\nfoo: bar\n", gateAndCA,
			"networking: {} # n\napiServer:\n  extraArgs:\n" + items + "\n# end\n---\nfoo: bar\n"},
		{"apiServer {}", head4, "apiServer: {} # none\nscheduler: {}\n", gateAndCA, "apiServer: # none\n  extraArgs:\n" + items + "scheduler: {}\n"},
		{"apiServer null", head4, "apiServer:\nscheduler: {}\n", gateAndCA, "apiServer:\n  extraArgs:\n" + items + "scheduler: {}\n"},
		{"apiServer ~", head4, "apiServer: ~\nscheduler: {}\n", gateAndCA, "apiServer:\n  extraArgs:\n" + items + "scheduler: {}\n"},
		{"apiServer without extraArgs", head4, "apiServer:\n  certSANs:\n  - a\n  #- b\nscheduler: {}\n", gateAndCA,
			"apiServer:\n  certSANs:\n  - a\n  #- b\n  extraArgs:\n" + items + "scheduler: {}\n"},
		{"extraArgs null", head4, "apiServer:\n  extraArgs: # none yet\n  certSANs: []\n", gateAndCA, "apiServer:\n  extraArgs: # none yet\n" + items + "  certSANs: []\n"},
		{"extraArgs []", head4, "apiServer:\n  extraArgs: []\n", gateAndCA, "apiServer:\n  extraArgs:\n" + items},
		{"extraArgs {}", head3, "apiServer:\n  extraArgs: {}\n", gateAndCA, "apiServer:\n  extraArgs:\n" + entries},
		{"comment of the first item", head4, "apiServer:\n  extraArgs:\n  # about v\n  - name: v\n    value: x\n", gateAndCA,
			"apiServer:\n  extraArgs:\n" + items + "  # about v\n  - name: v\n    value: x\n"},
		{"dash deeper", head4, "apiServer:\n  extraArgs:\n    - name: v\n      value: x\n", gateAndCA,
			"apiServer:\n  extraArgs:\n" + deep(items) + "    - name: v\n      value: x\n"},
		{"dash of the other lists", head4, "apiServer:\n  certSANs:\n    - a\n", gateAndCA, "apiServer:\n  certSANs:\n    - a\n  extraArgs:\n" + deep(items)},
		{"wide gap behind the dash", head4, "apiServer:\n  extraArgs:\n  -   name: v\n      value: x\n", gate,
			"apiServer:\n  extraArgs:\n  -   name: feature-gates\n      value: UnknownVersionInteroperabilityProxy=true\n  -   name: v\n      value: x\n"},
		{"steps of 4", head3, "networking:\n    podSubnet: 10.0.0.0/16\n", gate,
			"networking:\n    podSubnet: 10.0.0.0/16\napiServer:\n    extraArgs:\n        feature-gates: UnknownVersionInteroperabilityProxy=true\n"},
		{"steps of 6", head3, "apiServer:\n      extraArgs:\n            v: x\n", gate,
			"apiServer:\n      extraArgs:\n            feature-gates: UnknownVersionInteroperabilityProxy=true\n            v: x\n"},
		{"double quotes", head4, "apiServer:\n  extraArgs:\n  - name: \"v\"\n    value: \"x\"\n", gate,
			"apiServer:\n  extraArgs:\n  - name: \"feature-gates\"\n    value: \"UnknownVersionInteroperabilityProxy=true\"\n  - name: \"v\"\n    value: \"x\"\n"},
		{"single quotes", head3, "apiServer:\n  extraArgs:\n    v: 'x'\n", gate,
			"apiServer:\n  extraArgs:\n    feature-gates: 'UnknownVersionInteroperabilityProxy=true'\n    v: 'x'\n"},
		{"quotes only where needed", head4, "apiServer:\n  extraArgs:\n  - name: v\n    value: \"4\"\n  - name: w\n    value: x\n", gate,
			"apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n  - name: v\n    value: \"4\"\n  - name: w\n    value: x\n"},
		{"flow list", head4, "apiServer: {extraArgs: [{name: v, value: x}]}\n", gateAndCA,
			"apiServer: {extraArgs: [{name: feature-gates, value: UnknownVersionInteroperabilityProxy=true}, {name: peer-ca-file, value: /etc/kubernetes/pki/ca.crt}, {name: v, value: x}]}\n"},
		{"flow map", head3, "apiServer: {extraArgs: {v: x}}\n", gate, "apiServer: {extraArgs: {feature-gates: UnknownVersionInteroperabilityProxy=true, v: x}}\n"},
		{"flow items in a block list", head4, "apiServer:\n  extraArgs:\n  - {name: v, value: x}\n", gate,
			"apiServer:\n  extraArgs:\n  - {name: feature-gates, value: UnknownVersionInteroperabilityProxy=true}\n  - {name: v, value: x}\n"},
		{"flow over lines", head3, "apiServer: {\n  extraArgs: { # args\n    # about v\n    v: x,\n  },\n}\n", gateAndCA,
			"apiServer: {\n  extraArgs: { # args\n    feature-gates: UnknownVersionInteroperabilityProxy=true,\n    peer-ca-file: /etc/kubernetes/pki/ca.crt,\n    # about v\n    v: x,\n  },\n}\n"},
		{"flow without extraArgs", head4, "apiServer: {certSANs: [a]}\n", gate,
			"apiServer: {certSANs: [a], extraArgs: [{name: feature-gates, value: UnknownVersionInteroperabilityProxy=true}]}\n"},
		{"block scalar at the end", head3, "apiServer:\n  extraArgs:\n    v: |+\n      x\n\nscheduler: {}\n", gate,
			"apiServer:\n  extraArgs:\n    feature-gates: UnknownVersionInteroperabilityProxy=true\n    v: |+\n      x\n\nscheduler: {}\n"},
		{"behind a block scalar with +", head4, "apiServer:\n  x: |+\n    y\n\n\n", gate,
			"apiServer:\n  x: |+\n    y\n\n\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n"},
	})
}

func TestGates(t *testing.T) {
	fg := func(v string) string {
		return "apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: " + v + "\n"
	}
	runOps(t, []opTest{
		{"appended", head4, fg("A=true # a"), gate, fg("A=true,UnknownVersionInteroperabilityProxy=true # a")},
		{"corrected", head4, fg("'UnknownVersionInteroperabilityProxy=false,A=true'"), gate, fg("'UnknownVersionInteroperabilityProxy=true,A=true'")},
		{"empty", head4, fg(`""`), gate, fg(`"UnknownVersionInteroperabilityProxy=true"`)},
		{"null", head4, "apiServer:\n  extraArgs:\n  - name: feature-gates\n    value:\n", gate, fg("UnknownVersionInteroperabilityProxy=true")},
		{"no value", head4, "apiServer:\n  extraArgs:\n  - name: feature-gates\n", gate, fg("UnknownVersionInteroperabilityProxy=true")},
		{"folded", head4, fg(">-\n      A=true,\n      B=true"), gate, fg(">-\n      A=true,\n      B=true,UnknownVersionInteroperabilityProxy=true")},
		{"folded, corrected", head4, fg(">\n      UnknownVersionInteroperabilityProxy=false,\n      B=true"), gate, fg(">\n      UnknownVersionInteroperabilityProxy=true,\n      B=true")},
		{"literal", head4, fg("|\n      A=true,\n      B=true"), gate, fg("|\n      A=true,\n      B=true,UnknownVersionInteroperabilityProxy=true")},
		{"plain over lines", head4, fg("A=true,\n      B=true"), gate, fg("A=true,\n      B=true,UnknownVersionInteroperabilityProxy=true")},
		{"quoted over lines", head4, fg("\"A=true,\n      B=true\""), gate, fg("\"A=true,\n      B=true,UnknownVersionInteroperabilityProxy=true\"")},
		{"the last that names it", head4, fg("UnknownVersionInteroperabilityProxy=true") + "  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=false\n  - name: feature-gates\n    value: B=true\n", gate,
			fg("UnknownVersionInteroperabilityProxy=true") + "  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n  - name: feature-gates\n    value: B=true\n"},
		{"underscores", head3, "apiServer:\n  extraArgs:\n    feature_gates: A=true\n", gate, "apiServer:\n  extraArgs:\n    feature_gates: A=true,UnknownVersionInteroperabilityProxy=true\n"},
		{"moved", head4, "featureGates:\n  UnknownVersionInteroperabilityProxy: true\nscheduler: {}\n", moveGate, "scheduler: {}\napiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n"},
		{"moved, flow", head3, "featureGates: {UnknownVersionInteroperabilityProxy: true, B: true}\napiServer:\n  extraArgs:\n    v: x\n", moveGate,
			"featureGates: {B: true}\napiServer:\n  extraArgs:\n    feature-gates: UnknownVersionInteroperabilityProxy=true\n    v: x\n"},
	})
}

func TestRemove(t *testing.T) {
	runOps(t, []opTest{
		{"item", head4, "apiServer:\n  extraArgs:\n  # above\n  - name: a # n\n    value: b # v\n  # below\n  - name: c\n    value: d\n", remove("a"),
			"apiServer:\n  extraArgs:\n  # above\n  # below\n  - name: c\n    value: d\n"},
		{"last item", head4, "apiServer:\n  extraArgs:\n  - name: a\n    value: b\n  - name: c\n    value: d\n\n  certSANs: []\n", remove("c"),
			"apiServer:\n  extraArgs:\n  - name: a\n    value: b\n\n  certSANs: []\n"},
		{"only item", head4, "apiServer:\n  certSANs: []\n  extraArgs:\n  - name: a\n    value: b\nscheduler: {}\n", remove("a"), "apiServer:\n  certSANs: []\nscheduler: {}\n"},
		{"only item of all", head4, "apiServer: # api\n  extraArgs:\n  - name: a\n    value: b\nscheduler: {}\n", remove("a"), "scheduler: {}\n"},
		{"both", head4, "apiServer:\n  certSANs: []\n  extraArgs:\n  - name: a\n    value: b\n  - name: c\n    value: d\n", remove("a", "c"), "apiServer:\n  certSANs: []\n"},
		{"entry", head3, "apiServer:\n  extraArgs:\n    a: b # v\n    c: d\n", remove("a"), "apiServer:\n  extraArgs:\n    c: d\n"},
		{"entry of several lines", head3, "apiServer:\n  extraArgs:\n    a: >-\n      b\n      c\n    c: d\n", remove("a"), "apiServer:\n  extraArgs:\n    c: d\n"},
		{"flow, first", head3, "apiServer: {extraArgs: {a: b, c: d}}\n", remove("a"), "apiServer: {extraArgs: {c: d}}\n"},
		{"flow, last", head3, "apiServer: {extraArgs: {a: b, c: d}}\n", remove("c"), "apiServer: {extraArgs: {a: b}}\n"},
		{"flow, only", head3, "apiServer: {certSANs: [a], extraArgs: {a: b}}\n", remove("a"), "apiServer: {certSANs: [a]}\n"},
		{"flow items", head4, "apiServer:\n  extraArgs:\n  - {name: a, value: b}\n  - {name: c, value: d}\n", remove("a"), "apiServer:\n  extraArgs:\n  - {name: c, value: d}\n"},
		{"mergeMethod", headV, "apiServer:\n  extraArgs:\n  - name: a\n    value: b\n    mergeMethod: append # m\n  - name: c\n    value: d\n", dropMerge("a"),
			"apiServer:\n  extraArgs:\n  - name: a\n    value: b\n  - name: c\n    value: d\n"},
		{"mergeMethod first", headV, "apiServer:\n  extraArgs:\n  - mergeMethod: append\n    name: a\n    value: b\n", dropMerge("a"), "apiServer:\n  extraArgs:\n  - name: a\n    value: b\n"},
		{"mergeMethod, flow", headV, "apiServer:\n  extraArgs: [{name: a, value: b, mergeMethod: append}]\n", dropMerge("a"), "apiServer:\n  extraArgs: [{name: a, value: b}]\n"},
	})
}

func TestScalars(t *testing.T) {
	one := func(v string) string { return "apiServer:\n  extraArgs:\n  - name: a\n    value: " + v + "\n" }
	runOps(t, []opTest{
		{"plain", head4, one("b # c"), set("a", "x"), one("x # c")},
		{"plain, needs quotes", head4, one("b"), set("a", "8443"), one(`"8443"`)},
		{"double", head4, one(`"b"`), set("a", `x"y`), one(`"x\"y"`)},
		{"single", head4, one(`'b'`), set("a", `it's`), one(`'it''s'`)},
		{"single, control", head4, one(`'b'`), set("a", "x\ty\n"), one(`"x\ty\n"`)},
		{"folded, line break", head4, one(">\n      /ca.crt"), set("a", "/ca.crt"), one(">-\n      /ca.crt")},
		{"literal, keep", head4, one("|+ # c\n      /ca.crt\n"), set("a", "/ca.crt"), one("|- # c\n      /ca.crt\n")},
		{"flow", head3, "apiServer: {extraArgs: {a: b}}\n", set("a", "x,y"), "apiServer: {extraArgs: {a: \"x,y\"}}\n"},
		{"quote a number", head4, one("8443"), quoteArg("a"), one(`"8443"`)},
		{"quote a boolean", head4, one("yes # c"), quoteArg("a"), one(`"true" # c`)},
		{"quote like the others", head3, "apiServer:\n  extraArgs:\n    a: 1\n    b: 'x'\n", quoteArg("a"), "apiServer:\n  extraArgs:\n    a: '1'\n    b: 'x'\n"},
		{"quote elsewhere", head4, "clusterName: 7\n", quote("clusterName"), "clusterName: \"7\"\n"},
		{"rename in a list", head4, one("b"), rename("a", "feature-gates"), strings.Replace(one("b"), "name: a", "name: feature-gates", 1)},
		{"rename in a map", head3, "apiServer:\n  extraArgs:\n    \"a\": b\n", rename("a", "c"), "apiServer:\n  extraArgs:\n    \"c\": b\n"},
		{"merge method and value", headV, "apiServer:\n  extraArgs:\n  - name: peer-ca-file\n    value: /etc/kubernetes/pki/ca.crt\n    mergeMethod: append\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n",
			gateAndCA, "apiServer:\n  extraArgs:\n  - name: peer-ca-file\n    value: /etc/kubernetes/pki/ca.crt\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n"},
	})
}

func TestVolumes(t *testing.T) {
	const item = "  - name: peer-ca\n    hostPath: /etc/peers/ca.crt\n    mountPath: /etc/peers/ca.crt\n    readOnly: true\n"
	runOps(t, []opTest{
		{"none", head4, "", mount, "apiServer:\n  extraVolumes:\n" + item},
		{"beside args", head3, "apiServer:\n  extraArgs:\n    a: b\nscheduler: {}\n", mount, "apiServer:\n  extraArgs:\n    a: b\n  extraVolumes:\n" + item + "scheduler: {}\n"},
		{"others", head4, "apiServer:\n  extraVolumes:\n  - name: peer-ca\n    hostPath: /x\n    mountPath: /x\n", mount,
			"apiServer:\n  extraVolumes:\n" + strings.Replace(item, "peer-ca", "peer-ca-2", 1) + "  - name: peer-ca\n    hostPath: /x\n    mountPath: /x\n"},
		{"flow", head4, "apiServer: {extraArgs: []}\n", mount, "apiServer: {extraArgs: [], extraVolumes: [{name: peer-ca, hostPath: /etc/peers/ca.crt, mountPath: /etc/peers/ca.crt, readOnly: true}]}\n"},
	})
}

func TestReshape(t *testing.T) {
	runOps(t, []opTest{
		{"to list", head4, "apiServer:\n  extraArgs:\n    # first\n    a: b # c\n    \"d\": >-\n      e\n      f\n    g: 6\nscheduler: {}\n", reshapeArgs,
			"apiServer:\n  extraArgs:\n    # first\n  - name: a\n    value: b # c\n  - name: \"d\"\n    value: >-\n      e\n      f\n  - name: g\n    value: 6\nscheduler: {}\n"},
		{"to list, dash deeper", head4, "apiServer:\n  certSANs:\n    - x\n  extraArgs:\n    a: b\n", reshapeArgs, "apiServer:\n  certSANs:\n    - x\n  extraArgs:\n    - name: a\n      value: b\n"},
		{"to list, flow", head4, "apiServer: {extraArgs: {a: b, \"c\": 'd'}}\n", reshapeArgs, "apiServer: {extraArgs: [{name: a, value: b}, {name: \"c\", value: 'd'}]}\n"},
		{"to map", head3, "apiServer:\n  extraArgs:\n  # first\n  - name: a # n\n    value: b # c\n  - value: 'd'\n    name: e\n  certSANs: []\n", reshapeArgs,
			"apiServer:\n  extraArgs:\n  # first\n    # n\n    a: b # c\n    e: 'd'\n  certSANs: []\n"},
		{"to map, deeper", head3, "apiServer:\n  extraArgs:\n    - name: \"a\"\n      value: >-\n        b\n        c\n", reshapeArgs, "apiServer:\n  extraArgs:\n      \"a\": >-\n        b\n        c\n"},
		{"to map, flow items", head3, "apiServer:\n  extraArgs:\n  - {name: a, value: b}\n  - {value: c, name: d} # x\n", reshapeArgs, "apiServer:\n  extraArgs:\n    a: b\n    d: c # x\n"},
		{"to map, flow", head3, "apiServer: {extraArgs: [{name: a, value: b}, {value: c, name: d}]}\n", reshapeArgs, "apiServer: {extraArgs: {a: b, d: c}}\n"},
		{"empty", head4, "apiServer:\n  extraArgs: {}\n", reshapeArgs, "apiServer:\n  extraArgs: []\n"},
	})
}

func TestFiles(t *testing.T) {
	const args = "apiServer:\n  extraArgs:\n  - name: v\n    value: x\n"
	const with = "apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n  - name: v\n    value: x\n"
	configMap := func(s string) string {
		return "apiVersion: v1\nkind: ConfigMap\ndata:\n  ClusterConfiguration: |" + s
	}
	lines := func(s, indent string) string {
		return "\n" + indent + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+indent) + "\n"
	}
	kcp := func(s string) string {
		return "apiVersion: controlplane.cluster.x-k8s.io/v1beta2\nkind: KubeadmControlPlane\nmetadata:\n  name: c\nspec:\n  replicas: 3\n  kubeadmConfigSpec:\n" + s
	}
	json := func(s string) string {
		return "{\n  \"apiVersion\": \"kubeadm.k8s.io/v1beta4\",\n  \"kind\": \"ClusterConfiguration\"" + s + "\n}\n"
	}
	tests := []opTest{
		{"no final line break", "", head4 + strings.TrimSuffix(args, "\n"), gate, head4 + strings.TrimSuffix(with, "\n")},
		{"append without final line break", "", strings.TrimSuffix(head4, "\n"), gate, head4 + "apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true"},
		{"{} without final line break", "", head4 + "apiServer: {}", gate, head4 + "apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true"},
		{"remove without final line break", "", head4 + strings.TrimSuffix(args, "\n"), remove("v"), strings.TrimSuffix(head4, "\n")},
		{"BOM", "", "\xef\xbb\xbf" + args + head4, gate, "\xef\xbb\xbf" + with + head4},
		{"ConfigMap", "", configMap(lines(head4+args, "    ")), gate, configMap(lines(head4+with, "    "))},
		{"ConfigMap, deep, no apiServer", "", configMap(lines(head3, "      ")), gate, configMap(lines(head3+"apiServer:\n  extraArgs:\n    feature-gates: UnknownVersionInteroperabilityProxy=true\n", "      "))},
		{"ConfigMap, |-", "", configMap("-" + lines(head4+"apiServer: {}", "    ")), gate, configMap("-" + lines(head4+"apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true", "    "))},
		{"ConfigMap, remove last", "", configMap(lines(head4+args, "    ")), remove("v"), configMap(lines(head4, "    "))},
		{"ConfigMap as JSON", "", `{"apiVersion": "v1", "kind": "ConfigMap", "data": {"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\napiServer:\n  extraArgs:\n    v: \"4\"\n"}}`, gate,
			`{"apiVersion": "v1", "kind": "ConfigMap", "data": {"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\napiServer:\n  extraArgs:\n    feature-gates: \"UnknownVersionInteroperabilityProxy=true\"\n    v: \"4\"\n"}}`},
		{"KubeadmControlPlane without clusterConfiguration", "", kcp("    format: cloud-config\n"), gate,
			kcp("    format: cloud-config\n    clusterConfiguration:\n      apiServer:\n        extraArgs:\n        - name: feature-gates\n          value: UnknownVersionInteroperabilityProxy=true\n")},
		{"KubeadmControlPlane with empty clusterConfiguration", "", kcp("    clusterConfiguration: {}\n"), gate,
			kcp("    clusterConfiguration:\n      apiServer:\n        extraArgs:\n        - name: feature-gates\n          value: UnknownVersionInteroperabilityProxy=true\n")},
		{"KubeadmControlPlane with nothing left", "", kcp("    clusterConfiguration:\n      apiServer:\n        extraArgs:\n        - name: v\n          value: x\n    files: []\n"), remove("v"),
			kcp("    clusterConfiguration: {}\n    files: []\n")},
		{"JSON without apiServer", "", json(""), gate, json(",\n  \"apiServer\": {\n    \"extraArgs\": [\n      {\n        \"name\": \"feature-gates\",\n        \"value\": \"UnknownVersionInteroperabilityProxy=true\"\n      }\n    ]\n  }")},
		{"JSON, items over lines", "", json(",\n  \"apiServer\": {\n    \"extraArgs\": [\n      {\n        \"name\": \"v\",\n        \"value\": \"x\"\n      }\n    ]\n  }"), gate,
			json(",\n  \"apiServer\": {\n    \"extraArgs\": [\n      {\n        \"name\": \"feature-gates\",\n        \"value\": \"UnknownVersionInteroperabilityProxy=true\"\n      },\n      {\n        \"name\": \"v\",\n        \"value\": \"x\"\n      }\n    ]\n  }")},
		{"JSON, empty list", "", json(",\n  \"apiServer\": {\n    \"extraArgs\": []\n  }"), gate,
			json(",\n  \"apiServer\": {\n    \"extraArgs\": [\n      {\n        \"name\": \"feature-gates\",\n        \"value\": \"UnknownVersionInteroperabilityProxy=true\"\n      }\n    ]\n  }")},
		{"JSON on one line", "", `{"apiVersion":"kubeadm.k8s.io/v1beta4","kind":"ClusterConfiguration","apiServer":{"extraArgs":[{"name":"v","value":"x"}]}}`, gate,
			`{"apiVersion":"kubeadm.k8s.io/v1beta4","kind":"ClusterConfiguration","apiServer":{"extraArgs":[{"name": "feature-gates", "value": "UnknownVersionInteroperabilityProxy=true"}, {"name":"v","value":"x"}]}}`},
		{"JSON, remove", "", json(",\n  \"apiServer\": {\n    \"certSANs\": [],\n    \"extraArgs\": [\n      {\"name\": \"v\", \"value\": \"x\"}\n    ]\n  }"), remove("v"), json(",\n  \"apiServer\": {\n    \"certSANs\": []\n  }")},
		{"JSON, quote", "", json(",\n  \"clusterName\": 5"), quote("clusterName"), json(",\n  \"clusterName\": \"5\"")},
	}
	runOps(t, tests)
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name, text string
		pick       func(c *config.Cluster) []checks.Change
		want       string
		lines      string
	}{
		{"alias", head4 + "x: &a [{name: v, value: x}]\napiServer:\n  extraArgs: *a\n", gate,
			"x.yaml:5:14: apiServer.extraArgs cannot be edited: it comes from the alias *a",
			"apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n"},
		{"anchor", head4 + "apiServer:\n  extraArgs: &a\n  - name: v\n    value: x\nscheduler:\n  extraArgs: *a\n", gate,
			"x.yaml:4:3: the edit would also change scheduler.extraArgs", "apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n"},
		{"merge key", head3 + "x: &a {feature-gates: A=true}\napiServer:\n  extraArgs:\n    <<: *a\n    v: x\n", gate,
			"x.yaml:3:23: apiServer.extraArgs.feature-gates cannot be edited: it comes from a merge key",
			"apiServer:\n  extraArgs:\n    feature-gates: A=true,UnknownVersionInteroperabilityProxy=true\n"},
		{"template mark", head3 + "apiServer:\n  extraArgs:\n    feature-gates: ${GATES}\n", gate,
			"x.yaml:5:20: the value has the template mark ${GATES}: change the template", "apiServer:\n  extraArgs:\n    feature-gates: UnknownVersionInteroperabilityProxy=true\n"},
		{"folded", head3 + "apiServer:\n  extraArgs:\n    a: >-\n      b c\n      d\n", set("a", "x y"),
			"x.yaml:5:8: the value is a folded scalar, whose lines are not written anew", "apiServer:\n  extraArgs:\n    a: x y\n"},
		{"key twice", head3 + "apiServer:\n  extraArgs:\n    a: b\n    a: c\n    d: e\n", remove("a"),
			"x.yaml:5:5: the key apiServer.extraArgs.a stands more than once: remove the one that is not meant first", "# remove a (line 6)\n"},
		{"name there already", head3 + "apiServer:\n  extraArgs:\n    a: b\n    c: d\n", rename("a", "c"),
			"x.yaml:6:5: the key apiServer.extraArgs.c is there already", "# in place of a:\napiServer:\n  extraArgs:\n    c: b\n"},
		{"list with a flag twice", head3 + "apiServer:\n  extraArgs:\n  - name: a\n    value: b\n  - name: a\n    value: c\n", reshapeArgs,
			"x.yaml:7:11: the flag a stands more than once; a map has it once", "apiServer:\n  extraArgs:\n    a: c\n"},
		{"text in a plain scalar", "apiVersion: v1\nkind: ConfigMap\ndata:\n  ClusterConfiguration: '{\"apiVersion\": \"kubeadm.k8s.io/v1beta4\", \"kind\": \"ClusterConfiguration\"}'\n", gate,
			"x.yaml:4:25: text in a single-quoted scalar cannot be edited in place", "apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: UnknownVersionInteroperabilityProxy=true\n"},
		{"old", strings.Replace(head3, "v1beta3", "v1beta2", 1), gate,
			"x.yaml:1:13: kubeadm.k8s.io/v1beta2 is too old to be edited: " + release.MigrationHint("v1beta2"), ""},
		{"number twice", head4 + "clusterName: !!int 7\n", quote("clusterName"), "x.yaml:2:7: the edit would also change clusterName", "# in line 3: clusterName: \"7\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := once(tt.text, tt.pick)
			var r *Refusal
			if !errors.As(err, &r) {
				t.Fatalf("want a refusal, got error %v and\n%s", err, got)
			}
			if diff := cmp.Diff(tt.want, r.Error()); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
			lines := ""
			for _, l := range r.Lines {
				lines += l + "\n"
			}
			if diff := cmp.Diff(tt.lines, lines); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
