package patch

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// writer writes a random ClusterConfiguration: the same values in any layout that YAML has for them.
type writer struct {
	*rand.Rand
	b        strings.Builder
	list     bool
	comments int
	step     int
}

// comment returns a comment with a number of its own, now and then.
func (w *writer) comment() string {
	if w.Intn(4) > 0 {
		return ""
	}
	w.comments++
	return fmt.Sprintf(" # c%d.", w.comments)
}

func (w *writer) line(indent int, text string) {
	for w.Intn(8) == 0 {
		w.b.WriteString("\n")
	}
	if w.Intn(6) == 0 {
		w.comments++
		fmt.Fprintf(&w.b, "%s# c%d.\n", strings.Repeat(" ", indent), w.comments)
	}
	w.b.WriteString(strings.Repeat(" ", indent) + text + w.comment() + "\n")
}

func (w *writer) pick(choices ...string) string { return choices[w.Intn(len(choices))] }

// value returns a scalar that may stand in flow collections too.
func (w *writer) value() string {
	return w.pick("x", "/a/b.crt", `"x y"`, "'it''s'", `"8443"`, "a=b", `"a,b"`, `""`, "''", "https://a:1", `"\u0041\"b"`)
}

// blockValue writes a value behind key, over several lines now and then.
func (w *writer) blockValue(indent int, key string) {
	deeper := strings.Repeat(" ", indent+1+w.Intn(3))
	switch w.Intn(10) {
	case 0:
		w.b.WriteString(strings.Repeat(" ", indent) + key + " " + w.pick(">", ">-", "|", "|-", "|+", ">+") + w.comment() + "\n" + deeper + "one,\n" + w.pick("", "\n") + deeper + "two\n" + w.pick("", "\n"))
	case 1:
		w.b.WriteString(strings.Repeat(" ", indent) + key + " " + "one,\n" + deeper + "two" + w.comment() + "\n")
	case 2:
		w.line(indent, key)
	default:
		w.line(indent, key+" "+w.value())
	}
}

func (w *writer) names() []string {
	names := []string{"v", "audit-log-path", "profiling", "peer-advertise-ip"}
	if w.Intn(2) == 0 {
		names = append(names, "feature-gates")
	}
	if w.Intn(2) == 0 {
		names = append(names, "advertise-address")
	}
	w.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:1+w.Intn(len(names))]
}

func (w *writer) args(indent int) {
	switch w.Intn(7) {
	case 0:
		w.line(indent, "extraArgs:"+w.pick("", " ~", " null"))
	case 1:
		w.line(indent, "extraArgs: "+map[bool]string{true: "[]", false: "{}"}[w.list])
	case 2:
		w.line(indent, "extraArgs: "+w.flowArgs(" ", ""))
	case 3:
		pad := strings.Repeat(" ", indent)
		w.line(indent, "extraArgs: "+w.flowArgs("\n  "+pad, "\n"+pad))
	default:
		w.line(indent, "extraArgs:")
		w.blockArgs(indent)
	}
}

func (w *writer) flowArgs(before, end string) string {
	var items []string
	for _, name := range w.names() {
		if w.list {
			items = append(items, strings.TrimPrefix(before, " ")+"{name: "+w.quoted(name)+", value: "+w.value()+"}")
		} else {
			items = append(items, strings.TrimPrefix(before, " ")+w.quoted(name)+": "+w.value())
		}
	}
	text := strings.Join(items, ","+w.pick("", " ")) + w.pick("", ",", " ") + end
	if w.list {
		return "[" + text + "]"
	}
	return "{" + text + "}"
}

func (w *writer) quoted(name string) string { return w.pick(name, name, `"`+name+`"`, "'"+name+"'") }

func (w *writer) blockArgs(indent int) {
	if !w.list {
		indent += w.step
		for _, name := range w.names() {
			w.blockValue(indent, w.quoted(name)+":")
		}
		return
	}
	indent += w.Intn(w.step + 1)
	gap := 1 + w.Intn(3)
	for _, name := range w.names() {
		switch w.Intn(6) {
		case 0:
			w.line(indent, "- {name: "+w.quoted(name)+", value: "+w.value()+"}")
		case 1:
			w.line(indent, "- value: "+w.value())
			w.line(indent+2, "name: "+w.quoted(name))
		default:
			if w.Intn(2) == 0 {
				gap = 1
			}
			w.line(indent, "-"+strings.Repeat(" ", gap)+"name: "+w.quoted(name))
			w.blockValue(indent+1+gap, "value:")
		}
	}
}

func (w *writer) apiServer(indent int) {
	switch w.Intn(8) {
	case 0:
	case 1:
		w.line(indent, "apiServer:"+w.pick("", " {}", " null"))
	case 2:
		w.line(indent, "apiServer: {certSANs: [a], extraArgs: "+w.flowArgs(" ", "")+"}")
	default:
		w.line(indent, "apiServer:")
		before := w.Intn(2) == 0
		if before {
			w.line(indent+w.step, "certSANs: ["+w.value()+"]")
		}
		if w.Intn(6) > 0 {
			w.args(indent + w.step)
		} else if !before {
			w.line(indent+w.step, "timeoutForControlPlane: 4m0s")
		}
		if w.Intn(2) == 0 {
			w.line(indent+w.step, "extraVolumes:")
			w.line(indent+w.step, "- name: a")
			w.line(indent+w.step+2, "hostPath: /a")
			w.line(indent+w.step+2, "mountPath: /a")
		}
	}
}

// randomFile returns a file and the number of its comments.
func randomFile(seed int64) (string, int) {
	w := &writer{Rand: rand.New(rand.NewSource(seed))}
	w.list = w.Intn(2) == 0
	w.step = 2 + w.Intn(4)
	version := map[bool]string{true: "v1beta4", false: "v1beta3"}[w.list]
	wrap := w.Intn(5) == 0
	parts := []func(){
		func() { w.line(0, "apiVersion: kubeadm.k8s.io/"+version) },
		func() { w.line(0, "kind: ClusterConfiguration") },
		func() { w.apiServer(0) },
		func() {
			if w.Intn(2) == 0 {
				w.line(0, "networking:")
				w.line(w.step, "podSubnet: 10.0.0.0/16")
			}
		},
	}
	w.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	if !wrap && w.Intn(3) == 0 {
		w.b.WriteString("apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n---\n")
	}
	for _, part := range parts {
		part()
	}
	if !wrap && w.Intn(3) == 0 {
		w.b.WriteString("---\nkind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n")
	}
	text := w.b.String()
	if wrap {
		text = "apiVersion: v1\nkind: ConfigMap\ndata:\n  ClusterConfiguration: |\n    " + strings.ReplaceAll(strings.TrimLeft(text, "\n"), "\n", "\n    ") + "\n"
		text = regexp.MustCompile(`(?m)^ +$`).ReplaceAllString(text, "")
	}
	if w.Intn(4) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	if w.Intn(4) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if w.Intn(10) == 0 {
		text = "\xef\xbb\xbf" + text
	}
	return text, w.comments
}

var commentMark = regexp.MustCompile(`# c\d+\.`)

// TestRandomLayouts makes each kind of change in files of any layout. Adding must always work, and no comment may get
// lost or out of order by it.
func TestRandomLayouts(t *testing.T) {
	n := int64(250)
	if testing.Short() {
		n = 50
	}
	if s := os.Getenv("MVPCHECK_SEEDS"); s != "" {
		n, _ = strconv.ParseInt(s, 10, 64)
	}
	refused := map[checks.Op]int{}
	reasons := map[string]int{}
	for seed := range n {
		text, _ := randomFile(seed)
		if _, err := config.Read("x.yaml", []byte(text)); err != nil {
			t.Fatalf("seed %d: the random file cannot be read: %v\n%s", seed, err, text)
		}
		r, err := Fix("x.yaml", []byte(text), Options{Judge: needs})
		if err != nil {
			reasons[err.Error()]++
			// A scalar of several lines, or blank lines that become part of one with the indicator +.
			if why := err.Error(); !strings.Contains(why, "are not written anew") && !strings.Contains(why, "would also change") {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			continue
		}
		checkFixed(t, r, Options{Judge: needs})
		checkOthers(t, r)
		if before, after := commentMark.FindAllString(text, -1), commentMark.FindAllString(string(r.After), -1); !within(after, before) {
			t.Errorf("seed %d: comments out of order", seed)
		} else if len(before) != len(after) && !slices.ContainsFunc(r.Applied, func(a Applied) bool { return a.Rules[0] == addrRule }) {
			t.Errorf("seed %d: a comment got lost", seed)
		}
		for op := range checks.AddVolume + 1 {
			if _, err := once(text, func(c *config.Cluster) []checks.Change { return pickChange(c, uint8(op), uint8(seed)) }); err != nil {
				var refusal *Refusal
				if !errors.As(err, &refusal) {
					t.Fatalf("seed %d, change %d: %v\n%s", seed, op, err, text)
				}
				refused[op]++
				reasons[commentMark.ReplaceAllString(fmt.Sprint(op, " ", refusal.Reason), "")]++
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s\n%s", seed, text, Diff("x.yaml", r.Before, r.After))
		}
	}
	t.Logf("refused by kind of change: %v", refused)
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		t.Logf("%4d %s", reasons[why], why)
	}
}

// within tells whether some is all with elements left out.
func within(some, all []string) bool {
	for _, s := range all {
		if len(some) > 0 && some[0] == s {
			some = some[1:]
		}
	}
	return len(some) == 0
}
