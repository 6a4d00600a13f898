package probe

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/mvpcheck/mvpcheck/internal/evidence"
)

// The media types of discovery documents. The server takes the first that it knows: a server of before 1.35 does not
// know the profile and gives its own resources, which is what the profile asks for.
const (
	acceptMerged = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
	acceptLocal = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer," + acceptMerged
)

// maxResources bounds what a document lists.
const maxResources = 50_000

// discovery is what a document of aggregated discovery, apidiscovery.k8s.io v2 or v2beta1, says.
type discovery struct {
	evidence.Document
	// noGet are the resources that cannot be read by name: a GET of tokenreviews/NAME is answered as if there were no
	// such resource by a server that has it (measured on 1.36.3).
	noGet []evidence.Resource
	// unreadable are their places while the document is being read.
	unreadable []int
}

// discovered is what is read of a resource or subresource.
type discovered struct {
	Resource     string `json:"resource"`
	Subresource  string `json:"subresource"`
	Scope        string `json:"scope"`
	Verbs        verbs  `json:"verbs"`
	Subresources []struct {
		Subresource string `json:"subresource"`
		Verbs       verbs  `json:"verbs"`
	} `json:"subresources"`
}

// verbs tells whether get is among the verbs of a resource; where there are none, nothing is known.
type verbs struct{ known, get bool }

func (v *verbs) UnmarshalJSON(text []byte) error {
	v.known, v.get = true, bytes.Contains(text, []byte(`"get"`))
	return nil
}

// parseDiscovery reads an aggregated discovery document.
func parseDiscovery(r io.Reader) (*discovery, error) {
	var (
		doc  discovery
		kind string
	)
	s := newJSONStream(r)
	err := s.object(func(name string) error {
		switch name {
		case "kind":
			return s.decode(&kind)
		case "items":
			return s.array(func() error { return doc.readGroup(s) })
		}
		return s.skip()
	})
	if err == nil {
		err = s.end()
	}
	switch {
	case errors.Is(err, errNotJSON):
		return nil, errors.New("the answer is not JSON of a discovery document")
	case err != nil:
		return nil, err
	case kind != "APIGroupDiscoveryList":
		return nil, errors.New("the answer is not aggregated discovery (kind APIGroupDiscoveryList)")
	}
	for _, i := range doc.unreadable {
		doc.noGet = append(doc.noGet, doc.Resources[i])
	}
	slices.SortFunc(doc.Resources, evidence.CompareResources)
	doc.Resources = slices.CompactFunc(doc.Resources,
		func(a, b evidence.Resource) bool { return evidence.CompareResources(a, b) == 0 })
	slices.Sort(doc.Stale)
	doc.Stale = slices.Compact(doc.Stale)
	doc.State = evidence.OK
	return &doc, nil
}

// readGroup reads one item of the list. The names may stand after what they name.
func (d *discovery) readGroup(s *jsonStream) error {
	first := len(d.Resources)
	var metadata struct {
		Name string `json:"name"`
	}
	var stale []string
	err := s.object(func(name string) error {
		switch name {
		case "metadata":
			return s.decode(&metadata)
		case "versions":
			return s.array(func() error {
				version, fresh, err := d.readVersion(s)
				if !fresh {
					stale = append(stale, version)
				}
				return err
			})
		}
		return s.skip()
	})
	for i := first; i < len(d.Resources); i++ {
		d.Resources[i].Group = metadata.Name
	}
	for _, version := range stale {
		d.Stale = append(d.Stale, evidence.Resource{Group: metadata.Name, Version: version}.GroupVersion())
	}
	return err
}

func (d *discovery) readVersion(s *jsonStream) (version string, fresh bool, err error) {
	first := len(d.Resources)
	var freshness string
	err = s.object(func(name string) error {
		switch name {
		case "version":
			return s.decode(&version)
		case "freshness":
			return s.decode(&freshness)
		case "resources":
			return s.array(func() error {
				var r discovered
				if err := s.decode(&r); err != nil {
					return err
				}
				return d.add(&r)
			})
		}
		return s.skip()
	})
	for i := first; i < len(d.Resources); i++ {
		d.Resources[i].Version = version
	}
	return version, freshness != "Stale", err
}

func (d *discovery) add(r *discovered) error {
	if len(d.Resources)+1+len(r.Subresources) > maxResources {
		return fmt.Errorf("the document lists more than %d resources", maxResources)
	}
	list := func(name string, v verbs) {
		if v.known && !v.get {
			d.unreadable = append(d.unreadable, len(d.Resources))
		}
		d.Resources = append(d.Resources, evidence.Resource{Resource: name, Namespaced: r.Scope == "Namespaced"})
	}
	list(r.Resource, r.Verbs)
	for _, sub := range r.Subresources {
		list(r.Resource+"/"+sub.Subresource, sub.Verbs)
	}
	return nil
}

// documents parses and keeps each document once: most servers of a control plane give the same bytes.
type documents struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]func() (*discovery, error)
	noGet map[evidence.Resource]bool
	held  sync.Pool // of *bytes.Buffer
}

// maxHeld bounds the documents that are held until it is known whether another server has given the same. Longer ones
// are parsed as they come.
const maxHeld = 1 << 20

// read reads a document.
func (d *documents) read(body io.Reader) (evidence.Document, error) {
	text, ok := d.held.Get().(*bytes.Buffer)
	if !ok {
		text = &bytes.Buffer{}
	}
	defer d.held.Put(text)
	text.Reset()
	var digest [sha256.Size]byte
	parse := func() (*discovery, error) { return parseDiscovery(text) }
	switch _, err := io.CopyN(text, body, maxHeld); {
	case errors.Is(err, io.EOF):
		digest = sha256.Sum256(text.Bytes())
	case err != nil:
		return evidence.Document{}, err
	default:
		hash := sha256.New()
		doc, err := parseDiscovery(io.TeeReader(io.MultiReader(text, body), hash))
		if err != nil {
			return evidence.Document{}, err
		}
		digest = [sha256.Size]byte(hash.Sum(nil))
		parse = func() (*discovery, error) { return doc, nil }
	}
	doc, err := d.once(digest, parse)()
	if err != nil {
		return evidence.Document{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range doc.noGet {
		d.noGet = put(d.noGet, r, true)
	}
	return doc.Document, nil
}

func (d *documents) once(digest [sha256.Size]byte, parse func() (*discovery, error)) func() (*discovery, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.known[digest]
	if !ok {
		known = sync.OnceValues(parse)
		d.known = put(d.known, digest, known)
	}
	return known
}

// readable tells whether a named GET of a resource makes sense.
func (d *documents) readable(r evidence.Resource) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.noGet[r]
}
