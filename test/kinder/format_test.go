package kinder

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"text/template"
	"time"

	"go.yaml.in/yaml/v2"
)

// workflow has the fields of Workflow in kubernetes/kubeadm, kinder/pkg/test/workflow/workflow.go. kinder reads them with
// yaml.v2's UnmarshalStrict, too, so that a field that it does not know is an error.
type workflow struct {
	Version int
	Summary string
	Vars    map[string]string
	Env     map[string]string
	Tasks   []*task
}

// task has the fields of kinder's Task.
type task struct {
	Name        string
	Description string
	Dir         string
	Cmd         string
	Import      string
	Args        []string
	Force       bool
	Timeout     time.Duration
	IgnoreError bool `yaml:"ignoreError"`
}

// read reads a workflow as kinder does. Imports are not taken: one file is to be read by people, too.
func read(data []byte) (*workflow, error) {
	w := &workflow{}
	if err := yaml.UnmarshalStrict(data, w); err != nil {
		return nil, err
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if w.Version != 1 {
		fail("version is %d, want 1", w.Version)
	}
	if len(w.Tasks) == 0 {
		fail("there are no tasks")
	}
	names := map[string]bool{}
	for i, t := range w.Tasks {
		switch {
		case t.Name == "" || t.Description == "":
			fail("task %d: a name and a description are missing", i)
		case names[t.Name]:
			fail("task %s: the name is there twice", t.Name)
		case t.Import != "":
			fail("task %s: imports another file", t.Name)
		case t.Cmd == "":
			fail("task %s: has no cmd", t.Name)
		case t.Timeout < 0 || t.Timeout > time.Hour:
			fail("task %s: timeout %s", t.Name, t.Timeout)
		}
		names[t.Name] = true
	}
	return w, errors.Join(errs...)
}

var (
	versionLabel = regexp.MustCompile(`^(release|ci)/(stable|latest)-(1\.\d+)$`)
	varUse       = regexp.MustCompile(`\.vars\.(\w+)`)
)

// resolve stands for kinder's function of that name, which asks the internet for the release of a label. Here the patch
// is always 0.
func resolve(label string) (string, error) {
	m := versionLabel.FindStringSubmatch(label)
	if m == nil {
		return "", fmt.Errorf("%q is no label such as release/stable-1.36", label)
	}
	return "v" + m[3] + ".0", nil
}

// expand puts variables, and the templates of the tasks, into effect as kinder does (taskCmdBuilder.go), but a variable
// that is not there is an error, as is one that nobody uses.
func (w *workflow) expand(env map[string]string) error {
	vars, used := map[string]string{}, map[string]bool{}
	one := func(text string, vars map[string]string) (string, error) {
		for _, m := range varUse.FindAllStringSubmatch(text, -1) {
			used[m[1]] = true
		}
		t, err := template.New("").Funcs(template.FuncMap{"resolve": resolve}).Option("missingkey=error").Parse(text)
		if err != nil {
			return "", err
		}
		var out bytes.Buffer
		err = t.Execute(&out, map[string]any{"vars": vars, "env": env})
		return out.String(), err
	}
	var errs []error
	for name, text := range w.Vars {
		// kinder expands them in a random order: none may use another.
		value, err := one(text, nil)
		if err != nil {
			errs = append(errs, fmt.Errorf("variable %s: %w", name, err))
		}
		vars[name] = value
	}
	w.Vars = vars
	for _, t := range w.Tasks {
		for i, text := range append([]string{t.Cmd}, t.Args...) {
			value, err := one(text, vars)
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("task %s: %w", t.Name, err))
			case i == 0:
				t.Cmd = value
			default:
				t.Args[i-1] = value
			}
		}
	}
	for name := range vars {
		if !used[name] {
			errs = append(errs, fmt.Errorf("nobody uses the variable %s", name))
		}
	}
	return errors.Join(errs...)
}
