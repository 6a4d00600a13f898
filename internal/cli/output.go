package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/report"
)

// output is one value of -o: a format and the file that it goes to, empty for standard output.
type output struct{ format, file string }

// Set takes a value of -o.
func (v *outputsValue) Set(s string) error {
	format, file, toFile := strings.Cut(s, "=")
	if !slices.Contains(v.formats, format) {
		return notOneOf(format, v.formats)
	}
	if toFile && file == "" {
		return fmt.Errorf("%q names no file", s)
	}
	for _, o := range v.list {
		switch {
		case o.file == file && file == "":
			return errors.New("two formats for standard output; send one to a file: FORMAT=FILE")
		case o.file == file:
			return fmt.Errorf("two formats for the file %s", file)
		}
	}
	v.list = append(v.list, output{format, file})
	return nil
}

func (v *outputsValue) String() string { return "" }

// Type is what the help calls the value.
func (v *outputsValue) Type() string { return "FORMAT[=FILE]" }

// withText adds the text for standard output where nothing goes there: success is never silent.
func (v *outputsValue) withText() []output {
	if v.toFile("") {
		return v.list
	}
	return append([]output{{format: "text"}}, v.list...)
}

// toFile tells whether something goes to a file, or with "" to standard output.
func (v *outputsValue) toFile(name string) bool {
	return slices.ContainsFunc(v.list, func(o output) bool { return o.file == name })
}

// useColor tells whether to colour an output. A file gets colour only where it is asked for by name.
func (a *app) useColor(out output, color colorValue) bool {
	if out.file != "" {
		return color == "always"
	}
	return color.use(a.OutIsTerminal, a.lookup)
}

// piece is a part of what a command writes: into a file, or to standard output.
type piece struct {
	file  string
	write func(io.Writer) error
}

// writePieces writes all of them or, where one fails, no file: they take their names only when all are complete.
func (a *app) writePieces(pieces []piece) error {
	var pending []*files.File
	defer func() {
		for _, f := range pending {
			f.Abandon()
		}
	}()
	for _, p := range pieces {
		if p.file == "" {
			var buf bytes.Buffer
			if err := p.write(&buf); err != nil {
				return err
			}
			if _, err := a.Out.Write(buf.Bytes()); err != nil {
				return err
			}
			continue
		}
		f, err := files.Create(p.file)
		if err != nil {
			return err
		}
		pending = append(pending, f)
		if err := p.write(f); err != nil {
			return files.Error(p.file, err)
		}
	}
	for _, f := range pending {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// sinks are where a report goes, in every format that was asked for.
type sinks struct {
	writers []report.Writer
	stdout  *bufio.Writer
	files   []*files.File
}

// openSinks opens the outputs.
func (a *app) openSinks(outputs *outputsValue, o formatOptions, color colorValue) (*sinks, error) {
	s := &sinks{stdout: bufio.NewWriterSize(a.Out, 32<<10)}
	for _, out := range outputs.withText() {
		var w io.Writer = s.stdout
		o.text.Color = a.useColor(out, color)
		// Standard error has said it.
		o.text.ErrorsElsewhere = out.file == ""
		if out.file != "" {
			f, err := files.Create(out.file)
			if err != nil {
				s.abandon()
				return nil, err
			}
			s.files = append(s.files, f)
			w = f
		}
		s.writers = append(s.writers, formatOf(out).check(w, o))
	}
	return s, nil
}

// each writes a piece of the report in every format.
func (s *sinks) each(write func(report.Writer) error) error {
	for _, w := range s.writers {
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

// close ends the report; the files take their names only now.
func (s *sinks) close(sum report.Summary) error {
	defer s.abandon()
	if err := s.each(func(w report.Writer) error { return w.Close(sum) }); err != nil {
		return err
	}
	if err := s.stdout.Flush(); err != nil {
		return err
	}
	for _, f := range s.files {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// abandon removes what has not been committed.
func (s *sinks) abandon() {
	for _, f := range s.files {
		f.Abandon()
	}
}
