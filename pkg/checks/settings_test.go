package checks_test

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// TestSettings compares what the rules say of settings with what the real kube-apiserver did with them.
func TestSettings(t *testing.T) {
	file, err := os.Open("../../testdata/settings.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		releases, rest, _ := strings.Cut(line, " ")
		result, rest, _ := strings.Cut(rest, " ")
		for minor := range strings.SplitSeq(releases, ",") {
			var said []string
			for _, f := range settingFindings(t, minor, settingsOf(t, rest)) {
				said = append(said, f.Rule.ID+": "+f.Message)
			}
			if (len(said) > 0) != (result == "exits") {
				t.Errorf("settings.txt:%d: %s: the rules say: %q", n, line, said)
			}
		}
	}
}

// settingsOf splits a line's settings.
func settingsOf(t *testing.T, text string) (settings []string) {
	t.Helper()
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		word, rest, _ := strings.Cut(text, " ")
		if text[0] == '"' {
			prefix, err := strconv.QuotedPrefix(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			word, _ = strconv.Unquote(prefix)
			rest = text[len(prefix):]
		}
		settings, text = append(settings, word), rest
	}
	return settings
}

// settingFindings are the findings that kube-apiserver of a release does not start with such extraArgs.
func settingFindings(t *testing.T, minor string, settings []string) []checks.Finding {
	t.Helper()
	r, err := release.Parse(minor)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint:\n  advertiseAddress: 192.0.2.11\n---\n")
	b.WriteString("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\napiServer:\n  extraArgs:\n")
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		fmt.Fprintf(&b, "  - name: %q\n    value: %q\n", name, value)
	}
	in, err := config.Read("cluster.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	res := checks.Run(checks.Input{Cluster: in.Clusters[0], Pair: checks.Pair{From: r, To: r}}, checks.All())
	return slices.DeleteFunc(res.Findings, func(f checks.Finding) bool { return f.Consequence != checks.WillNotStart })
}
