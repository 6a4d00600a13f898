package config

import "testing"

// The outcomes are those of kubeadm config validate 1.34.4 to 1.37.2; the lab compares them again.
func TestRefused(t *testing.T) {
	const doc = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
	const kubelet = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
	tests := []struct {
		name, text string
		want       int
	}{
		{"plain", doc, 0},
		{"one leading separator", "---\n" + doc, 0},
		{"separator with comment", "--- # c\n" + doc, 0},
		{"two leading separators", "---\n---\n" + doc, 1},
		{"comment before the separator", "# comment\n---\n" + doc, 1},
		{"blank line before the separator", "\n---\n" + doc, 1},
		{"comment before the document", "# comment\n" + doc, 0},
		{"double separator between documents", doc + "---\n---\n" + kubelet, 0},
		{"comment between separators", doc + "---\n# c\n---\n" + kubelet, 1},
		{"separator at the end", doc + "---\n", 0},
		{"separator at the end without a newline", doc + "---", 0},
		{"separator and comment at the end", doc + "---\n# c\n", 1},
		{"separator and blank line at the end", doc + "---\n\n", 1},
		{"two separators at the end", doc + "---\n---\n", 1},
		{"flow style", "{apiVersion: kubeadm.k8s.io/v1beta4, kind: ClusterConfiguration}\n", 1},
		{"flow style behind a separator", "---\n{apiVersion: kubeadm.k8s.io/v1beta4, kind: ClusterConfiguration}\n", 0},
		{"flow style behind a comment", "# c\n{apiVersion: kubeadm.k8s.io/v1beta4, kind: ClusterConfiguration}\n", 0},
		{"JSON", `{"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration"}`, 0},
		{"core group", doc + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: x}\n", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, err := Read("x.yaml", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := in.Clusters[0].Refused(); len(got) != tt.want {
				t.Errorf("got %d problems, want %d: %v", len(got), tt.want, got)
			}
		})
	}
}
