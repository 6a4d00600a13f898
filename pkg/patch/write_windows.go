package patch

import (
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile writes a temporary file beside the target and renames it, unless last fails.
func replaceFile(target string, info fs.FileInfo, data []byte, last func() error) error {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = last()
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}
