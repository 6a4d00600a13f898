//go:build !windows

package patch

import (
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// replaceFile writes a temporary file beside the target and renames it, unless last fails.
func replaceFile(target string, info fs.FileInfo, data []byte, last func() error) error {
	f, err := renameio.NewPendingFile(target, renameio.WithTempDir(filepath.Dir(target)), renameio.WithStaticPermissions(info.Mode().Perm()))
	if err != nil {
		return err
	}
	defer func() { _ = f.Cleanup() }()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		// Only root may give files away; then the file becomes that of whoever patches it.
		_ = f.Chown(int(owner.Uid), int(owner.Gid))
	}
	// Changing the owner takes the setuid bits away, which a configuration has not.
	if err := f.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	if err := last(); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}
