package config

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// MaxSize bounds the size of an input in bytes. kubeadm's files have a few kilobytes; a ConfigMap at most 1 MiB. It is
// 16 MiB.
const MaxSize = files.MaxConfiguration

// Input is a file that was read and the clusters that it holds.
type Input struct {
	File *yamldoc.File
	Docs []*yamldoc.Document
	// Clusters are in the order of the file; empty where the file has only documents that say nothing about
	// kube-apiserver's flags, and then Notes says what it has.
	Clusters []*Cluster
	// Notes are remarks about the file for the reader of a report.
	Notes []Note
	// Patches are kubeadm patch files given as a configuration.
	Patches []*PatchFile
}

// Note is a remark with its place; the place may be zero.
type Note struct {
	Text string
	At   yamldoc.Place
}

// Error is an input that cannot be read as a configuration. It has the place and says what to do.
type Error struct {
	Place yamldoc.Place
	Msg   string
	// Foreign: the file has nothing to do with kubeadm; a directory walk passes it over.
	Foreign bool
}

// Error returns file:line:column: message.
func (e *Error) Error() string {
	p := e.Place.File.Position(e.Place.Start)
	return fmt.Sprintf("%s:%d:%d: %s", e.Place.File.Name, p.Line, p.Column, yamldoc.OneLine(e.Msg))
}

func fileError(f *yamldoc.File, offset int, foreign bool, format string, args ...any) *Error {
	return &Error{Place: yamldoc.Place{File: f, Start: offset, End: offset}, Msg: fmt.Sprintf(format, args...),
		Foreign: foreign}
}

// ReadFile reads a configuration from a file of the local file system. See Read for the errors; those of the
// file system name the file.
func ReadFile(name string) (*Input, error) {
	data, err := files.Configuration.Read(name)
	if err != nil {
		return nil, err
	}
	return Read(name, data)
}

// Read reads a configuration. The error is a *yamldoc.SyntaxError for text that is not YAML, an *Error for a
// file that holds nothing that mvpcheck reads or that kubeadm could not decode.
func Read(name string, data []byte) (*Input, error) { return FromFile(yamldoc.NewFile(name, data)) }

// FromFile reads a configuration as Read does. Documents of the file that were read before are not read again.
func FromFile(file *yamldoc.File) (*Input, error) {
	if len(bytes.TrimSpace(file.Data)) == 0 {
		return nil, fileError(file, 0, true, "the file is empty")
	}
	if err := lookAlike(file); err != nil {
		return nil, err
	}
	docs, err := file.Text().Documents()
	if err != nil {
		if e := templateError(file, err); e != nil {
			return nil, e
		}
		return nil, err
	}
	in := &Input{File: file, Docs: docs}
	r := reader{in: in}
	if err := r.read(); err != nil {
		return nil, err
	}
	return in, nil
}

// hints are the texts of which one stands in every file that mvpcheck can say something about.
var hints = [][]byte{
	[]byte("kubeadm"), []byte("Kubeadm"), []byte("kube-apiserver"), []byte("ClusterConfiguration"),
	[]byte("kind.x-k8s.io"),
}

// MayConcern tells whether a file found in a directory can hold a configuration or a pod at all, by its bytes alone. A
// JSON patch need not say what it is for; in a directory it is passed over.
func MayConcern(data []byte) bool {
	for _, h := range hints {
		if bytes.Contains(data, h) {
			return true
		}
	}
	return false
}

// Walk returns the files of a directory, recursively, that have the ending of a configuration (.yaml, .yml,
// .json), in lexical order. Hidden folders (.git) and symbolic links to folders are passed over.
func Walk(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return files.Error(path, err)
		}
		if d.IsDir() {
			if path != dir && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(d.Name()) {
		case ".yaml", ".yml", ".json":
			if !strings.HasPrefix(d.Name(), ".") {
				names = append(names, path)
			}
		}
		return nil
	})
	return names, err
}
