package demo

import (
	"mime"
	"net/http"
	"strings"
)

// aggregatedType is the media type of aggregated discovery documents.
const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// A shape is the form of an answer that a client asks for.
type shape uint8

const (
	notAcceptable shape = iota
	plainJSON
	aggregated
	aggregatedNoPeer
)

// negotiate returns the first form of the Accept header that is to be had here: JSON, and for discovery documents the
// aggregated ones. v2beta1 of these is no longer served by 1.35.
func negotiate(r *http.Request, discovery bool) shape {
	accept := r.Header.Get("Accept")
	if accept == "" {
		return plainJSON
	}
	for part := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		switch media {
		case "*/*", "application/*":
			return plainJSON
		case "application/json":
		default:
			continue
		}
		switch {
		case params["as"] == "":
			return plainJSON
		case discovery && params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" && params["as"] == "APIGroupDiscoveryList":
			if params["profile"] == "nopeer" {
				return aggregatedNoPeer
			}
			return aggregated
		}
	}
	return notAcceptable
}
