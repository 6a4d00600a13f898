package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindServer(t *testing.T) {
	tests := []struct {
		name       string
		words      []string
		want       []string
		unreadable bool
	}{
		{"plain", []string{"kube-apiserver", "--v=2", "--profiling=false"}, []string{"--v=2", "--profiling=false"}, false},
		{"value in the next word", []string{"/usr/bin/kube-apiserver", "--v", "2", "--profiling", "--secure_port", "443"}, []string{"--v=2", "--profiling=true", "--secure_port=443"}, false},
		{"launcher", []string{"/go-runner", "--log-file=x", "kube-apiserver", "--v=2"}, []string{"--v=2"}, false},
		{"args only", []string{"--v=2"}, []string{"--v=2"}, false},
		{"shell", []string{"sh", "-c", "exec kube-apiserver --v=2 --audit-log-path='/a b' >/log 2>&1"}, []string{"--v=2", "--audit-log-path=/a b"}, false},
		{"shell line continuation", []string{"/bin/bash", "-ec", "sleep 1; /usr/bin/kube-apiserver \\\n  --v=2 \\\n  \"--profiling=\"false || exit 1"}, []string{"--v=2", "--profiling=false"}, false},
		{"shell escapes", []string{"sh", "-c", `kube-apiserver --a=b\ c --d="e\"f\x"`}, []string{"--a=b c", `--d=e"f\x`}, false},
		{"shell variable", []string{"sh", "-c", "kube-apiserver --advertise-address=${HOST_IP}"}, []string{"--advertise-address=${HOST_IP}"}, false},
		{"shell tilde and pattern", []string{"sh", "-c", "kube-apiserver --v=~ --d=@(a|b)"}, []string{"--v=~", "--d=@(a|b)"}, false},
		{"shell without the server", []string{"sh", "-c", "start-apiserver --v=2"}, nil, true},
		{"shell syntax error", []string{"sh", "-c", "kube-apiserver ("}, nil, true},
		{"another program", []string{"hyperkube", "apiserver", "--v=2"}, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m Manifest
			var words []Word
			for _, w := range tt.words {
				words = append(words, Word{Text: w})
			}
			m.findServer(words)
			var got []string
			if flags := m.Flags(); len(flags) > 0 {
				got = flags.Args()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || m.Unreadable != tt.unreadable {
				t.Errorf("unreadable %t, flags (-want +got):\n%s", m.Unreadable, diff)
			}
		})
	}
}
