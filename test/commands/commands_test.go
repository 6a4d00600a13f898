package commands

import "testing"

func TestScript(t *testing.T) {
	tests := []struct {
		script string
		ok     bool
	}{
		{"mvpcheck check --to 1.36 cluster.yaml", true},
		{"mvpcheck check --to=soon cluster.yaml", false},
		{"mvpcheck check --no-such-flag cluster.yaml", false},
		{"mvpcheck chekc cluster.yaml", false},
		{"mvpcheck probe -o json=out.json --wait 2m", true},
		{"mvpcheck probe -o jason", false},
		{"mvpcheck --version", true},
		{"mvpcheck explain MVP101", true},
		{"kubectl mvpcheck probe --wait soon", false},
		{"sudo mvpcheck check --root / a.yaml", true},
		{"sudo mvpcheck check --roots / a.yaml", false},
		{"cat a.yaml | mvpcheck check --to 1.36 - > out.txt; test $? -eq 1", true},
		{"if ! mvpcheck probe --wat 2m; then exit 1; fi", false},
		{"address=$(mvpcheck nope)", false},
		{"timeout 60 sh -c 'until mvpcheck probe --quite; do sleep 1; done'", false},
		{"kubeadm init phase control-plane apiserver --config a.yaml", true},
		{"kubeadm init phase control-plane scheduler --config a.yaml", false},
		{"kubeadm init phase upload-config kubeadm --confg a.yaml", false},
		{"kubeadm upgrade apply v1.36.3 --yes", true},
		{"kubeadm upgrade apply v1.36.3 v1.36.4", false},
		{"kubeadm upgrade", false},
		{"kubeadm upgrade node --config", false},
		{"kubectl -n kube-system get configmap kubeadm-config -o yaml", true},
		{"kubectl get --rav /readyz", false},
		{"kubectl frobnicate", false},
		{"kinder exec --name=x @cp1 -- mvpcheck probe --wait 2m", true},
		{"kinder exec --name=x @cp1 -- mvpcheck probe --wate 2m", false},
		{"kinder exec --name=x @cp9 -- true", false},
		{"kinder exec --name=x control-plane-2 -- sh -c 'kubeadm upgrade nod'", false},
		{"kinder exec --name=x worker-1 -- kubeadm upgrade node", true},
		{"kinder cp --name=x bin/mvpcheck @cp*:/usr/local/bin/mvpcheck", true},
		{"kinder cp --name=x @cp*:/a b", false},
		{"kinder cp --name=x a b", false},
		{"kinder do kubeadm-upgrade --only-node=x-control-plane-1 --upgrade-version=v1.36.3", true},
		{"kinder do kubeadm-downgrade", false},
		{"go run ./cmd/mvpcheck check --bad a.yaml", false},
		{"sh script.sh", false},
		{"unheard-of --flag", false},
		{"if true; then", false},
	}
	for _, tt := range tests {
		if err := Script(tt.script); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.script, err)
		}
	}
}

func TestTopic(t *testing.T) {
	for text, want := range map[string]bool{"kubeadm upgrade": true, "kubeadm upgrade node": false, "kubeadm upgrades": false, "make test": false} {
		if got := Topic(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
