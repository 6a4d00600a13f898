package packages

import (
	"path/filepath"
	"testing"
)

// TestShellcheck: shellcheck has nothing to say of the scripts that users and releases run.
func TestShellcheck(t *testing.T) {
	need(t, "shellcheck")
	var scripts []string
	for _, pattern := range []string{"ci/github/*.sh", "hack/release/*.sh", "deploy/kubectl/*"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		scripts = append(scripts, names...)
	}
	if r := execute(t, root, nil, "shellcheck", scripts...); r.code != 0 {
		t.Errorf("%s%s", r.out, r.errs)
	}
}
