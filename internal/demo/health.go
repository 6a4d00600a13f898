package demo

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// serveHealth answers /readyz, /livez and /healthz. The servers are always well. One of the checks of a server that
// hands off comes with the gate alone.
func (p *process) serveHealth(w http.ResponseWriter, r *http.Request, path string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	if !r.URL.Query().Has("verbose") {
		fmt.Fprint(w, "ok")
		return
	}
	for _, line := range p.recorded.HandOff[path] {
		has := slices.Contains(p.recorded.Health[path], line)
		if strings.Contains(line, evidence.HookReconciler) {
			has = p.gate
		}
		if has || p.transport != nil {
			fmt.Fprintln(w, line)
		}
	}
}
