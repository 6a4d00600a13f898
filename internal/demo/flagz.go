package demo

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
)

// flagzType is the media type of the flags for programs.
const flagzType = "application/json;g=config.k8s.io;v=v1beta1;as=Flagz"

// serveFlagz answers /flagz with the flags in force: the command line over the defaults, as pflag prints values.
func (p *process) serveFlagz(w http.ResponseWriter, r *http.Request) {
	flags := maps.Clone(p.recorded.Flags)
	for name, recorded := range flags {
		switch set := p.values(name); {
		case len(set) == 0:
		case strings.HasPrefix(recorded, "["):
			flags[name] = "[" + strings.Join(set, ",") + "]"
		case name == release.FlagFeatureGates:
			// Gates without a component belong to the one that has no name.
			flags[name] = ":" + strings.Join(set, ",")
		default:
			flags[name] = set[len(set)-1]
		}
	}
	if strings.Contains(r.Header.Get("Accept"), "as=Flagz") {
		w.Header().Set("Content-Type", flagzType)
		writeJSON(w, r, http.StatusOK, object{
			"kind": "Flagz", "apiVersion": "config.k8s.io/v1beta1", "metadata": object{"name": "apiserver"}, "flags": flags,
		})
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprint(w, "\napiserver flagz\nWarning: This endpoint is not meant to be machine parseable, "+
		"has no formatting compatibility guarantees and is for debugging purposes only.\n")
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		fmt.Fprintf(w, "%s:%s\n", name, flags[name])
	}
}
