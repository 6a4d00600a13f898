// Package lab runs the real programs that mvpcheck's verdicts are about: it builds each release's kubeadm and
// kube-apiserver from Go modules alone, and asks them. See README.md.
//
// Only tests and the commands below test/lab/cmd import it.
package lab

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
)

// A Release is one release of Kubernetes in the lab. There is one for each nested module below test/lab/releases,
// and that module's go.mod is the only place that names its version: a new folder there is a new release.
type Release struct {
	Minor   string // "1.36"
	Version string // "v1.36.3"
	Dir     string // the nested module

	minor uint // 36
}

// releasesDir is where the nested modules are, below the repository's root.
const releasesDir = "test/lab/releases"

var kubernetesRequirement = regexp.MustCompile(`(?m)^\s*(?:require\s+)?k8s\.io/kubernetes\s+(v\S+)`)

// ReadReleases returns the lab's releases, oldest first. It finds them from the working folder upwards, so it works
// in the test of any package of the repository.
func ReadReleases() ([]Release, error) {
	dir, err := findDir(releasesDir)
	if err != nil {
		return nil, err
	}
	modules, err := filepath.Glob(filepath.Join(dir, "*", "go.mod"))
	if err != nil {
		return nil, err
	}
	var releases []Release
	for _, module := range modules {
		text, err := os.ReadFile(module)
		if err != nil {
			return nil, err
		}
		m := kubernetesRequirement.FindSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("%s: no requirement of k8s.io/kubernetes", module)
		}
		v, err := version.ParseSemantic(string(m[1]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", module, err)
		}
		releases = append(releases, Release{
			Minor:   fmt.Sprintf("%d.%d", v.Major(), v.Minor()),
			Version: string(m[1]),
			Dir:     filepath.Dir(module),
			minor:   v.Minor(),
		})
	}
	if len(releases) == 0 {
		return nil, fmt.Errorf("%s: no modules", dir)
	}
	slices.SortFunc(releases, func(a, b Release) int { return cmp.Compare(a.minor, b.minor) })
	return releases, nil
}

// FindRelease returns the lab's release of a minor such as "1.36".
func FindRelease(minor string) (Release, error) {
	releases, err := ReadReleases()
	if err != nil {
		return Release{}, err
	}
	for _, r := range releases {
		if r.Minor == minor {
			return r, nil
		}
	}
	return Release{}, fmt.Errorf("the lab has no release %q", minor)
}

// Releases is [ReadReleases] for tests.
func Releases(tb testing.TB) []Release {
	tb.Helper()
	releases, err := ReadReleases()
	if err != nil {
		tb.Fatal(err)
	}
	return releases
}

// findDir finds a folder, given by its path below the repository's root, from the working folder upwards.
func findDir(path string) (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		found := filepath.Join(dir, filepath.FromSlash(path))
		if _, err := os.Stat(found); err == nil {
			return found, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s: no folder %s here or above", start, path)
		}
	}
}

func (r Release) String() string { return r.Version }
