package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/cli"
	"github.com/mvpcheck/mvpcheck/internal/report"
)

const readingProbe = "docs/guide/reading-probe.md"

// firstCells returns the first cells of the table below a heading.
func firstCells(t *testing.T, page, title string) []string {
	t.Helper()
	data, err := os.ReadFile(repo + page)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "\n## "+title+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var cells []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(text, -1) {
		cells = append(cells, strings.Trim(m[1], "`"))
	}
	if len(cells) < 3 {
		t.Fatalf("%s: no table below %q", page, title)
	}
	return cells[2:] // without the heads and the line below them
}

// pattern is what a cell matches: N is a number, NAME one or more servers, … anything.
func pattern(cell string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.NewReplacer("N resources", `\d+ (sub)?resources?`, "NAME", ".+", "…", ".+").Replace(regexp.QuoteMeta(cell)) + "$")
}

// probed judges all evidence that was recorded.
func probed(t *testing.T) map[string]report.ProbeReport {
	t.Helper()
	files, err := filepath.Glob(repo + "testdata/evidence/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no evidence: %v", err)
	}
	out := map[string]report.ProbeReport{}
	for _, file := range files {
		var stdout, stderr bytes.Buffer
		cli.Main(context.Background(), []string{"mvpcheck", "probe", "-o", "json", "--replay", file},
			cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
		var r report.ProbeReport
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v: %s", file, err, stderr.String())
		}
		out[filepath.Base(file)] = r
	}
	return out
}

// unrecorded are the results of which testdata/evidence has no control plane.
var unrecorded = []string{
	"cannot connect to its peers", "sends peer requests to a proxy", "refused by its peers", "not fit for the hand-off",
	"cannot tell whether it hands requests on", "may ask peers that lack them for …",
}

// TestProbeWords: each result that a server was given in the lab has its row in the guide, and so has each verdict; each row
// but a few was given.
func TestProbeWords(t *testing.T) {
	results, verdicts := firstCells(t, readingProbe, "Results"), firstCells(t, readingProbe, "The last line")
	said := map[string]bool{}
	says := func(cells []string, words ...string) bool {
		any := false
		for _, cell := range cells {
			if slices.ContainsFunc(words, pattern(cell).MatchString) {
				said[cell], any = true, true
			}
		}
		return any
	}
	for file, r := range probed(t) {
		for _, s := range r.Servers {
			for word := range strings.SplitSeq(s.Says, "; ") {
				if !says(results, word, "ok, "+word) {
					t.Errorf("%s: the guide does not explain %q", file, word)
				}
			}
		}
		if !says(verdicts, r.Summary.Text) {
			t.Errorf("%s: the guide does not explain %q", file, r.Summary.Text)
		}
	}
	for _, cell := range append(results, verdicts...) {
		if said[cell] == slices.Contains(unrecorded, cell) {
			t.Errorf("%q: recorded is %t, and the list says otherwise", cell, said[cell])
		}
	}
}

// TestProbeColumns: the guide has a row for each column.
func TestProbeColumns(t *testing.T) {
	columns := firstCells(t, readingProbe, "The columns")
	var out bytes.Buffer
	cli.Main(context.Background(), []string{"mvpcheck", "probe", "--replay", repo + "testdata/evidence/H1.json"},
		cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	head := strings.Join(columns, "  ")
	for line := range strings.Lines(out.String()) {
		if strings.Join(regexp.MustCompile(`  +`).Split(strings.TrimSpace(line), -1), "  ") == head {
			return
		}
	}
	t.Errorf("no line %q in\n%s", head, out.String())
}

// TestUpgradeTable: what the new release adds is what plan knows.
func TestUpgradeTable(t *testing.T) {
	const page = "docs/guide/before-an-upgrade.md"
	data, err := os.ReadFile(repo + page)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (1\.\d+) to (1\.\d+) \| (.*) \|$`).FindAllStringSubmatch(string(data), -1)
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		var out, errs bytes.Buffer
		cli.Main(context.Background(), []string{"mvpcheck", "plan", "-o", "json", "--from", row[1], "--to", row[2], repo + "testdata/plan/plain.yaml"},
			cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		var plan report.PlanReport
		if err := json.Unmarshal(out.Bytes(), &plan); err != nil {
			t.Fatalf("%v: %s", err, errs.String())
		}
		told := regexp.MustCompile(`[a-z/]+`).FindAllString(row[3], -1)
		var added []string
		for _, r := range plan.Added {
			resource, sub, _ := strings.Cut(r.Resource, "/")
			if sub == "" || !slices.Contains(added, resource) {
				added = append(added, r.Resource)
			}
		}
		for _, resource := range added {
			if !slices.Contains(told, resource) {
				t.Errorf("%s to %s adds %s", row[1], row[2], resource)
			}
		}
		// What the row names is added: its long words are resources.
		for _, word := range told {
			if len(word) > 11 && !slices.Contains(added, word) && !strings.HasPrefix(word, "admissionregistration") {
				t.Errorf("%s to %s does not add %s", row[1], row[2], word)
			}
		}
		if (row[3] == "nothing") != (len(added) == 0) {
			t.Errorf("%s to %s adds %q", row[1], row[2], added)
		}
	}
}

// TestSymptomLogs: what the guide says of kube-apiserver's last words, real servers have said in the lab, which holds them
// against the texts of its table.
func TestSymptomLogs(t *testing.T) {
	lab, err := os.ReadFile(repo + "test/lab/controlplane/startup_lab_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range firstCells(t, "docs/guide/symptoms.md", "kube-apiserver does not start") {
		text := strings.TrimPrefix(regexp.MustCompile(`:? ?-*NAME$`).ReplaceAllString(cell, ""), "--peer-ca-file ")
		if len(text) < 10 || !strings.Contains(string(lab), text) {
			t.Errorf("the lab has seen no server say %q", text)
		}
	}
}

// TestPlanLimit: the number of nodes that the guide names is the greatest.
func TestPlanLimit(t *testing.T) {
	data, err := os.ReadFile(repo + "docs/guide/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`At most (\d+) nodes\.`).FindStringSubmatch(string(data))
	if m == nil {
		t.Fatal("limits.md names no number of nodes")
	}
	most, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	for nodes, want := range map[int]bool{most: true, most + 1: false} {
		var out bytes.Buffer
		code := cli.Main(context.Background(), []string{"mvpcheck", "plan", "--nodes", strconv.Itoa(nodes), repo + "testdata/plan/patched.yaml"},
			cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
		if (code == 0) != want || !want && !strings.Contains(out.String(), "at most "+m[1]+" ") {
			t.Errorf("%d nodes: exit code %d, %s", nodes, code, out.String())
		}
	}
}
