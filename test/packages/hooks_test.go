package packages

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// hook is an entry of .pre-commit-hooks.yaml; pre-commit refuses other keys.
type hook struct {
	ID, Name, Description, Language, Entry, Files string
	Args                                          []string
	TypesOr                                       []string `json:"types_or"`
	PassFilenames                                 *bool    `json:"pass_filenames"`
}

// TestHooks runs the hooks as pre-commit does: the entry, then the arguments, which users may replace, then the changed files.
func TestHooks(t *testing.T) {
	var list []hook
	readYAML(t, ".pre-commit-hooks.yaml", &list)
	hooks := map[string]hook{}
	for _, h := range list {
		if h.Name == "" || h.Description == "" || h.Language != "golang" || !strings.HasPrefix(h.Entry, "mvpcheck ") {
			t.Errorf("%+v", h)
		}
		hooks[h.ID] = h
	}
	// The working folder of a hook is the root of the repository.
	repository := func(t *testing.T, config string) string {
		dir := t.TempDir()
		if config != "" {
			copyCase(t, config, filepath.Join(dir, "clusters", "kubeadm-prod.yaml"))
		}
		writeFile(t, filepath.Join(dir, ".github", "workflows", "ci.yml"), "on: push\n")
		writeFile(t, filepath.Join(dir, "charts", "templates", "x.yaml"), "a: {{ .Values.x }}\n- b\n\tc")
		writeFile(t, filepath.Join(dir, "package.json"), "{}")
		return dir
	}
	for name, tc := range map[string]struct {
		id, config string
		args       []string // in place of those of the hook
		code       int
		want       string
	}{
		"finds the bad one":       {id: "mvpcheck", config: bad, code: 1, want: "clusters/kubeadm-prod.yaml:7:12: error: "},
		"takes the good one":      {id: "mvpcheck", config: ready, want: "ready for 1.35"},
		"folder":                  {id: "mvpcheck", config: bad, args: []string{"--to=1.36", "clusters"}, code: 1, want: "NOT READY"},
		"says that there is none": {id: "mvpcheck", code: 3, want: "there is no configuration to check"},
		"changed, bad":            {id: "mvpcheck-files", config: bad, code: 1, want: "NOT READY"},
		"changed, good":           {id: "mvpcheck-files", config: ready, want: "ready for 1.35"},
		"patch":                   {id: "mvpcheck-patch", config: bad, args: []string{"clusters/kubeadm-prod.yaml"}},
		"patch, no name":          {id: "mvpcheck-patch", config: bad, code: 2, want: "patch needs a PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			h, ok := hooks[tc.id]
			if !ok {
				t.Fatal("no such hook")
			}
			dir := repository(t, tc.config)
			args := append(strings.Fields(h.Entry), h.Args...)
			if tc.args != nil {
				args = append(strings.Fields(h.Entry), tc.args...)
			}
			if h.PassFilenames == nil || *h.PassFilenames {
				matches := 0
				for _, file := range []string{"clusters/kubeadm-prod.yaml", ".github/workflows/ci.yml", "charts/templates/x.yaml", "package.json"} {
					if regexp.MustCompile(h.Files).MatchString(file) {
						args = append(args, file)
						matches++
					}
				}
				if matches != 1 {
					t.Errorf("%d files match", matches)
				}
			}
			r := execute(t, dir, nil, args[0], args[1:]...)
			if r.code != tc.code || !strings.Contains(r.out+r.errs, tc.want) {
				t.Errorf("%q: exit code %d, want %d and %q\n%s%s", args, r.code, tc.code, tc.want, r.out, r.errs)
			}
			if tc.id == "mvpcheck-patch" && tc.code == 0 {
				if r := execute(t, dir, nil, "mvpcheck", "check", "-q", "clusters"); r.code != 0 {
					t.Errorf("the patched file is not ready:\n%s", r.out)
				}
			}
		})
	}
}
