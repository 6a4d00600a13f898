package packages

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gitlabJob is a job as the documentation of GitLab CI describes it.
type gitlabJob struct {
	Stage, Image string
	Variables    map[string]string
	BeforeScript []string `json:"before_script"`
	Script       []string
	Artifacts    struct {
		When     string
		ExpireIn string `json:"expire_in"`
		ExposeAs string `json:"expose_as"`
		Paths    []string
		Reports  map[string]string
	}
	Rules []struct {
		If      string
		Changes []string
	}
}

// TestGitLab runs the script of the template as a runner does, and looks for its artifacts where GitLab does.
func TestGitLab(t *testing.T) {
	need(t, "bash")
	var jobs map[string]gitlabJob
	readYAML(t, "ci/gitlab.yml", &jobs)
	job, ok := jobs["mvpcheck"]
	if len(jobs) != 1 || !ok {
		t.Fatalf("jobs: %v", jobs)
	}
	if job.Artifacts.When != "always" {
		t.Errorf("artifacts of a failed job are kept %s", job.Artifacts.When)
	}
	for name, tc := range map[string]struct {
		config, paths, args string
		code                int
		failures            int
	}{
		"bad":        {config: bad, code: 1, failures: 2},
		"ready":      {config: ready},
		"set by job": {config: bad, paths: "clusters other.yaml", args: "--to 1.36 --fail-on never"},
		"unreadable": {config: unreadable, paths: "clusters/kubeadm.yaml", code: 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			copyCase(t, tc.config, filepath.Join(dir, "clusters", "kubeadm.yaml"))
			copyCase(t, ready, filepath.Join(dir, "other.yaml"))
			var env []string
			for name, value := range job.Variables {
				switch {
				case name == "MVPCHECK_PATHS" && tc.paths != "":
					value = tc.paths
				case name == "MVPCHECK_ARGS" && tc.args != "":
					value = tc.args
				}
				env = append(env, name+"="+value)
			}
			r := execute(t, dir, env, "bash", "-eo", "pipefail", "-c", strings.Join(job.Script, "\n"))
			if r.code != tc.code {
				t.Errorf("exit code %d, want %d\n%s%s", r.code, tc.code, r.out, r.errs)
			}
			for _, file := range job.Artifacts.Paths {
				if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
					t.Errorf("the artifact %s: %v", file, err)
				}
			}
			var report struct {
				Suites []struct {
					Failures int `xml:"failures,attr"`
				} `xml:"testsuite"`
			}
			if err := xml.Unmarshal(readFile(t, filepath.Join(dir, job.Artifacts.Reports["junit"])), &report); err != nil {
				t.Fatal(err)
			}
			failures := 0
			for _, s := range report.Suites {
				failures += s.Failures
			}
			if failures != tc.failures {
				t.Errorf("%d failures, want %d", failures, tc.failures)
			}
		})
	}
	// The line that installs is not run here: it takes a release.
	if d := cmp.Diff([]string{`GOBIN=/usr/local/bin go install "github.com/mvpcheck/mvpcheck/cmd/mvpcheck@$MVPCHECK_VERSION"`}, job.BeforeScript); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
