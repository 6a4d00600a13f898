package probe

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// maxPiece bounds what is decoded at once: one resource of a document, one object of a list.
const maxPiece = 1 << 20

// maxItems bounds the objects of a list.
const maxItems = 10_000

var (
	errNotJSON   = errors.New("the answer is not JSON of the kind that was asked for")
	errLongPiece = errors.New("a part of the answer is longer than " + byteCount(maxPiece))
)

// A jsonStream reads JSON piece by piece. Neither the text is held nor all that it decodes to, which can be many times
// as long.
type jsonStream struct {
	dec *json.Decoder
	in  *pieceReader
}

func newJSONStream(r io.Reader) *jsonStream {
	in := &pieceReader{r: r}
	return &jsonStream{dec: json.NewDecoder(in), in: in}
}

// pieceReader ends the reading of a piece that is too long.
type pieceReader struct {
	r    io.Reader
	left int
	err  error
}

func (p *pieceReader) Read(b []byte) (n int, err error) {
	if p.left == 0 {
		p.err = errLongPiece
		return 0, p.err
	}
	n, err = p.r.Read(b[:min(len(b), p.left)])
	p.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

// failed tells what stopped the source from what is wrong with its text.
func (s *jsonStream) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case s.in.err != nil:
		return s.in.err
	}
	return errNotJSON
}

func (s *jsonStream) token() (json.Token, error) {
	s.in.left = maxPiece
	t, err := s.dec.Token()
	return t, s.failed(err)
}

// more tells whether the object or array goes on.
func (s *jsonStream) more() bool {
	s.in.left = maxPiece
	return s.dec.More()
}

// decode reads one value.
func (s *jsonStream) decode(v any) error {
	s.in.left = maxPiece
	return s.failed(s.dec.Decode(v))
}

func (s *jsonStream) skip() error {
	var value json.RawMessage
	return s.decode(&value)
}

// object reads an object, or null. It calls member for each name, which must read the value.
func (s *jsonStream) object(member func(name string) error) error {
	return s.within('{', func() error {
		name, err := s.token()
		if err != nil {
			return err
		}
		text, _ := name.(string)
		return member(text)
	})
}

// array reads an array, or null. It calls element for each value, which must read it.
func (s *jsonStream) array(element func() error) error { return s.within('[', element) }

func (s *jsonStream) within(open json.Delim, each func() error) error {
	switch t, err := s.token(); {
	case err != nil:
		return err
	case t == nil:
		return nil
	case t != open:
		return errNotJSON
	}
	for s.more() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err := s.token()
	return err
}

// end makes sure that nothing follows.
func (s *jsonStream) end() error {
	switch t, err := s.dec.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return s.failed(err)
	default:
		_ = t
		return errNotJSON
	}
}

// readList reads a list of objects of one kind, of which the fields of T are kept.
func readList[T any](r io.Reader) ([]T, error) {
	var (
		items []T
		kind  string
	)
	s := newJSONStream(r)
	err := s.object(func(name string) error {
		switch name {
		case "kind":
			return s.decode(&kind)
		case "items":
			return s.array(func() error {
				if len(items) == maxItems {
					return errors.New("the list is longer than any that was asked for")
				}
				var item T
				err := s.decode(&item)
				items = append(items, item)
				return err
			})
		}
		return s.skip()
	})
	if err == nil {
		err = s.end()
	}
	if err == nil && !strings.HasSuffix(kind, "List") {
		err = errNotJSON
	}
	if err != nil {
		return nil, err
	}
	return items, nil
}
