package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mvpcheck/mvpcheck/test/commands"
)

const ciGate = "docs/guide/ci-gate.md"

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

func decodeFile(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(repo + name)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, string(data), into)
}

// TestActionExample: the inputs and outputs that the guide names are those of action.yml.
func TestActionExample(t *testing.T) {
	var action struct {
		Inputs map[string]struct {
			Required bool
		}
		Outputs map[string]any
	}
	decodeFile(t, "action.yml", &action)
	text := exampleFile(t, ciGate, ".github/workflows/mvpcheck.yaml")
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				ID, Uses string
				With     map[string]string
			}
		}
	}
	decode(t, text, &workflow)
	ours := 0
	for _, step := range workflow.Jobs["check"].Steps {
		if !strings.HasPrefix(step.Uses, "mvpcheck/mvpcheck@") {
			continue
		}
		ours++
		for name := range step.With {
			if _, ok := action.Inputs[name]; !ok {
				t.Errorf("the action has no input %s", name)
			}
		}
		for name, input := range action.Inputs {
			if input.Required && step.With[name] == "" {
				t.Errorf("the input %s is missing", name)
			}
		}
		for _, m := range regexp.MustCompile(`steps\.(\w+)\.outputs\.(\w+)`).FindAllStringSubmatch(text, -1) {
			if _, ok := action.Outputs[m[2]]; !ok || m[1] != step.ID {
				t.Errorf("there is no %s", m[0])
			}
		}
	}
	if ours != 1 {
		t.Errorf("%d steps use the action", ours)
	}
}

// TestGitLabExample: the commands of the job are right, and what it keeps is what they write.
func TestGitLabExample(t *testing.T) {
	var jobs map[string]struct {
		Script    []string
		Artifacts struct {
			Paths   []string
			Reports map[string]string
		}
	}
	decode(t, exampleFile(t, ciGate, ".gitlab-ci.yml"), &jobs)
	job := jobs["mvpcheck"]
	script := strings.Join(job.Script, "\n")
	if err := commands.Script(script); err != nil {
		t.Error(err)
	}
	for format, file := range map[string]string{"junit": job.Artifacts.Reports["junit"], "html": job.Artifacts.Paths[0]} {
		if !strings.Contains(script, " -o "+format+"="+file+" ") {
			t.Errorf("nothing writes %s", file)
		}
	}
}

// TestPreCommitExample: the hook is one of ours.
func TestPreCommitExample(t *testing.T) {
	var hooks []struct{ ID string }
	decodeFile(t, ".pre-commit-hooks.yaml", &hooks)
	var config struct {
		Repos []struct {
			Hooks []struct{ ID string }
		}
	}
	decode(t, exampleFile(t, ciGate, ".pre-commit-config.yaml"), &config)
	for _, hook := range config.Repos[0].Hooks {
		if !slices.Contains(hooks, hook) {
			t.Errorf("there is no hook %s", hook.ID)
		}
	}
}
