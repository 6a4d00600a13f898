// Package certs reads the certificates of a node below a root folder and tells what kube-apiserver and its peers would
// make of them. It says what is so and judges nothing, and nothing of a private key ever leaves it.
package certs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/mvpcheck/mvpcheck/internal/files"
)

// MaxSize is the largest file that is read. A CA bundle of a distribution has a quarter of it.
const MaxSize = 1 << 20

// maxLinks bounds the symlinks of one path, as Linux does.
const maxLinks = 40

// Store reads the files of a node: below a folder that is a copy of its file system, or below / on the node itself.
// It keeps what it read, so that all rules judge the same state. It is safe for concurrent use.
type Store struct {
	dir     string
	mu      sync.Mutex
	bundles map[string]Bundle
	pairs   map[[2]string]Pair
}

// Open returns a store of the files below a folder.
func Open(dir string) (*Store, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, files.Error(dir, err)
	}
	return &Store{dir: dir, bundles: map[string]Bundle{}, pairs: map[[2]string]Pair{}}, root.Close()
}

// WholeSystem tells whether the root is / and the files are the node's own, not a copy.
func (s *Store) WholeSystem() bool {
	return filepath.Clean(s.dir) == string(filepath.Separator)
}

// Problem is why a file is not what it should be.
type Problem uint8

// What can be wrong with a file. Denied, TooLarge, Special and Unreadable say nothing about what kube-apiserver, which
// runs as root, would find.
const (
	// OK: nothing is wrong.
	OK Problem = iota
	// Missing: there is no such file, or a symlink leads nowhere.
	Missing
	// Empty: the file has no byte. A file of blanks is NotPEM.
	Empty
	// Directory: it is a folder.
	Directory
	// NotPEM: it holds no PEM block; DER is an example.
	NotPEM
	// BrokenPEM: a certificate begins and does not end, or its text is damaged. Certs are the others.
	BrokenPEM
	// NoCertificate: its PEM blocks are something else.
	NoCertificate
	// PrivateKey: it holds a private key and no certificate.
	PrivateKey
	// Unparsable: what a block holds is no certificate (no private key) that Go can read. Certs are the others.
	Unparsable
	// NoKey: it holds no private key where one should be.
	NoKey
	// Denied: this process may not read it.
	Denied
	// TooLarge: it has more than MaxSize bytes and was not read.
	TooLarge
	// Special: it is a device, a pipe or a socket and was not opened.
	Special
	// Unreadable: reading failed in another way.
	Unreadable
)

var problemNames = [...]string{
	"ok", "missing", "empty", "directory", "not PEM", "broken PEM", "no certificate", "private key",
	"unparsable", "no key",
	"denied", "too large", "special file", "unreadable",
}

// String names the problem for tests and logs.
func (p Problem) String() string { return problemNames[p] }

var problemClauses = map[Problem]string{
	Missing:       "does not exist below --root",
	Empty:         "is an empty file",
	Directory:     "is a folder",
	NotPEM:        "is not PEM text",
	BrokenPEM:     "is damaged: a certificate begins in it and does not end",
	NoCertificate: "holds no certificate",
	PrivateKey:    "holds a private key in place of a certificate",
	Unparsable:    "holds a certificate that cannot be read",
	NoKey:         "holds no private key",
}

// Says is what follows the name of the file in a sentence: "is a folder". It is "" for OK and for what is Unknown.
func (p Problem) Says() string { return problemClauses[p] }

// Unknown tells whether the problem is this process's, not kube-apiserver's: what the file holds is not known.
func (p Problem) Unknown() bool { return p >= Denied }

// Bundle returns the certificates of a file of the node.
func (s *Store) Bundle(name string) Bundle {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bundle(name)
}

func (s *Store) bundle(name string) Bundle {
	if b, ok := s.bundles[name]; ok {
		return b
	}
	b := Bundle{Path: name}
	data, problem := s.read(name)
	if b.Problem = problem; problem == OK {
		b.parse(data)
	}
	clear(data) // It may be a private key.
	s.bundles[name] = b
	return b
}

// Folder tells whether a path of the node leads to a folder; known is false where that cannot be seen.
func (s *Store) Folder(name string) (is, known bool) {
	_, problem := s.read(name)
	return problem == Directory, !problem.Unknown()
}

// read returns what a file of the node holds. Only regular files are opened: opening a pipe would wait for a writer,
// and opening a device can do anything.
func (s *Store) read(name string) ([]byte, Problem) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, problemOf(err)
	}
	defer root.Close()
	resolved, err := resolve(root, name)
	if err != nil {
		return nil, problemOf(err)
	}
	info, err := root.Lstat(resolved)
	if err != nil {
		return nil, problemOf(err)
	}
	if p := kindOf(info); p != OK {
		return nil, p
	}
	// O_NONBLOCK is for the pipe that took the file's place meanwhile.
	f, err := root.OpenFile(resolved, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, problemOf(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, problemOf(err)
	}
	if p := kindOf(info); p != OK {
		return nil, p
	}
	data, err := files.ReadAll(f, MaxSize)
	switch {
	case err != nil:
		clear(data)
		return nil, problemOf(err)
	case len(data) == 0:
		return nil, Empty
	}
	return data, OK
}

// kindOf is what is wrong with a file before it is read.
func kindOf(info fs.FileInfo) Problem {
	switch {
	case info.IsDir():
		return Directory
	case !info.Mode().IsRegular():
		return Special
	case info.Size() > MaxSize:
		return TooLarge
	}
	return OK
}

func problemOf(err error) Problem {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Missing
	case errors.Is(err, fs.ErrPermission):
		return Denied
	case errors.Is(err, files.ErrTooLarge):
		return TooLarge
	}
	return Unreadable
}

var errTooManyLinks = errors.New("too many symbolic links")

// resolve returns the path below the root that a path of the node leads to, without symlinks. os.Root refuses
// absolute symlinks, which a node has many of (/var/lib/kubelet/pki/kubelet-client-current.pem, /etc/ssl/certs), and
// in a copy they mean a place within the copy; so links are followed here, one by one, and .. stops at the root as
// it does in a chroot. os.Root still guards what is opened in the end.
func resolve(root *os.Root, name string) (string, error) {
	todo := components(name)
	done, links := ".", 0
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		if next == ".." {
			done = path.Dir(done)
			continue
		}
		at := path.Join(done, next)
		info, err := root.Lstat(at)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if len(todo) > 0 && !info.IsDir() {
				return "", syscall.ENOTDIR
			}
			done = at
			continue
		}
		if links++; links > maxLinks {
			return "", errTooManyLinks
		}
		target, err := root.Readlink(at)
		if err != nil {
			return "", err
		}
		target = filepath.ToSlash(target)
		if path.IsAbs(target) {
			done = "."
		}
		todo = append(components(target), todo...)
	}
	return done, nil
}

// components are the names that a path consists of.
func components(name string) []string {
	var names []string
	for c := range strings.SplitSeq(name, "/") {
		if c != "" && c != "." {
			names = append(names, c)
		}
	}
	return names
}
