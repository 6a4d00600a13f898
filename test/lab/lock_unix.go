//go:build unix && !solaris && !illumos && !aix

package lab

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lock waits until no other process holds the lock of the file, which is made when missing, and takes it. The kernel gives it
// back when the process ends.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			file.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
