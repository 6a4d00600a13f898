package demo

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

//go:embed kinds.txt
var kindsText string

// A kind is how discovery documents describe a resource or subresource.
type kind struct {
	// order is its place in the documents.
	order int
	// group and version are those of the answer's kind where they differ from the resource's.
	group, version, kind string
	singular             string
	verbs                []string
	short, categories    []string
}

func (k *kind) can(verb string) bool { return slices.Contains(k.verbs, verb) }

// kinds are the descriptions by group version and resource, as in "apps/v1 deployments".
var kinds = sync.OnceValue(func() map[string]*kind {
	all := map[string]*kind{}
	for line := range strings.Lines(kindsText) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		all[words[0]+" "+words[1]] = parseKind(len(all), words[2:])
	}
	return all
})

// parseKind reads the words behind a resource. What they may be is in the head of the file.
func parseKind(order int, words []string) *kind {
	k := &kind{order: order, kind: words[0]}
	// The kind of a deployments/scale is autoscaling/v1.Scale; groups have dots, too.
	if dot := strings.LastIndexByte(k.kind, '.'); dot >= 0 {
		k.group, k.version, _ = strings.Cut(k.kind[:dot], "/")
		k.kind = k.kind[dot+1:]
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		values := strings.Split(value, ",")
		switch key {
		case "singular":
			k.singular = value
		case "verbs":
			k.verbs = values
		case "short":
			k.short = values
		case "categories":
			k.categories = values
		}
	}
	return k
}

// A resource is one that a server has.
type resource struct {
	release.Resource
	*kind
}

// describe adds the descriptions to what a release serves, in the order of the documents.
func describe(served []release.Resource) ([]resource, error) {
	out := make([]resource, len(served))
	for i, r := range served {
		k, ok := kinds()[r.String()]
		if !ok {
			return nil, fmt.Errorf("%s: nothing is recorded of how it is described", r)
		}
		out[i] = resource{r, k}
	}
	slices.SortFunc(out, func(a, b resource) int { return a.order - b.order })
	return out, nil
}
