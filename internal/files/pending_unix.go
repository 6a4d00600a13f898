//go:build !windows

package files

import (
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

type pendingFile = renameio.PendingFile

// createPending creates a file beside its target; replaced is what is there, nil if nothing.
func createPending(target string, replaced fs.FileInfo) (*pendingFile, error) {
	f, err := renameio.NewPendingFile(target, renameio.WithTempDir(filepath.Dir(target)),
		renameio.WithPermissions(0o666), renameio.WithExistingPermissions())
	if err != nil || replaced == nil {
		return f, err
	}
	if owner, ok := replaced.Sys().(*syscall.Stat_t); ok {
		// Only root may give files away; else the file becomes that of whoever writes it.
		_ = f.Chown(int(owner.Uid), int(owner.Gid))
	}
	return f, nil
}
