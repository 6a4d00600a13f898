//go:build lab

package commands

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	typed "github.com/mvpcheck/mvpcheck/test/commands"
	"github.com/mvpcheck/mvpcheck/test/lab"
)

var helpFlag = regexp.MustCompile(`(?m)^ +(?:(-\w), )?(--[\w-]+)`)

// TestKubeadm: what the documentation tells people to type to kubeadm is there in the releases that it is about.
func TestKubeadm(t *testing.T) {
	for _, minor := range []string{"1.35", "1.36"} {
		r, err := lab.FindRelease(minor)
		if err != nil {
			t.Fatal(err)
		}
		kubeadm := r.Binary(t, "kubeadm")
		for command, flags := range typed.KubeadmFlags() {
			help, err := exec.Command(kubeadm, append(strings.Fields(command), "--help")...).CombinedOutput()
			usage := regexp.MustCompile(`(?m)^  kubeadm ` + regexp.QuoteMeta(command) + `\b`)
			if err != nil || !usage.Match(help) {
				t.Errorf("%s: kubeadm %s: %v\n%s", minor, command, err, help)
				continue
			}
			var has []string
			for _, m := range helpFlag.FindAllSubmatch(help, -1) {
				has = append(has, string(m[1]), string(m[2]))
			}
			for _, flag := range flags {
				if !slices.Contains(has, flag) {
					t.Errorf("%s: kubeadm %s has no flag %s", minor, command, flag)
				}
			}
		}
	}
}
