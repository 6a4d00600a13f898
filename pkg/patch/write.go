package patch

import (
	"bytes"
	"fmt"

	"github.com/mvpcheck/mvpcheck/internal/files"
)

// WriteInPlace replaces the content of a file at once: a reader sees the old file or the new one. The mode
// stays, and the owner where that is permitted. A symbolic link stays one; what it names is replaced. It fails
// when the file no longer has the content before.
func WriteInPlace(name string, before, after []byte) error {
	unchanged := func() error {
		var now bytes.Buffer
		if err := files.Configuration.ReadRegular(&now, name); err != nil {
			return err
		}
		if !bytes.Equal(now.Bytes(), before) {
			return fmt.Errorf("%s: the file has changed since it was read; nothing was written", name)
		}
		return nil
	}
	if err := unchanged(); err != nil || bytes.Equal(before, after) {
		return err
	}
	f, err := files.Create(name)
	if err != nil {
		return err
	}
	defer f.Abandon()
	if _, err := f.Write(after); err != nil {
		return files.Error(name, err)
	}
	if err := unchanged(); err != nil {
		return err
	}
	return f.Commit()
}
