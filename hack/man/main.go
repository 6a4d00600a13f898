// Command man writes the manual pages into a folder, and with -z those that packages have, compressed:
//
//	go run ./hack/man [-z] [-version VERSION] [-date SECONDS] DIR
//
// The date is that of a release, in seconds since 1970, so that two runs for the same commit give the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mvpcheck/mvpcheck/internal/cli"
)

func main() {
	compressed := flag.Bool("z", false, "compress the pages")
	version := flag.String("version", "devel", "the version that the pages tell of")
	seconds := flag.Int64("date", time.Now().Unix(), "the date that the pages tell of, in seconds since 1970")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "man: want one folder")
		os.Exit(2)
	}
	pages := map[string][]byte{}
	err := manPages(pages, cli.Commands(), *version, time.Unix(*seconds, 0).UTC())
	if err == nil {
		err = write(flag.Arg(0), pages, *compressed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func write(dir string, pages map[string][]byte, compressed bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if compressed {
			name += ".gz"
			var err error
			if text, err = compress(text); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compress does what gzip -9n does: neither name nor time of a file gets into it.
func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
