package probe

import (
	"fmt"
	"testing"
	"time"
	"strings"
	"net/http"
)

func TestTmpBig(t *testing.T) {
	c := newCluster(t)
	text := string(discoveryJSON(manyResources(45000)))
	z := compressed([]byte(text))
	fmt.Println(len(text)>>20, len(z)>>10)
	for i := range 50 {
		f := c.newFake(fmt.Sprint(i), "v1.36.3", nil, at("/apis", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(z)
		}))
		c.listed = append(c.listed, f)
	}
	stop := watchHeap()
	start := time.Now()
	cp := mustAsk(t, Options{Config: c.config(c.listed[0]), Timeout: 100*time.Second})
	fmt.Println(time.Since(start), stop()>>20, "MiB", cp.Servers[3].Local.Reason, len(cp.Servers[3].Local.Resources))
	_ = strings.Repeat
}
