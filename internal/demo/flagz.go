package demo

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// flagzType is the media type of the flags for programs.
const flagzType = "application/json;g=config.k8s.io;v=v1beta1;as=Flagz"

// serveFlagz answers /flagz with the flags in force: the command line over the release's defaults.
func (p *process) serveFlagz(w http.ResponseWriter, r *http.Request) {
	flags := map[string]string{}
	for _, f := range p.release.Flags() {
		value := f.Default
		switch set := p.values(f.Name); {
		case len(set) == 0:
		case f.Again:
			value = strings.Join(set, ",")
		default:
			value = set[len(set)-1]
		}
		flags[f.Name] = shown(f.Type, value)
	}
	if strings.Contains(r.Header.Get("Accept"), "as=Flagz") {
		w.Header().Set("Content-Type", flagzType)
		writeBody(w, r, http.StatusOK, map[string]any{
			"kind": "Flagz", "apiVersion": "config.k8s.io/v1beta1", "metadata": map[string]string{"name": "apiserver"}, "flags": flags,
		})
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprint(w, "\napiserver flagz\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n")
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		fmt.Fprintf(w, "%s:%s\n", name, flags[name])
	}
}

// shown is a value as pflag prints one of its type.
func shown(kind, value string) string {
	switch kind {
	case "stringSlice", "stringArray", "int32Slice", "namedCertKey", "stringToString":
		return "[" + strings.Trim(value, "[]") + "]"
	case "colonSeparatedMultimapStringString":
		// Gates without a component belong to the one that has no name.
		if value != "" {
			return ":" + value
		}
	}
	return value
}
