package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadStatus(t *testing.T) {
	known := []int{33, 34, 35, 36, 37}
	for apiVersion, want := range map[string][]ReadStatus{
		"kubeadm.k8s.io/v1alpha1": {Refuses, Refuses, Refuses, Refuses, Refuses},
		"kubeadm.k8s.io/v1beta1":  {Refuses, Refuses, Refuses, Refuses, Refuses},
		"kubeadm.k8s.io/v1beta2":  {Refuses, Refuses, Refuses, Refuses, Refuses},
		"kubeadm.k8s.io/v1beta3":  {ReadsDeprecated, ReadsDeprecated, ReadsDeprecated, ReadsDeprecated, Refuses},
		"kubeadm.k8s.io/v1beta4":  {Reads, Reads, Reads, Reads, Reads},
		"v1beta4":                 {Reads, Reads, Reads, Reads, Reads},
		"kubeadm.k8s.io/v1":       {Refuses, Refuses, Refuses, Refuses, Experimental},
		"kubeadm.k8s.io/v1beta5":  {Refuses, Refuses, Refuses, Refuses, Refuses},
		"":                        {Refuses, Refuses, Refuses, Refuses, Refuses},
	} {
		var got []ReadStatus
		for _, minor := range known {
			got = append(got, Kubeadm(OfMinor(minor)).ReadStatus(apiVersion))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q at 1.33 to 1.37 (-want +got):\n%s", apiVersion, diff)
		}
	}
	for _, tt := range []struct {
		apiVersion string
		minor      int
		want       ReadStatus
	}{
		{"v1beta2", 14, Refuses}, {"v1beta2", 15, Reads}, {"v1beta2", 22, ReadsDeprecated}, {"v1beta2", 26, ReadsDeprecated}, {"v1beta2", 27, Refuses},
		{"v1beta3", 21, Refuses}, {"v1beta3", 22, Reads}, {"v1beta3", 31, ReadsDeprecated},
		{"v1beta4", 30, Refuses}, {"v1beta4", 31, Reads},
	} {
		if got := Kubeadm(OfMinor(tt.minor)).ReadStatus(tt.apiVersion); got != tt.want {
			t.Errorf("kubeadm 1.%d and %s: %s, want %s", tt.minor, tt.apiVersion, got, tt.want)
		}
	}
}

func TestReaders(t *testing.T) {
	type readers struct{ First, Last string }
	for apiVersion, want := range map[string]readers{
		"v1alpha1":               {"1.10", "1.11"},
		"v1alpha2":               {"1.11", "1.12"},
		"v1alpha3":               {"1.12", "1.14"},
		"v1beta1":                {"1.13", "1.21"},
		"kubeadm.k8s.io/v1beta2": {"1.15", "1.26"},
		"v1beta3":                {"1.22", "1.36"},
		"v1beta4":                {"1.31", ""},
		"v1":                     {"1.37", ""},
		"v2":                     {"", ""},
	} {
		var got readers
		const beyond = 40
		for minor := 8; minor <= beyond; minor++ {
			switch r := OfMinor(minor); {
			case Kubeadm(r).ReadStatus(apiVersion) == Refuses:
			case got.First == "":
				got.First = r.String()
				fallthrough
			default:
				got.Last = r.String()
			}
		}
		if got.Last == OfMinor(beyond).String() {
			got.Last = ""
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", apiVersion, diff)
		}
	}
}

func TestMigrationHint(t *testing.T) {
	const run = "run `kubeadm config migrate --old-config OLD --new-config NEW` with a kubeadm that still reads it: "
	for apiVersion, want := range map[string]string{
		"v1alpha1":               run + "kubeadm 1.11 writes v1alpha2, then kubeadm 1.12 writes v1alpha3, then kubeadm 1.13 to 1.14 writes v1beta1, then kubeadm 1.15 to 1.21 writes v1beta2, then kubeadm 1.22 to 1.26 writes v1beta3, then kubeadm 1.31 to 1.36 writes v1beta4",
		"v1beta1":                run + "kubeadm 1.15 to 1.21 writes v1beta2, then kubeadm 1.22 to 1.26 writes v1beta3, then kubeadm 1.31 to 1.36 writes v1beta4",
		"kubeadm.k8s.io/v1beta2": run + "kubeadm 1.22 to 1.26 writes v1beta3, then kubeadm 1.31 to 1.36 writes v1beta4",
		"v1beta3":                run + "kubeadm 1.31 to 1.36 writes v1beta4",
		"v1beta4":                "",
		"v1":                     "",
		"v2":                     "",
	} {
		if diff := cmp.Diff(want, MigrationHint(apiVersion)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", apiVersion, diff)
		}
	}
}

func TestKubeadmGates(t *testing.T) {
	for minor, want := range map[int]int{32: 0, 33: 5, 34: 5, 35: 4, 36: 3, 37: 1, 99: 0} {
		if got := KubeadmGates(OfMinor(minor)); len(got) != want {
			t.Errorf("kubeadm 1.%d has gates %v, want %d", minor, got, want)
		}
	}
	if diff := cmp.Diff([]string{"NodeLocalCRISocket", "PublicKeysECDSA", "RootlessControlPlane"}, KubeadmGates(OfMinor(36))); diff != "" {
		t.Error(diff)
	}
}
