package files

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	limit := Limit{2 << 20, "most have less"}
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"some", "text", ""},
		{"full", strings.Repeat("x", 2<<20), ""},
		{"large", strings.Repeat("x", 2<<20+1), "has 2 MiB; most have less (limit 2 MiB)"},
	} {
		name := write(t, filepath.Join(dir, test.name), test.text, 0o600)
		data, err := limit.Read(name)
		if test.want == "" && (err != nil || string(data) != test.text) {
			t.Errorf("%s: %d bytes, %v", test.name, len(data), err)
		}
		if test.want != "" && (err == nil || err.Error() != name+": "+test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		var buf bytes.Buffer
		if regularErr := limit.ReadRegular(&buf, name); (regularErr == nil) != (err == nil) || err == nil && buf.String() != test.text {
			t.Errorf("%s: %v as a regular file, %v as any", test.name, regularErr, err)
		}
	}
	for name, want := range map[string]string{dir: "is a directory", filepath.Join(dir, "none"): "no such file or directory"} {
		if _, err := limit.Read(name); err == nil || err.Error() != name+": "+want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	var buf bytes.Buffer
	if err := limit.ReadRegular(&buf, os.DevNull); err == nil || !strings.HasSuffix(err.Error(), "is not a regular file") {
		t.Errorf("%s: %v", os.DevNull, err)
	}
}

func TestReadFrom(t *testing.T) {
	limit := Limit{1 << 20, "most have less"}
	var buf bytes.Buffer
	err := limit.ReadFrom(&buf, "-", strings.NewReader(strings.Repeat("x", 3<<20)))
	if want := "-: has more than 1 MiB; most have less"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if buf.Len() > 1<<20+1 {
		t.Errorf("%d bytes were read", buf.Len())
	}
}

func TestReadAll(t *testing.T) {
	if data, err := ReadAll(strings.NewReader("text"), 4); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := ReadAll(strings.NewReader("texts"), 4); !errors.Is(err, ErrTooLarge) || len(data) != 5 {
		t.Errorf("%q, %v", data, err)
	}
	broken := errors.New("broken")
	if _, err := ReadAll(iotest.ErrReader(broken), 4); !errors.Is(err, broken) {
		t.Error(err)
	}
}
