package patch

import (
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// Step is one thing to do after a file was patched.
type Step struct {
	// Text says what the step is for, Command what to type; Comment says where, or what to mind.
	Text, Command, Comment string
}

// StepOptions say what the steps are for.
type StepOptions struct {
	// File is the name of the patched file in the commands; empty: patched.yaml.
	File string
	// Program is how mvpcheck is called; empty: mvpcheck.
	Program string
}

// Steps returns what to do with a patched configuration, in order: what was changed is rolled out on the running
// release and proved before the first server is upgraded. c is the cluster in r.Input.
func Steps(r *Result, c *config.Cluster, pair checks.Pair, o StepOptions) []Step {
	if o.File == "" {
		o.File = "patched.yaml"
	}
	if o.Program == "" {
		o.Program = "mvpcheck"
	}
	s := stepper{c: c, pair: pair, o: o}
	n, _, known := c.ControlPlaneCount()
	s.single = known && n == 1
	if r.Changed() {
		s.rollOut()
	}
	if pair.Upgrade {
		s.upgrade()
	}
	return s.steps
}

type stepper struct {
	c      *config.Cluster
	pair   checks.Pair
	o      StepOptions
	single bool
	steps  []Step
}

func (s *stepper) add(text, command, comment string) {
	s.steps = append(s.steps, Step{Text: text, Command: command, Comment: comment})
}

// probe proves the hand-off; with one server there is none.
func (s *stepper) probe(text, comment string) {
	if !s.single {
		s.add(text, s.o.Program+" probe --wait 2m", comment)
	}
}

// rollOut brings the changed configuration to the running servers.
func (s *stepper) rollOut() {
	switch s.c.Form {
	case config.FormControlPlane:
		s.rollOutControlPlane()
	case config.FormConfigMap:
		s.add("put the configuration into the cluster", "kubectl apply -f "+shellWord(s.o.File),
			"kubeadm upgrade reads the ConfigMap, no file")
		for _, node := range s.nodes() {
			s.add("roll it out on the running release", "kubeadm upgrade node",
				fmt.Sprintf("on %s, with kubeadm %s: it writes the manifest from the ConfigMap; wait until the server is ready",
					node, s.pair.From.MinorString()))
		}
	default:
		s.add("put the configuration into the cluster",
			"kubeadm init phase upload-config kubeadm --config "+shellWord(s.o.File),
			"on one control-plane node; kubeadm upgrade reads the ConfigMap, no file"+s.versionNote())
		for _, node := range s.nodes() {
			s.add("roll it out on the running release",
				"kubeadm init phase control-plane apiserver --config "+shellWord(fileOfNode(s.o.File, node)),
				fmt.Sprintf("on %s, still %s: %s with that node's localAPIEndpoint in its InitConfiguration, "+
					"since each server advertises its own address; wait until the server is ready",
					node, s.pair.From.MinorString(), s.o.File))
		}
	}
	s.probe("prove the hand-off", s.whyProbe())
}

// versionNote says which kubernetesVersion the file must have while it is rolled out: without one, kubeadm takes the
// newest that it can find.
func (s *stepper) versionNote() string {
	v := s.c.KubernetesVersion
	r, known, err := release.ParseKubernetesVersion(v.Value)
	if v.Set() && err == nil && known && r.SameMinor(s.pair.From) {
		return ""
	}
	return "; kubernetesVersion in the file must be the running one, v" + s.pair.From.MinorString() + ".x, for now"
}

func (s *stepper) whyProbe() string {
	if s.pair.Upgrade && !s.pair.From.GateDefaultOn(release.Gate) {
		return "now: a server without the gate and the CA answers false 404s during the upgrade"
	}
	if s.pair.Upgrade {
		return "before the first server is upgraded"
	}
	return "every server to its peers"
}

func (s *stepper) rollOutControlPlane() {
	if s.template() {
		s.add("create the template anew", "kubectl apply -f "+shellWord(s.o.File),
			"a KubeadmControlPlaneTemplate cannot be changed: give it a new metadata.name and name that in the ClusterClass")
		return
	}
	s.add("change the object", "kubectl apply -f "+shellWord(s.o.File),
		"in the management cluster, or through what manages it there; spec.version stays for now")
	s.waitForMachines("a few seconds later; every control-plane machine is replaced, still " + s.pair.From.MinorString())
}

func (s *stepper) template() bool {
	return controlPlane(s.c).Get("kind").Str() == "KubeadmControlPlaneTemplate"
}

func (s *stepper) waitForMachines(comment string) {
	object := controlPlane(s.c)
	name := object.Get("metadata", "name").Str()
	if name == "" || config.PlaceholderIn(name) != "" {
		name = "<name>"
	}
	command := "kubectl get kubeadmcontrolplane " + name + " --watch"
	if s.c.Replicas > 0 {
		field := "updatedReplicas"
		if strings.HasSuffix(object.Get("apiVersion").Str(), "/v1beta2") {
			field = "upToDateReplicas"
		}
		command = fmt.Sprintf("kubectl wait kubeadmcontrolplane %s --for=jsonpath='{.status.%s}'=%d --timeout=60m",
			name, field, s.c.Replicas)
	}
	s.add("wait for the roll", command, comment)
}

// upgrade goes to the target release.
func (s *stepper) upgrade() {
	target := targetVersion(s.pair.To)
	if len(s.steps) == 0 {
		s.probe("prove the hand-off", s.whyProbe())
	}
	if s.c.Form == config.FormControlPlane {
		field := "spec.version"
		if s.template() {
			field = "spec.topology.version of the Cluster"
		}
		s.add("upgrade", "kubectl apply -f "+shellWord(s.o.File), "with "+field+": "+target)
		if !s.template() {
			s.waitForMachines("a few seconds later; the machines are replaced one by one")
		}
		s.probe("prove the hand-off again", "")
		return
	}
	s.add("upgrade the first control-plane node", "kubeadm upgrade apply "+target, "on "+s.nodes()[0]+s.andProbe())
	if s.single {
		return
	}
	others := s.nodes()[1:]
	if len(others) == 0 {
		others = []string{"each other control-plane node"}
	}
	for _, node := range others {
		s.add("upgrade the others", "kubeadm upgrade node", "on "+node+s.andProbe())
	}
}

func (s *stepper) andProbe() string {
	if s.single {
		return ""
	}
	return ", then " + s.o.Program + " probe"
}

// eachNode stands for the nodes where their names are not known.
const eachNode = "<node>"

// nodes returns the names of the control-plane nodes, or <node> where not all are known.
func (s *stepper) nodes() []string {
	var names []string
	for _, n := range s.c.Nodes {
		if n.Name != "" && config.PlaceholderIn(n.Name) == "" {
			names = append(names, n.Name)
		}
	}
	n, _, known := s.c.ControlPlaneCount()
	if len(names) == 0 || len(names) != len(s.c.Nodes) || known && n != len(names) || !known {
		return []string{eachNode}
	}
	return names
}

// targetVersion is the release for kubeadm upgrade apply, v1.36.x where the patch is not known.
func targetVersion(r release.Release) string {
	if r.String() == r.MinorString() {
		return "v" + r.MinorString() + ".x"
	}
	return r.Full()
}

// fileOfNode names a node's own copy of a file: patched-cp-1.yaml.
func fileOfNode(file, node string) string {
	base, ext := file, ""
	if i := strings.LastIndexByte(file, '.'); i > strings.LastIndexByte(file, '/')+1 {
		base, ext = file[:i], file[i:]
	}
	return base + "-" + node + ext
}

// shellWord quotes a file name for a shell where it must be. A <node> within is for the reader to fill in.
func shellWord(s string) string {
	if plain := strings.ReplaceAll(s, eachNode, ""); plain != "" && text.ShellWord(plain) == plain {
		return s
	}
	return text.ShellWord(s)
}
