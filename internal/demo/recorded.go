package demo

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// recorded is what real servers answered: a file a release, and the objects that all servers share. test/lab/demo
// compares it with what they answer now, and makes it anew with -update. Words in $(…) stand for what varies; see fill.
//
//go:embed recorded
var recorded embed.FS

// A recording is what a server of a release answered.
type recording struct {
	// Documents are the answers to paths, Aggregated those in the aggregated form of discovery, without what peers
	// have.
	Documents, Aggregated map[string]json.RawMessage
	// Health are the lines of /readyz, /livez and /healthz by default, HandOff those of a server that hands off.
	Health, HandOff map[string][]string
	// Metrics are the lines of the families that tell of the hand-off. A counter has one series, whose labels vary.
	Metrics []string
	// Flags are those of /flagz by their names, nil where it is not served. Those of kubeadm's command line are empty.
	Flags map[string]string

	// resources are those of the documents, subresources among them.
	resources map[schema.GroupVersionResource]metav1.APIResource
}

func readRecording(of release.Release) *recording {
	r := &recording{resources: map[schema.GroupVersionResource]metav1.APIResource{}}
	readRecorded(of.MinorString(), r)
	for _, text := range r.Documents {
		// Other documents have no resources.
		var list metav1.APIResourceList
		decode(text, &list)
		for _, res := range list.APIResources {
			r.resources[schema.FromAPIVersionAndKind(list.GroupVersion, "").GroupVersion().WithResource(res.Name)] = res
		}
	}
	return r
}

func readRecorded(name string, into any) {
	text, err := recorded.ReadFile("recorded/" + name + ".json")
	if err != nil {
		panic(err) // it is embedded
	}
	decode(text, into)
}

func decode(text []byte, into any) {
	if err := json.Unmarshal(text, into); err != nil {
		panic(err) // it was recorded as JSON
	}
}

// serves tells whether the recording is of a server that serves these resources and no others.
func (r *recording) serves(resources []release.Resource) bool {
	for _, res := range resources {
		version := schema.GroupVersion{Group: res.Group, Version: res.Version}
		if _, ok := r.resources[version.WithResource(res.Name)]; !ok {
			return false
		}
	}
	return len(resources) == len(r.resources)
}

// hasGroup tells whether the server has anything of a group.
func (r *recording) hasGroup(group string) bool {
	return group == "" || r.Documents["/apis/"+group] != nil
}

// fill puts in the values for the words that stand for them. Where a word is all of a string of JSON, that becomes the
// value's JSON.
func fill(text string, values map[string]any) string {
	var pairs []string
	for name, value := range values {
		word := "$(" + name + ")"
		asJSON, err := json.Marshal(value)
		if err != nil {
			panic(err) // nothing here is of a kind that JSON does not have
		}
		pairs = append(pairs, `"`+word+`"`, string(asJSON), word, fmt.Sprint(value))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
