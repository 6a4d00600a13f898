package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// settingsName is the file that says for a folder, and those below it, what flags say for one run.
const settingsName = ".mvpcheck.yaml"

var settingsLimit = files.Limit{Bytes: 1 << 20, Usual: "settings have a few lines"}

// settings are what a .mvpcheck.yaml says.
type settings struct {
	choices
	// keys are those that it has.
	keys []string
}

// settingKey is a key of .mvpcheck.yaml; its name is that of the flag.
type settingKey struct {
	set  func(c *choices, v *yamldoc.Value) error
	copy func(to, from *choices)
}

var settingKeys = map[string]settingKey{
	"from": {
		func(c *choices, v *yamldoc.Value) error { return setScalar(&c.from, v) },
		func(to, from *choices) { to.from = from.from },
	},
	"to": {
		func(c *choices, v *yamldoc.Value) error { return setScalar(&c.to, v) },
		func(to, from *choices) { to.to = from.to },
	},
	"nodes": {
		func(c *choices, v *yamldoc.Value) error { return setScalar(&c.nodes, v) },
		func(to, from *choices) { to.nodes = from.nodes },
	},
	"only": {
		func(c *choices, v *yamldoc.Value) error { return setRules(&c.only, v) },
		func(to, from *choices) { to.only = from.only },
	},
	"skip": {
		func(c *choices, v *yamldoc.Value) error { return setRules(&c.skip, v) },
		func(to, from *choices) { to.skip = from.skip },
	},
	"cert-days": {
		func(c *choices, v *yamldoc.Value) error { return setScalar(&c.certDays, v) },
		func(to, from *choices) { to.certDays = from.certDays },
	},
	"fail-on": {
		func(c *choices, v *yamldoc.Value) error { return setScalar(&c.failOn, v) },
		func(to, from *choices) { to.failOn = from.failOn },
	},
}

// settingOrder is the order of the keys in messages and documentation.
var settingOrder = []string{"from", "to", "nodes", "fail-on", "only", "skip", "cert-days"}

// settingError is a mistake in a .mvpcheck.yaml; it counts as one of usage.
func settingError(at yamldoc.Place, format string, args ...any) error {
	p := at.File.Position(at.Start)
	return usageError("%s:%d:%d: %w", at.File.Name, p.Line, p.Column, fmt.Errorf(format, args...))
}

// readSettings reads a .mvpcheck.yaml.
func readSettings(name string) (*settings, error) {
	data, err := settingsLimit.Read(name)
	if err != nil {
		return nil, failure(err)
	}
	return parseSettings(yamldoc.NewFile(name, data))
}

func parseSettings(file *yamldoc.File) (*settings, error) {
	docs, err := file.Text().Documents()
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	s := &settings{}
	for _, d := range docs {
		switch {
		case d.Root == nil || d.Root.Kind == yamldoc.Null:
			continue
		case d.Root.Kind != yamldoc.Map:
			return nil, settingError(d.Root.Place(), "the settings are %s; write key: value", d.Root.Kind)
		}
		for _, e := range d.Root.Entries {
			if err := s.set(e); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *settings) set(e *yamldoc.Entry) error {
	at := e.Value.KeyPlace()
	key, ok := settingKeys[e.Key]
	switch {
	case !ok:
		hint := fmt.Sprintf("; the keys are %s", text.And(settingOrder))
		if near, ok := release.Suggest(e.Key, settingOrder); ok {
			hint = "; did you mean " + near + "?"
		}
		return settingError(at, "unknown key %q%s", e.Key, hint)
	case slices.Contains(s.keys, e.Key):
		return settingError(at, "the key %s is there twice", e.Key)
	}
	if err := key.set(&s.choices, e.Value); err != nil {
		var placed *exitError
		if errors.As(err, &placed) {
			return err
		}
		return settingError(e.Value.Place(), "%s: %w", e.Key, err)
	}
	s.keys = append(s.keys, e.Key)
	return nil
}

func setScalar(to interface{ Set(string) error }, v *yamldoc.Value) error {
	switch v.Kind {
	case yamldoc.String, yamldoc.Number, yamldoc.Bool:
		return to.Set(v.AsString())
	}
	return fmt.Errorf("wants one value, not %s", v.Kind)
}

// setRules reads rules: a list, or words separated by commas.
func setRules(to *listValue, v *yamldoc.Value) error {
	items := v.Items
	if v.Kind != yamldoc.List {
		items = []*yamldoc.Value{v}
	}
	for _, item := range items {
		if err := setScalar(to, item); err != nil {
			return settingError(item.Place(), "%w", err)
		}
		for _, name := range *to {
			if _, ok := checks.Find(name); !ok {
				return settingError(item.Place(), "unknown rule %q; mvpcheck explain lists them", name)
			}
		}
	}
	if len(*to) == 0 {
		return errors.New("names nothing")
	}
	return nil
}

// settingsFinder finds the choices for configurations, once for each folder.
type settingsFinder struct {
	options *options
	dirs    map[string]*choices // by folder
	files   map[string]*choices // by .mvpcheck.yaml; "" is none
}

func newSettingsFinder(o *options) *settingsFinder {
	return &settingsFinder{options: o, dirs: map[string]*choices{}, files: map[string]*choices{}}
}

// forFile returns the choices for a configuration: the nearest .mvpcheck.yaml beside it or in a folder above, up to the
// root of the repository.
func (f *settingsFinder) forFile(name string) (*choices, error) {
	dir := filepath.Dir(name)
	if c := f.dirs[dir]; c != nil {
		return c, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, failure(err)
	}
	path := findSettings(abs)
	c := f.files[path]
	if c == nil {
		if c, err = f.read(path, dir, abs); err != nil {
			return nil, err
		}
		f.files[path] = c
	}
	f.dirs[dir] = c
	return c, nil
}

func (f *settingsFinder) read(path, dir, abs string) (*choices, error) {
	if path == "" {
		return f.options.resolve(nil)
	}
	// Name it as the configuration is named: relative stays relative.
	if rel, err := filepath.Rel(abs, path); err == nil && !filepath.IsAbs(dir) {
		path = filepath.Join(dir, rel)
	}
	s, err := readSettings(path)
	if err != nil {
		return nil, err
	}
	return f.options.resolve(s)
}

// findSettings returns the .mvpcheck.yaml that holds for a folder, "" if there is none.
func findSettings(dir string) string {
	for {
		path := filepath.Join(dir, settingsName)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		parent := filepath.Dir(dir)
		if parent == dir || exists(filepath.Join(dir, ".git")) {
			return ""
		}
		dir = parent
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// sameFileIn tells whether a file is one of others, by whatever name.
func sameFileIn(name string, others []string) bool {
	info, err := os.Stat(name)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(others, func(other string) bool {
		o, err := os.Stat(other)
		return err == nil && os.SameFile(info, o)
	})
}

func isDir(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return files.Error(name, err)
	case !info.IsDir():
		return fmt.Errorf("%s: is not a directory", name)
	}
	return nil
}
