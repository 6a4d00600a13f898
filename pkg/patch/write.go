package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteInPlace replaces the content of a file at once: a reader sees the old file or the new one. The mode
// stays, and the owner where that is permitted. A symbolic link stays one; what it names is replaced. It fails
// when the file no longer has the content before.
func WriteInPlace(name string, before, after []byte) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, plainError(err))
	}
	info, err := os.Stat(target)
	if err != nil {
		return fmt.Errorf("%s: %w", name, plainError(err))
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is not a regular file", name)
	}
	unchanged := func() error {
		now, err := os.ReadFile(target)
		if err != nil {
			return fmt.Errorf("%s: %w", name, plainError(err))
		}
		if !bytes.Equal(now, before) {
			return fmt.Errorf("%s: the file has changed since it was read; nothing was written", name)
		}
		return nil
	}
	if err := unchanged(); err != nil {
		return err
	}
	if bytes.Equal(before, after) {
		return nil
	}
	if err := replaceFile(target, info, after, unchanged); err != nil {
		return fmt.Errorf("%s: %w", name, plainError(err))
	}
	return nil
}

// plainError drops the system call and the path from an error of the file system: the caller names the file.
func plainError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
