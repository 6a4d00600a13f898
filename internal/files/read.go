// Package files reads no more of a file than it should, and writes files that are there as a whole or not at all.
package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrTooLarge is the error for what is longer than the limit.
var ErrTooLarge = errors.New("too large")

// ReadAll reads to the end, at most limit bytes. What was read comes with an error, too.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = ErrTooLarge
	}
	return data, err
}

// Limit is how much is read of a file that somebody may have named by mistake.
type Limit struct {
	Bytes int64
	// Usual is what such files have, for the message about one that has more.
	Usual string
}

// MaxConfiguration is how much is read of a file of kubeadm. A ConfigMap has at most 1 MiB.
const MaxConfiguration = 16 << 20

// Configuration is the limit for files of kubeadm.
var Configuration = Limit{MaxConfiguration, "a kubeadm configuration has a few kilobytes"}

// Read reads a file. It may be a pipe or a device.
func (l Limit) Read(name string) ([]byte, error) {
	var buf bytes.Buffer
	err := l.read(&buf, name, false)
	return buf.Bytes(), err
}

// ReadRegular reads a regular file into a buffer: a pipe that was found in a folder would block for ever.
func (l Limit) ReadRegular(buf *bytes.Buffer, name string) error { return l.read(buf, name, true) }

func (l Limit) read(buf *bytes.Buffer, name string, regular bool) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return Error(name, err)
	case regular && !info.Mode().IsRegular():
		return fmt.Errorf("%s: is not a regular file", name)
	case info.IsDir():
		return fmt.Errorf("%s: is a directory", name)
	case info.Size() > l.Bytes:
		return fmt.Errorf("%s: has %d MiB; %s (limit %d MiB)", name, info.Size()>>20, l.Usual, l.Bytes>>20)
	}
	f, err := os.Open(name)
	if err != nil {
		return Error(name, err)
	}
	defer f.Close()
	buf.Grow(int(info.Size()) + bytes.MinRead)
	return l.ReadFrom(buf, name, f)
}

// ReadFrom reads what has this name to its end.
func (l Limit) ReadFrom(buf *bytes.Buffer, name string, r io.Reader) error {
	switch n, err := buf.ReadFrom(io.LimitReader(r, l.Bytes+1)); {
	case err != nil:
		return Error(name, err)
	case n > l.Bytes:
		return fmt.Errorf("%s: has more than %d MiB; %s", name, l.Bytes>>20, l.Usual)
	}
	return nil
}

// Error puts the name of the file first, as the user wrote it, and drops the system call and the path.
func Error(name string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}
