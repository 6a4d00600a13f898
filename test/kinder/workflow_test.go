package kinder

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/test/commands"
)

const file = "upgrade-1.35-1.36.yaml"

// The programs that the scripts call: mvpcheck is the real one, but what the servers say was recorded; the others do as
// little as the scripts need.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mvpcheck": mvpcheck,
		"kubectl":  kubectl,
		"kubeadm":  func() {},
	})
}

func mvpcheck() {
	args := slices.DeleteFunc(slices.Clone(os.Args), func(arg string) bool {
		return strings.HasPrefix(arg, "--kubeconfig=") || strings.HasPrefix(arg, "--wait=")
	})
	if args[1] == "probe" {
		args = append(args, "--replay", os.Getenv("EVIDENCE"))
	}
	os.Exit(cli.Main(context.Background(), args, cli.OSStreams()))
}

func kubectl() {
	if slices.Contains(os.Args, "--raw=/readyz?verbose") {
		fmt.Println("[+]poststarthook/mixed-version-proxy-handler ok")
		return
	}
	data, err := os.ReadFile(os.Getenv("CONFIGURATION"))
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(data)
}

func load(t *testing.T) *workflow {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.expand(map[string]string{"ARTIFACTS": "/artifacts"}); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestCommands: each command line is one that its program takes.
func TestCommands(t *testing.T) {
	for _, task := range load(t).Tasks {
		if err := commands.Args(append([]string{task.Cmd}, task.Args...)...); err != nil {
			// Files of ours that run on the nodes are no program of a table.
			if !strings.Contains(err.Error(), `"/kinder/roll.sh"`) {
				t.Errorf("task %s: %v", task.Name, err)
			}
		}
	}
	roll, err := os.ReadFile("roll.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := commands.Script(string(roll)); err != nil {
		t.Errorf("roll.sh: %v", err)
	}
	if info, err := os.Stat("roll.sh"); err != nil || info.Mode()&0o111 != 0o111 {
		t.Errorf("roll.sh is not executable: %v, %v", info.Mode(), err)
	}
}

var nodeName = regexp.MustCompile(`^(?:--only-node=(.*)-)?(control-plane|worker)-(\d+)$`)

// TestNodes: each node that is named is there; kinder does nothing, and says nothing, where it is not.
func TestNodes(t *testing.T) {
	w := load(t)
	for _, task := range w.Tasks {
		for _, arg := range task.Args {
			m := nodeName.FindStringSubmatch(arg)
			if m == nil {
				if strings.Contains(arg, "only-node") {
					t.Errorf("task %s: %s", task.Name, arg)
				}
				continue
			}
			nodes, err := strconv.Atoi(w.Vars[map[string]string{"control-plane": "controlPlaneNodes", "worker": "workerNodes"}[m[2]]])
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := strconv.Atoi(m[3]); n < 1 || n > nodes || m[1] != "" && m[1] != w.Vars["clusterName"] {
				t.Errorf("task %s: there is no node %s", task.Name, arg)
			}
		}
	}
}

// TestStory: what has been changed is proved before the next change, and the nodes go whatever happens.
func TestStory(t *testing.T) {
	w := load(t)
	proves := func(task *task) bool {
		line := strings.Join(task.Args, " ")
		return strings.Contains(line, "mvpcheck probe") && !task.IgnoreError || slices.Contains(task.Args, "/kinder/roll.sh")
	}
	var rolled, upgraded []string
	for i, task := range w.Tasks {
		line := strings.Join(task.Args, " ")
		switch {
		case slices.Contains(task.Args, "/kinder/roll.sh"):
			rolled = append(rolled, task.Args[2])
		case strings.Contains(line, "kubeadm-upgrade"):
			node := strings.TrimPrefix(task.Args[3], "--only-node="+w.Vars["clusterName"]+"-")
			upgraded = append(upgraded, node)
			if strings.HasPrefix(node, "control-plane") && (!proves(w.Tasks[i-1]) && len(upgraded) == 1 || !proves(w.Tasks[i+1])) {
				t.Errorf("task %s: no probe beside it", task.Name)
			}
		}
	}
	nodes := []string{"control-plane-1", "control-plane-2", "control-plane-3"}
	if diff := cmp.Diff(nodes, rolled); diff != "" {
		t.Errorf("rolled out on: %s", diff)
	}
	if diff := cmp.Diff(append(nodes, "worker-1"), upgraded); diff != "" {
		t.Errorf("upgraded: %s", diff)
	}
	last := w.Tasks[len(w.Tasks)-1]
	if !last.Force || strings.Join(last.Args[:2], " ") != "delete cluster" {
		t.Errorf("the last task is %s, force %v", last.Name, last.Force)
	}
}

// TestReadme: it says of each task what it proves, in the order of the workflow.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var told, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^|]*)` \\|").FindAllStringSubmatch(string(data), -1) {
		told = append(told, strings.Split(m[1], "`, `")...)
	}
	for _, task := range load(t).Tasks {
		want = append(want, task.Name)
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("tasks that the README tells of: %s", diff)
	}
}

// node stands for a node: a folder with the files that the scripts use.
type node struct{ dir, evidence string }

func newNode(t *testing.T, evidence string) *node {
	n := &node{t.TempDir(), evidence}
	for name, text := range map[string]string{
		"kinder/patched.yaml":                   "kind: ClusterConfiguration\n",
		"etc/manifests/kube-apiserver.yaml":     "    - kube-apiserver\n    - --advertise-address=192.0.2.12\n",
		"kinder/mvpcheck/made-by-export-config": "",
	} {
		path := filepath.Join(n.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// run runs a script as on the node.
func (n *node) run(t *testing.T, args ...string) error {
	t.Helper()
	for i := range args {
		args[i] = strings.NewReplacer("/etc/kubernetes/", n.dir+"/etc/", "/kinder/", n.dir+"/kinder/", "sleep 2", "sleep 0").Replace(args[i])
	}
	evidence, err := filepath.Abs("../../testdata/evidence/" + n.evidence)
	if err != nil {
		t.Fatal(err)
	}
	configuration, err := filepath.Abs("testdata/cluster-configuration.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", args...)
	cmd.Env = append(os.Environ(), "EVIDENCE="+evidence, "CONFIGURATION="+configuration)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	return err
}

// TestScripts runs the scripts of the tasks, with the real mvpcheck, on what kubeadm has written and real servers have said.
func TestScripts(t *testing.T) {
	tasks := map[string]*task{}
	for _, task := range load(t).Tasks {
		tasks[task.Name] = task
	}
	script := func(name string) []string {
		task := tasks[name]
		i := slices.Index(task.Args, "sh")
		return slices.Clone(task.Args[i+1:])
	}
	n := newNode(t, "unprepared.json")
	for _, name := range []string{"export-config", "check-finds", "patch"} {
		if err := n.run(t, script(name)...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What the tasks are there to notice.
	patched, err := os.ReadFile(filepath.Join(n.dir, "kinder/mvpcheck/patched.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.dir, "kinder/mvpcheck/cluster.yaml"), patched, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := n.run(t, script("check-finds")...); err == nil {
		t.Error("check-finds: no error where there is nothing to find")
	}

	// The recordings have two servers, not three.
	finds := script("probe-finds")
	if !strings.Contains(finds[1], "-eq 3\n") {
		t.Error("probe-finds does not count three servers")
	}
	finds[1] = strings.Replace(finds[1], "-eq 3\n", "-eq 2\n", 1)
	proved := script("probe-upgraded-1")
	if diff := cmp.Diff(proved, script("probe-upgraded-2")); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		name, evidence string
		script         []string
		ok             bool
	}{
		{"probe-finds", "unprepared.json", finds, true},
		{"probe-finds", "H1.json", finds, false},
		{"probe-finds", "H2.json", finds, false},
		{"probe-upgraded", "H1.json", proved, true},
		{"probe-upgraded", "H13.json", proved, false}, // ready, but not proved
		{"probe-upgraded", "H3.json", proved, false},
	} {
		if err := newNode(t, tt.evidence).run(t, slices.Clone(tt.script)...); (err == nil) != tt.ok {
			t.Errorf("%s with %s: %v", tt.name, tt.evidence, err)
		}
	}
}

// TestRoll runs roll.sh: on the node 192.0.2.12, with what servers have said.
func TestRoll(t *testing.T) {
	text, err := os.ReadFile("roll.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		evidence, left string
		ok             bool
	}{
		{"H2.json", "1", true},           // the other has the gate off
		{"H2.json", "2", false},          // fewer than expected
		{"H13-old.json", "0", true},      // both have it on
		{"unprepared.json", "2", false},  // this one has it off
		{"H14.json", "0", false},         // this one has no CA
		{"Unreachable.json", "1", false}, // cannot tell is no success
	} {
		n := newNode(t, tt.evidence)
		if err := n.run(t, "-c", string(text), "roll.sh", tt.left); (err == nil) != tt.ok {
			t.Errorf("%s, %s left: %v", tt.evidence, tt.left, err)
		}
		made, err := os.ReadFile(filepath.Join(n.dir, "kinder/patched-node.yaml"))
		want := "kind: ClusterConfiguration\n---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint:\n  advertiseAddress: 192.0.2.12\n"
		if err != nil || string(made) != want {
			t.Errorf("%s: the node's configuration is %q, %v", tt.evidence, made, err)
		}
	}
}

// TestRead: what kinder refuses, and what would do something else than it says.
func TestRead(t *testing.T) {
	const good = "version: 1\nvars: {a: b, n: 3}\ntasks:\n- {name: x, description: d, cmd: 'e{{ .vars.a }}{{ .vars.n }}', args: ['{{ .env.ARTIFACTS }}'], timeout: 5m, force: true, ignoreError: true}\n"
	tests := []struct{ old, new string }{
		{"", ""},
		{"version: 1", "version: 2"},
		{"cmd:", "command:"},
		{"timeout: 5m", "timeout: soon"},
		{"- {name", "- {name: x, description: d, cmd: y}\n- {name"},
		{"name: x, ", ""},
		{"force: true", "import: other.yaml"},
		{".vars.a ", ".vars.b "},
		{".env.ARTIFACTS", ".env.ARTEFACTS"},
		{"{{ .env", "{{ env"},
		{"a: b", "a: '{{ .vars.n }}'"},
		{"a: b", "a: b, c: d"},
		{"a: b", "a: '{{ resolve `stable` }}'"},
	}
	for i, tt := range tests {
		w, err := read([]byte(strings.Replace(good, tt.old, tt.new, 1)))
		if err == nil {
			err = w.expand(map[string]string{"ARTIFACTS": "/x"})
		}
		if (err == nil) != (i == 0) {
			t.Errorf("%q for %q: %v", tt.new, tt.old, err)
		}
	}
}
