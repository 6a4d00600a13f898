package packages

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// dist returns the folder of a release that hack/release/goreleaser.sh made.
func dist(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MVPCHECK_DIST")
	if dir == "" {
		t.Skip("MVPCHECK_DIST names no release")
	}
	return dir
}

// find returns the files of a release; there must be n.
func find(t *testing.T, n int, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dist(t), pattern))
	if err != nil || len(names) != n {
		t.Fatalf("%s: want %d files, got %v, %v", pattern, n, names, err)
	}
	return names
}

// TestSamePath: a path of the machine that builds gets into no program.
func TestSamePath(t *testing.T) {
	sums := func(flags ...string) map[string]bool {
		all := map[string]bool{}
		for _, dir := range []string{"one", "another/folder"} {
			dir = filepath.Join(t.TempDir(), dir)
			for _, part := range []string{"cmd", "internal", "pkg"} {
				if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(root, part))); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"go.mod", "go.sum"} {
				writeFile(t, filepath.Join(dir, name), string(readFile(t, filepath.Join(root, name))))
			}
			cmd := exec.Command("go", append([]string{"build", "-buildvcs=false", "-o", "program"}, append(flags, "./cmd/mvpcheck")...)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			all[fmt.Sprintf("%x", sha256.Sum256(readFile(t, filepath.Join(dir, "program"))))] = true
		}
		return all
	}
	if n := len(sums("-trimpath")); n != 1 {
		t.Error("two folders give two programs")
	}
}

// entry is a file in an archive.
type entry struct {
	mode fs.FileMode
	time time.Time
	data []byte
}

func readArchive(t *testing.T, name string) map[string]entry {
	t.Helper()
	entries := map[string]entry{}
	read := func(name string, mode fs.FileMode, when time.Time, r io.Reader) {
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		entries[name] = entry{mode, when.UTC(), data}
	}
	if filepath.Ext(name) == ".zip" {
		z, err := zip.OpenReader(name)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			read(f.Name, f.Mode(), f.Modified, r)
			_ = r.Close()
		}
		return entries
	}
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "root" || h.Gname != "root" {
			t.Errorf("%s: %s belongs to %s (%d)", name, h.Name, h.Uname, h.Uid)
		}
		read(h.Name, h.FileInfo().Mode(), h.ModTime, r)
	}
}

// TestArchives: each has the program and what belongs to it, all of one time.
func TestArchives(t *testing.T) {
	for pattern, want := range map[string][]string{
		"mvpcheck_*":         {"LICENSE", "README.md", "completions/_mvpcheck", "completions/mvpcheck.bash", "completions/mvpcheck.fish", "completions/mvpcheck.ps1", "man/mvpcheck.1", "man/mvpcheck-check.1", "mvpcheck"},
		"kubectl-mvpcheck_*": {"LICENSE", "kubectl_complete-mvpcheck", "kubectl-mvpcheck"},
	} {
		for _, name := range append(find(t, 4, pattern+".tar.gz"), find(t, 2, pattern+".zip")...) {
			entries := readArchive(t, name)
			times := map[time.Time]bool{}
			for file, e := range entries {
				times[e.time] = true
				program := strings.Contains(filepath.Base(file), "mvpcheck") && filepath.Dir(file) == "."
				if perm := e.mode.Perm(); program && perm != 0o755 || !program && perm != 0o644 {
					t.Errorf("%s: %s has mode %v", filepath.Base(name), file, e.mode)
				}
			}
			if len(times) != 1 {
				t.Errorf("%s: several times: %v", filepath.Base(name), slices.Collect(maps.Keys(times)))
			}
			for i, file := range want {
				if i == len(want)-1 && strings.Contains(name, "_windows_") {
					file += ".exe"
				}
				if len(entries[file].data) == 0 {
					t.Errorf("%s: no %s", filepath.Base(name), file)
				}
			}
		}
	}
}

// TestReleasedProgram: the program knows which it is.
func TestReleasedProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("not Linux")
	}
	name := find(t, 1, "mvpcheck_*_linux_"+runtime.GOARCH+".tar.gz")[0]
	version := "v" + strings.Split(filepath.Base(name), "_")[1]
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "mvpcheck"), string(readArchive(t, name)["mvpcheck"].data))
	if err := os.Chmod(filepath.Join(dir, "mvpcheck"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := execute(t, dir, nil, "./mvpcheck", "version", "-o", "json")
	var got struct{ Version, Commit, Date string }
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatalf("%v: %s%s", err, r.out, r.errs)
	}
	when, err := time.Parse(time.RFC3339, got.Date)
	if got.Version != version || len(got.Commit) != 40 || err != nil {
		t.Errorf("%+v, want version %s", got, version)
	}
	for file, e := range readArchive(t, name) {
		if !e.time.Equal(when) {
			t.Errorf("%s is of %v, not of the commit's %v", file, e.time, when)
		}
	}
}

func TestChecksums(t *testing.T) {
	sums := string(readFile(t, filepath.Join(dist(t), "checksums.txt")))
	n := 0
	for line := range strings.Lines(sums) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256(readFile(t, filepath.Join(dist(t), name)))); got != sum {
			t.Errorf("%s: %s, want %s", name, got, sum)
		}
		n++
	}
	// Archives of both names, packages of two kinds, SBOMs.
	if want := 6 + 6 + 4 + 6; n != want {
		t.Errorf("%d checksums, want %d:\n%s", n, want, sums)
	}
}

func TestSBOM(t *testing.T) {
	for _, name := range find(t, 6, "*.cdx.json") {
		var bom struct {
			BomFormat, SerialNumber string
			Metadata                struct {
				Timestamp string
				Component struct{ Name, Version, Purl string }
			}
			Components []struct{ Name, Version, Purl string }
		}
		if err := json.Unmarshal(readFile(t, name), &bom); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		have := map[string]bool{}
		for _, c := range bom.Components {
			have[c.Name] = c.Version != "" && strings.HasPrefix(c.Purl, "pkg:golang/")
		}
		for _, want := range []string{"std", "github.com/spf13/cobra", "k8s.io/client-go"} {
			if !have[want] {
				t.Errorf("%s: no %s in %v", filepath.Base(name), want, have)
			}
		}
		if c := bom.Metadata.Component; bom.BomFormat != "CycloneDX" || c.Name != "github.com/mvpcheck/mvpcheck" || !strings.HasPrefix(c.Version, "v") {
			t.Errorf("%s: %q of %+v", filepath.Base(name), bom.BomFormat, c)
		}
		if bom.Metadata.Timestamp != "" || bom.SerialNumber != "" {
			t.Errorf("%s is not the same the next time", filepath.Base(name))
		}
	}
}

// packaged are the files of the packages of Linux distributions; %s is where zsh looks.
var packaged = []string{
	"/usr/bin/kubectl-mvpcheck", "/usr/bin/kubectl_complete-mvpcheck", "/usr/bin/mvpcheck", "/usr/share/bash-completion/completions/mvpcheck",
	"/usr/share/fish/vendor_completions.d/mvpcheck.fish", "/usr/share/man/man1/mvpcheck-check.1.gz", "/usr/share/man/man1/mvpcheck.1.gz",
}

func checkPackaged(t *testing.T, name string, files []string, more ...string) {
	t.Helper()
	for _, want := range append(slices.Clone(packaged), more...) {
		if !slices.Contains(files, want) {
			t.Errorf("%s: no %s in\n%s", filepath.Base(name), want, strings.Join(files, "\n"))
		}
	}
}

// TestDeb: dpkg unpacks it, and lintian, which knows Debian's rules, has nothing to say.
func TestDeb(t *testing.T) {
	names := find(t, 2, "*.deb")
	need(t, "dpkg-deb")
	for _, name := range names {
		dir := t.TempDir()
		if r := execute(t, dir, nil, "dpkg-deb", "-x", name, dir); r.code != 0 {
			t.Fatalf("%s: %s", name, r.errs)
		}
		var files []string
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, strings.TrimPrefix(path, dir))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		checkPackaged(t, name, files, "/usr/share/zsh/vendor-completions/_mvpcheck", "/usr/share/doc/mvpcheck/copyright", "/usr/share/doc/mvpcheck/changelog.Debian.gz")
		for _, file := range files {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Errorf("a link leads nowhere: %v", err)
			}
		}
		if strings.HasSuffix(name, "_"+runtime.GOARCH+".deb") {
			r := execute(t, dir, nil, filepath.Join(dir, "usr/bin/kubectl-mvpcheck"), "check", "--help")
			if r.code != 0 || !strings.Contains(r.out, "kubectl mvpcheck check PATH") {
				t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errs)
			}
		}
	}
	need(t, "lintian")
	for _, name := range names {
		r := execute(t, t.TempDir(), []string{"LC_ALL=C.UTF-8"}, "lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", name)
		if r.code != 0 {
			t.Errorf("%s: lintian: exit code %d\n%s%s", filepath.Base(name), r.code, r.out, r.errs)
		}
	}
}

func TestRPM(t *testing.T) {
	names := find(t, 2, "*.rpm")
	need(t, "rpm")
	for _, name := range names {
		r := execute(t, t.TempDir(), nil, "rpm", "-qlp", name)
		if r.code != 0 {
			t.Fatalf("%s: %s", name, r.errs)
		}
		checkPackaged(t, name, strings.Fields(r.out), "/usr/share/zsh/site-functions/_mvpcheck", "/usr/share/licenses/mvpcheck/LICENSE")
		r = execute(t, t.TempDir(), nil, "rpm", "-qp", "--queryformat", "%{NAME} %{LICENSE} %{BUILDHOST} %{ARCH}", name)
		arch := map[bool]string{true: "x86_64", false: "aarch64"}[strings.Contains(name, "x86_64")]
		if want := "mvpcheck Apache-2.0 reproducible " + arch; r.out != want {
			t.Errorf("%s: %q, want %q", filepath.Base(name), r.out, want)
		}
	}
}

// TestKrew: the validator of krew's index takes the manifest, and krew installs each of its archives.
func TestKrew(t *testing.T) {
	manifest := find(t, 1, "krew/mvpcheck.yaml")[0]
	tools := t.TempDir()
	build := exec.Command("go", "build", "-o", tools+"/", "sigs.k8s.io/krew/cmd/krew", "sigs.k8s.io/krew/cmd/validate-krew-manifest")
	build.Dir = filepath.Join(root, "test", "packages", "krew")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if r := execute(t, tools, nil, "./validate-krew-manifest", "-manifest", manifest, "-skip-install"); r.code != 0 {
		t.Errorf("exit code %d\n%s", r.code, r.errs)
	}
	for _, archive := range append(find(t, 4, "kubectl-mvpcheck_*.tar.gz"), find(t, 2, "kubectl-mvpcheck_*.zip")...) {
		parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(filepath.Base(archive), ".zip"), ".tar.gz"), "_")
		os, arch := parts[2], parts[3]
		home := t.TempDir()
		env := []string{"KREW_ROOT=" + home, "KREW_OS=" + os, "KREW_ARCH=" + arch}
		r := execute(t, tools, env, "./krew", "install", "--manifest", manifest, "--archive", archive)
		if r.code != 0 {
			t.Errorf("%s %s: exit code %d\n%s%s", os, arch, r.code, r.out, r.errs)
			continue
		}
		found, err := filepath.Glob(filepath.Join(home, "store", "mvpcheck", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, name := range found {
			names = append(names, strings.TrimSuffix(filepath.Base(name), ".exe"))
		}
		if d := cmp.Diff([]string{"LICENSE", "kubectl-mvpcheck", "kubectl_complete-mvpcheck"}, names); d != "" {
			t.Errorf("%s %s: -want +installed:\n%s", os, arch, d)
		}
	}
}
