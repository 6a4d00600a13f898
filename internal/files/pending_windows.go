package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// pendingFile is what renameio, which does not build on Windows, has of this name elsewhere.
type pendingFile struct {
	*os.File
	target string
}

// createPending creates a file beside its target.
func createPending(target string, _ fs.FileInfo) (*pendingFile, error) {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target))
	if err != nil {
		return nil, err
	}
	return &pendingFile{f, target}, nil
}

// CloseAtomicallyReplace gives the file its name.
func (f *pendingFile) CloseAtomicallyReplace() error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), f.target)
}

// Cleanup removes the file unless it has its name.
func (f *pendingFile) Cleanup() error {
	_ = f.Close()
	return os.Remove(f.Name())
}
