package demo

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
)

// serveAggregated answers with an aggregated document, with or without what peers have.
func (p *process) serveAggregated(w http.ResponseWriter, r *http.Request, path string, nopeer bool) {
	document := p.recorded.Aggregated[path]
	if path == "/apis" && !nopeer {
		document = p.merged()
	}
	body, err := json.Marshal(document) // which takes the line breaks out
	if err != nil {
		panic(err) // it was read as JSON
	}
	etag := fmt.Sprintf(`"%X"`, sha512.Sum512(body))
	h := w.Header()
	h.Set("Cache-Control", "public")
	h.Set("Vary", "Accept")
	h.Set("Etag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", aggregatedType)
	_, _ = w.Write(body)
}

// merged is the server's document of all groups but core, with what peers have. Of the recorded releases a newer one
// has all that an older one has, so that it is the longest document of them all.
func (p *process) merged() json.RawMessage {
	document := p.recorded.Aggregated["/apis"]
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, peer := range p.peers {
		if theirs := peer.recorded.Aggregated["/apis"]; len(theirs) > len(document) {
			document = theirs
		}
	}
	return document
}
