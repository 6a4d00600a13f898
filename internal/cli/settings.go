package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/text"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
)

// settingsName is the file that says for a folder, and those below it, what flags say for one run.
const settingsName = ".mvpcheck.yaml"

var settingsLimit = files.Limit{Bytes: 1 << 20, Usual: "settings have a few lines"}

// setting is what a .mvpcheck.yaml says for a flag: the values that the flag would be given.
type setting struct {
	flag   string
	values []string
}

// settingError is a mistake in a .mvpcheck.yaml; it counts as one of usage.
func settingError(at yamldoc.Place, format string, args ...any) error {
	p := at.File.Position(at.Start)
	return usageError("%s:%d:%d: %w", at.File.Name, p.Line, p.Column, fmt.Errorf(format, args...))
}

// readSettings reads a .mvpcheck.yaml.
func readSettings(name string) ([]setting, error) {
	data, err := settingsLimit.Read(name)
	if err != nil {
		return nil, failure(err)
	}
	return parseSettings(yamldoc.NewFile(name, data))
}

func parseSettings(file *yamldoc.File) ([]setting, error) {
	docs, err := file.Text().Documents()
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	var all []setting
	flags := (&choices{}).settings()
	for _, d := range docs {
		switch {
		case d.Root == nil || d.Root.Kind == yamldoc.Null:
			continue
		case d.Root.Kind != yamldoc.Map:
			return nil, settingError(d.Root.Place(), "the settings are %s; write key: value", d.Root.Kind)
		}
		for _, e := range d.Root.Entries {
			s, err := parseSetting(flags, e)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// parseSetting sets the flag that has the name of a key.
func parseSetting(flags *pflag.FlagSet, e *yamldoc.Entry) (setting, error) {
	flag, at := flags.Lookup(e.Key), e.Value.KeyPlace()
	switch {
	case flag == nil:
		return setting{}, settingError(at, "unknown key %q%s", e.Key, nearKey(flags, e.Key))
	case flag.Changed:
		return setting{}, settingError(at, "the key %s is there twice", e.Key)
	}
	flag.Changed = true
	if rules, ok := flag.Value.(*listValue); ok {
		return parseRules(rules, e)
	}
	if err := setScalar(flag.Value, e.Value); err != nil {
		return setting{}, settingError(e.Value.Place(), "%s: %w", e.Key, err)
	}
	return setting{e.Key, []string{e.Value.AsString()}}, nil
}

// nearKey says which key was meant, or which there are.
func nearKey(flags *pflag.FlagSet, key string) string {
	var keys []string
	flags.VisitAll(func(f *pflag.Flag) { keys = append(keys, f.Name) })
	if near, ok := release.Suggest(key, keys); ok {
		return "; did you mean " + near + "?"
	}
	return "; the keys are " + text.And(keys)
}

func setScalar(to pflag.Value, v *yamldoc.Value) error {
	switch v.Kind {
	case yamldoc.String, yamldoc.Number, yamldoc.Bool:
		return to.Set(v.AsString())
	}
	return fmt.Errorf("wants one value, not %s", v.Kind)
}

// parseRules reads rules: a list, or words separated by commas.
func parseRules(rules *listValue, e *yamldoc.Entry) (setting, error) {
	s := setting{flag: e.Key}
	items := e.Value.Items
	if e.Value.Kind != yamldoc.List {
		items = []*yamldoc.Value{e.Value}
	}
	for _, item := range items {
		if err := setScalar(rules, item); err != nil {
			return s, settingError(item.Place(), "%w", err)
		}
		for _, name := range *rules {
			if _, ok := checks.Find(name); !ok {
				return s, settingError(item.Place(), "unknown rule %q; mvpcheck explain lists them", name)
			}
		}
		s.values = append(s.values, item.AsString())
	}
	if len(items) == 0 {
		return s, settingError(e.Value.Place(), "%s: names nothing", e.Key)
	}
	return s, nil
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
