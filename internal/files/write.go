package files

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is there as a whole or not at all: it takes its name when it is committed. What is no regular
// file (a device, a pipe) is written directly.
type File struct {
	*bufio.Writer
	// name is the file's as the user wrote it.
	name string
	// One of these is nil.
	pending *pendingFile
	direct  *os.File
}

// Create begins a file that is to take a name. A link stays one, and what it leads to is replaced; the mode stays, and
// the owner where that is permitted. A new file has the mode of any new file.
func Create(name string) (*File, error) {
	f := &File{name: name}
	var err error
	switch info, statErr := os.Stat(name); {
	case statErr != nil:
		f.pending, err = createPending(name, nil)
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a directory", name)
	case !info.Mode().IsRegular():
		f.direct, err = os.OpenFile(name, os.O_WRONLY, 0)
	default:
		var target string
		if target, err = filepath.EvalSymlinks(name); err == nil {
			f.pending, err = createPending(target, info)
		}
	}
	switch {
	case err != nil:
		return nil, Error(name, err)
	case f.direct != nil:
		f.Writer = bufio.NewWriter(f.direct)
	default:
		f.Writer = bufio.NewWriter(f.pending)
	}
	return f, nil
}

// Commit gives the file its name.
func (f *File) Commit() error {
	err := f.Flush()
	switch {
	case err != nil:
	case f.direct != nil:
		err = f.direct.Close()
		f.direct = nil
	default:
		err = f.pending.CloseAtomicallyReplace()
	}
	if err != nil {
		return Error(f.name, err)
	}
	return nil
}

// Abandon removes a file that has not been committed.
func (f *File) Abandon() {
	if f.direct != nil {
		_ = f.direct.Close()
		f.direct = nil
	} else if f.pending != nil {
		_ = f.pending.Cleanup()
	}
}

// WriteNew writes a file that is not there yet; else the error is fs.ErrExist.
func WriteNew(name string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return Error(name, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(name)
		return Error(name, err)
	}
	return nil
}
