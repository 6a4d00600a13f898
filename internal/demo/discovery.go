package demo

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A peer is a server that was read.
type peer struct {
	serves map[schema.GroupVersionResource]bool
	// groups is its document of all groups but core.
	groups []byte
}

// add adds what an aggregated document lists.
func (p *peer) add(document []byte) error {
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Versions []struct {
				Version   string
				Resources []struct{ Resource string }
			}
		}
	}
	if err := json.Unmarshal(document, &list); err != nil {
		return err
	}
	for _, g := range list.Items {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				p.serves[schema.GroupVersionResource{Group: g.Metadata.Name, Version: v.Version, Resource: r.Resource}] = true
			}
		}
	}
	return nil
}

// merged is the server's own document with what peers have. Of the recorded releases the newer has all that the older has, so
// that it is the longest document of them all. The core group is never merged.
func (p *process) merged(own []byte) []byte {
	p.peers.mu.Lock()
	defer p.peers.mu.Unlock()
	for _, peer := range p.peers.known {
		if len(peer.groups) > len(own) {
			own = peer.groups
		}
	}
	return own
}

// serveAggregated answers with an aggregated document, with or without what peers have.
func (p *process) serveAggregated(w http.ResponseWriter, r *http.Request, path string) {
	form := negotiate(r, true)
	if form == notAcceptable {
		writeStatus(w, r, notAcceptableStatus())
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, p.recorded.Aggregated[path]); err != nil {
		panic(err) // it was read as JSON
	}
	body := compact.Bytes()
	if path == "/apis" && form == aggregated {
		body = p.merged(body)
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
