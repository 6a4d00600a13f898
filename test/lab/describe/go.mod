// What tells of a release's flags, gates and group versions; each module below ../releases builds it.
module github.com/mvpcheck/mvpcheck/test/lab/describe

go 1.24.0

require (
	github.com/spf13/pflag v1.0.5
	k8s.io/apiextensions-apiserver v0.0.0
	k8s.io/apimachinery v0.0.0
	k8s.io/apiserver v0.0.0
	k8s.io/component-base v0.0.0
	k8s.io/kube-aggregator v0.0.0
	k8s.io/kubernetes v1.33.0
)
