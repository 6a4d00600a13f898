package demo

import (
	"cmp"
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
	for part := range strings.SplitSeq(cmp.Or(r.Header.Get("Accept"), "*/*"), ",") {
		media, params, err := mime.ParseMediaType(part)
		isJSON := err == nil && media == "application/json"
		switch {
		case err == nil && (media == "*/*" || media == "application/*"), isJSON && params["as"] == "":
			return plainJSON
		case !isJSON, !discovery:
		case params["g"] != "apidiscovery.k8s.io", params["v"] != "v2", params["as"] != "APIGroupDiscoveryList":
		case params["profile"] == "nopeer":
			return aggregatedNoPeer
		default:
			return aggregated
		}
	}
	return notAcceptable
}
