package patch

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Diff returns the unified diff from before to after, which git apply and patch -p1 take; empty where they are
// equal.
func Diff(name string, before, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	name = diffName(name)
	return udiff.Unified(headerName("a/"+name), headerName("b/"+name), string(before), string(after))
}

// diffName makes the name relative: git apply refuses others.
func diffName(name string) string {
	name = filepath.ToSlash(name)
	name = strings.TrimPrefix(name, filepath.VolumeName(name))
	for {
		short := strings.TrimPrefix(strings.TrimLeft(name, "/"), "./")
		if short == name {
			break
		}
		name = short
	}
	if name == "" || name == "-" {
		return "stdin"
	}
	return name
}

// headerName writes a name as git does: within quotes if it has a character that would end it, and with a tab
// behind a name with blanks.
func headerName(name string) string {
	if strings.ContainsAny(name, "\"\\\t\n\r") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(name) + `"`
	}
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}
