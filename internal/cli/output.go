package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/files"
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
	pending := make([]*files.File, len(pieces))
	defer func() {
		for _, f := range pending {
			if f != nil {
				f.Abandon()
			}
		}
	}()
	for i, p := range pieces {
		if p.file == "" {
			continue
		}
		var err error
		if pending[i], err = files.Create(p.file); err != nil {
			return err
		}
	}
	for i, p := range pieces {
		if pending[i] == nil {
			if err := p.write(a.Out); err != nil {
				return err
			}
			continue
		}
		if err := p.write(pending[i]); err != nil {
			return files.Error(p.file, err)
		}
	}
	for _, f := range pending {
		if f == nil {
			continue
		}
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}
