package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// sarifLog is what the tests read of a log.
type sarifLog struct {
	Runs []struct {
		Results []struct {
			RuleID string
			Level  string
			Fixes  []struct {
				ArtifactChanges []struct{ Replacements []replacement }
			}
		}
		Invocations []struct {
			ExecutionSuccessful bool
			ExitCode            int
		}
	}
}

type replacement struct {
	DeletedRegion struct{ StartLine, StartColumn, EndLine, EndColumn int }
	// A deletion inserts nothing.
	InsertedContent struct{ Text string }
}

func checkSARIF(t *testing.T, args ...string) (sarifLog, int) {
	t.Helper()
	r := runMain(t, append([]string{"check", "-o", "sarif"}, args...)...)
	var log sarifLog
	if err := json.Unmarshal([]byte(r.out), &log); err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, r.out, r.err)
	}
	return log, r.code
}

// replace makes a replacement by counting lines and code points, as a reader of SARIF would.
func replace(data []byte, r *replacement) []byte {
	offset := func(line, column int) int {
		at := 0
		for ; line > 1; line-- {
			end := strings.IndexAny(string(data[at:]), "\r\n")
			at += end + 1
			if data[at-1] == '\r' && at < len(data) && data[at] == '\n' {
				at++
			}
		}
		if at == 0 && strings.HasPrefix(string(data), "\xef\xbb\xbf") {
			at = 3
		}
		for ; column > 1; column-- {
			_, size := utf8.DecodeRune(data[at:])
			at += size
		}
		return at
	}
	d := &r.DeletedRegion
	edit := yamldoc.Edit{Start: offset(d.StartLine, d.StartColumn), End: offset(d.EndLine, d.EndColumn), New: []byte(r.InsertedContent.Text)}
	return yamldoc.Apply(data, edit)
}

// Who makes the changes of a fix in SARIF has one finding of the rule less, in every sample of every rule. Where patch fixes
// the one finding of a file, the fix makes the same file.
func TestSARIFFixes(t *testing.T) {
	samples, err := filepath.Glob(repo + "testdata/rules/MVP*/bad*.yaml")
	if err != nil || len(samples) == 0 {
		t.Fatalf("%v, %v", samples, err)
	}
	made, compared := 0, 0
	for _, sample := range samples {
		rule := filepath.Base(filepath.Dir(sample))
		data, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		file := writeFile(t, filepath.Join(t.TempDir(), "cluster.yaml"), string(data))
		log, _ := checkSARIF(t, "--only", rule, file)
		results := log.Runs[0].Results
		for _, r := range results {
			for _, fix := range r.Fixes {
				made++
				fixed := slices.Clone(data)
				replacements := fix.ArtifactChanges[0].Replacements
				for i := len(replacements) - 1; i >= 0; i-- { // from the end, where places still hold
					fixed = replace(fixed, &replacements[i])
				}
				after := writeFile(t, filepath.Join(t.TempDir(), "cluster.yaml"), string(fixed))
				if again, _ := checkSARIF(t, "--only", rule, after); len(again.Runs[0].Results) >= len(results) {
					t.Errorf("%s: the fix leaves %d of %d findings:\n%s", sample, len(again.Runs[0].Results), len(results), fixed)
				}
				if len(results) > 1 {
					continue
				}
				compared++
				if patched := runMain(t, "patch", "--only", rule, file); patched.out != string(fixed) {
					t.Errorf("%s: patch writes\n%s\nand the fix\n%s", sample, patched.out, fixed)
				}
			}
		}
	}
	if made < 30 || compared < 20 {
		t.Errorf("%d fixes, %d compared with patch", made, compared)
	}
}

// What patch refuses has no fix.
func TestSARIFFixesOfRefusals(t *testing.T) {
	dir := t.TempDir()
	flow := writeFile(t, filepath.Join(dir, "alias.yaml"), gateOff+"apiServer: &a\n  extraArgs: []\nscheduler: *a\n")
	folded := writeFile(t, filepath.Join(dir, "configmap.yaml"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kubeadm-config, namespace: kube-system}\ndata:\n  ClusterConfiguration: >\n    "+
			strings.ReplaceAll(strings.TrimSpace(gateOff), "\n", "\n\n    ")+"\n")
	for file, want := range map[string]bool{flow: false, folded: false, repo + "testdata/scripts/files/configmap.yaml": true} {
		refused := runMain(t, "patch", "--only", "MVP101", file).code == exitFailed
		log, _ := checkSARIF(t, "--only", "MVP101", file)
		results := log.Runs[0].Results
		if len(results) != 1 || (len(results[0].Fixes) > 0) == refused || refused == want {
			t.Errorf("%s: refused %v, %+v", file, refused, results)
		}
	}
}

// A file with very many findings has fixes for the first of them only: each costs as much as the file is long.
func TestSARIFFixesAreBounded(t *testing.T) {
	text := gateOff + "scheduler:\n  extraArgs:\n"
	for i := range 1000 {
		text += fmt.Sprintf("  - name: flag-%d\n    value: %d\n", i, i)
	}
	log, _ := checkSARIF(t, "--only", "MVP003", writeFile(t, filepath.Join(t.TempDir(), "cluster.yaml"), text))
	results := log.Runs[0].Results
	if len(results) != 1000 {
		t.Fatalf("%d findings", len(results))
	}
	for i, r := range results {
		if want := i < editsRoom/len(text); (len(r.Fixes) > 0) != want {
			t.Errorf("finding %d of 1000 has %d fixes", i, len(r.Fixes))
		}
	}
}

// Of every input that we have, the log tells the exit code, and the suites of JUnit have failures where that is 1 and errors
// where something could not be judged.
func TestCIFormatsAndExitCodes(t *testing.T) {
	names, err := filepath.Glob(repo + "testdata/cases/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	type suites struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		} `xml:"testsuite"`
	}
	seen := map[int]int{}
	for _, name := range names {
		for _, level := range []string{"error", "never"} {
			junit := filepath.Join(t.TempDir(), "junit.xml")
			log, code := checkSARIF(t, "--fail-on", level, "-o", "junit="+junit, name)
			seen[code]++
			if i := log.Runs[0].Invocations[0]; i.ExitCode != code || code == exitFailed && i.ExecutionSuccessful {
				t.Errorf("%s --fail-on %s: exit code %d, the log says %+v", name, level, code, i)
			}
			document, err := os.ReadFile(junit)
			if err != nil {
				t.Fatal(err)
			}
			var doc suites
			if err := xml.Unmarshal(document, &doc); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			failures, errs := 0, 0
			for _, s := range doc.Suites {
				failures, errs = failures+s.Failures, errs+s.Errors
			}
			if (failures > 0) != (code == exitFindings) || code == exitFailed && errs == 0 {
				t.Errorf("%s --fail-on %s: exit code %d, %d failures, %d errors", name, level, code, failures, errs)
			}
		}
	}
	for _, code := range []int{exitOK, exitFindings, exitFailed} {
		if seen[code] == 0 {
			t.Errorf("no input ends in exit code %d", code)
		}
	}
}

func TestRuleDocs(t *testing.T) {
	oneWord := regexp.MustCompile(`^[a-z][a-z0-9-]+$`)
	for _, r := range checks.All() {
		doc := ruleDoc(r.ID)
		if !oneWord.MatchString(doc.Name) {
			t.Errorf("%s has the name %q", r.ID, doc.Name)
		}
		for _, text := range []string{doc.Short, doc.Full, doc.Text, doc.Markdown} {
			if text == "" || len(text) > 5000 {
				t.Errorf("%s: a text of %d bytes", r.ID, len(text))
			}
		}
		if !strings.Contains(doc.Text, r.Doc.Fix) || !strings.Contains(doc.Markdown, "docs/rules/"+r.ID+".md") || string(doc.Severity) != r.Severity.String() {
			t.Errorf("%s: %+v", r.ID, doc)
		}
	}
	if got := ruleDoc("MVP101").Name; got != "gate-off-on-running" {
		t.Errorf("MVP101 is %s", got)
	}
}

// The rules run once for the report, and once more for each finding that has a fix and for what must come along with it.
func TestSARIFFixesCostOneRunEach(t *testing.T) {
	rule, _ := checks.Find("MVP001")
	runs, run := 0, rule.Run
	rule.Run = func(p *checks.Pass) {
		runs++
		run(p)
	}
	defer func() { rule.Run = run }()
	const head = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\n" +
		"controlPlaneEndpoint: api.example:6443\n"
	for name, test := range map[string]struct {
		text         string
		fixes, want  int
		only, format string
	}{
		"no fixes asked for":        {text: head, format: "json", want: 1},
		"the CA needs the gate":     {text: head, format: "sarif", fixes: 2, want: 1 + 1 + 2},
		"some rules only":           {text: head, format: "sarif", only: "MVP001,MVP101", fixes: 1, want: 1 + 1 + 1},
		"independent of each other": {text: head + gateAndCA + "scheduler:\n  extraArgs:\n  - {name: v, value: 2}\n  - {name: a, value: 3}\n", format: "sarif", fixes: 2, want: 1 + 2},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"check", "-o", test.format, writeFile(t, filepath.Join(t.TempDir(), "cluster.yaml"), test.text)}
			if test.only != "" {
				args = append(args, "--only", test.only)
			}
			runs = 0
			r := runMain(t, args...)
			if fixes := strings.Count(r.out, `"artifactChanges"`); fixes != test.fixes || runs != test.want {
				t.Errorf("%d fixes in %d runs of the rules, want %d in %d\n%s", fixes, runs, test.fixes, test.want, r.out)
			}
		})
	}
}

const gateAndCA = "apiServer:\n  extraArgs:\n  - {name: feature-gates, value: UnknownVersionInteroperabilityProxy=true}\n" +
	"  - {name: peer-ca-file, value: /etc/kubernetes/pki/ca.crt}\n"

// Each output has options of its own: that standard error has told of the errors concerns standard output only.
func TestOptionsOfOutputs(t *testing.T) {
	dir := t.TempDir()
	bad := writeFile(t, filepath.Join(dir, "bad.yaml"), "a: b: c\n")
	text, page := filepath.Join(dir, "report.txt"), filepath.Join(dir, "report.html")
	for _, outputs := range [][]string{{"-o", "text", "-o", "html=" + page}, {"-o", "html=" + page, "-o", "text"}} {
		if got := runMain(t, append(append([]string{"check"}, outputs...), bad)...); strings.Contains(got.out, "cannot be read: ") {
			t.Errorf("%q: told twice:\n%s", outputs, got.out)
		}
	}
	got := runMain(t, "check", "-o", "json", "-o", "text="+text, bad)
	written, err := os.ReadFile(text)
	if err != nil || !strings.Contains(string(written), ": error: cannot be read: ") {
		t.Errorf("%v: the file does not tell of the error:\n%s", err, written)
	}
	if n := strings.Count(got.err, "bad.yaml"); n != 1 {
		t.Errorf("standard error tells of it %d times:\n%s", n, got.err)
	}
}

// What standard error says of a file stands in the log of a job where nothing is taken for a command.
func TestGitHubComplaints(t *testing.T) {
	bad := writeFile(t, filepath.Join(t.TempDir(), "x ##[add-mask]y.yaml"), "a: b: c\n")
	var log bytes.Buffer
	Main(t.Context(), []string{"mvpcheck", "check", "-o", "github", bad}, Streams{In: strings.NewReader(""), Out: &log, Err: &log})
	before, rest, _ := strings.Cut(log.String(), "::stop-commands::")
	token, quoted, _ := strings.Cut(rest, "\n")
	quoted, after, ok := strings.Cut(quoted, "::"+token+"::\n")
	if !ok || strings.Contains(before, "##[") || !strings.Contains(quoted, "mvpcheck: ") || strings.Contains(after, "mvpcheck: "+bad) {
		t.Errorf("the complaint is not where commands are stopped:\n%s", log.String())
	}
}
