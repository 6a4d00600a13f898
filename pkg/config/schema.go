package config

import (
	"fmt"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
)

// checkSchema records what the types of a kind do not have or cannot take: unknown fields, duplicate keys, values of
// another type. extraArgs are left to readArgs, which knows what was meant.
func (r *reader) checkSchema(v *yamldoc.Value, apiVersion, kind string) {
	s := schemaChecker{r: r, version: apiVersion[strings.LastIndexByte(apiVersion, '/')+1:], kind: kind}
	field, ok := release.Schema(apiVersion, kind)
	if !ok {
		s.duplicates(v)
		return
	}
	s.check(v, field)
}

type schemaChecker struct {
	r             *reader
	version, kind string
}

func (s *schemaChecker) add(p Problem) {
	p.APIVersion, p.DocKind = s.version, s.kind
	s.r.problems = append(s.r.problems, p)
}

// duplicates records the duplicate keys below a value whose fields are not known.
func (s *schemaChecker) duplicates(v *yamldoc.Value) {
	for _, item := range v.Items {
		s.duplicates(item)
	}
	for _, e := range v.Entries {
		s.duplicate(v, e)
		s.duplicates(e.Value)
	}
}

func (s *schemaChecker) duplicate(v *yamldoc.Value, e *yamldoc.Entry) {
	if !e.Replaced || e.Value.Fixed != "" {
		return
	}
	winner := v.Find(e.Key)
	if winner.Value.Fixed != "" {
		return
	}
	s.add(Problem{Kind: DuplicateKey, At: winner.Value.KeyPlace(), Earlier: e.Value.KeyPlace(), Value: winner.Value,
		Entry: winner})
}

func (s *schemaChecker) check(v *yamldoc.Value, field *release.Field) {
	switch field.Kind {
	case release.Any:
		s.duplicates(v)
	case release.Object:
		if s.wants(v, yamldoc.Map, field) {
			s.object(v, field)
		}
	case release.Map:
		if field.Name == "extraArgs" {
			s.duplicates(v)
			return
		}
		if s.wants(v, yamldoc.Map, field) {
			for _, e := range v.Entries {
				s.duplicate(v, e)
				if !e.Replaced {
					s.check(e.Value, field.Elem)
				}
			}
		}
	case release.List:
		if isArgs(field) {
			s.argsList(v, field)
			return
		}
		if s.wants(v, yamldoc.List, field) {
			for _, item := range v.Items {
				s.check(item, field.Elem)
			}
		}
	case release.String:
		if v.Kind == yamldoc.Number || v.Kind == yamldoc.Bool {
			s.add(Problem{Kind: NotString, At: v.Place(), Value: v})
			return
		}
		s.wants(v, yamldoc.String, field)
	case release.Int:
		if v.Kind == yamldoc.Number && strings.ContainsAny(v.Text, ".eE") {
			s.wrongType(v, "a whole number")
			return
		}
		s.wants(v, yamldoc.Number, field)
	case release.Bool:
		s.wants(v, yamldoc.Bool, field)
	case release.Duration:
		s.wants(v, yamldoc.String, field)
	}
}

func isArgs(f *release.Field) bool {
	return f.Elem != nil && f.Elem.Kind == release.Object && (f.Name == "extraArgs" || f.Name == "kubeletExtraArgs")
}

// argsList checks what readArgs does not: duplicate keys and unknown fields of an argument.
func (s *schemaChecker) argsList(v *yamldoc.Value, field *release.Field) {
	if v.Kind != yamldoc.List {
		s.duplicates(v)
		return
	}
	for _, item := range v.Items {
		if item.Kind != yamldoc.Map {
			continue
		}
		for _, e := range item.Entries {
			s.duplicate(item, e)
			if _, ok := field.Elem.Field(e.Key); !ok {
				s.unknown(item, e, field.Elem)
			}
		}
	}
}

func (s *schemaChecker) object(v *yamldoc.Value, field *release.Field) {
	for _, e := range v.Entries {
		known, ok := field.Field(e.Key)
		if !ok {
			s.unknown(v, e, field)
			continue
		}
		s.duplicate(v, e)
		if !e.Replaced {
			s.check(e.Value, known)
		}
	}
}

func (s *schemaChecker) unknown(v *yamldoc.Value, e *yamldoc.Entry, field *release.Field) {
	p := Problem{Kind: UnknownField, At: e.Value.KeyPlace(), Value: e.Value, Entry: e}
	p.Suggest, _ = release.Suggest(e.Key, field.Names())
	p.Args = meantArgs(e)
	if at, ok := flatArgs[e.Key]; ok && v.Parent() == nil {
		p.Suggest = at
	}
	s.add(p)
}

// flatArgs are the fields of v1alpha3 and older that people still write, and where they stand now.
var flatArgs = map[string]string{
	"apiServerExtraArgs":         "apiServer.extraArgs",
	"apiServerExtraVolumes":      "apiServer.extraVolumes",
	"apiServerCertSANs":          "apiServer.certSANs",
	"controllerManagerExtraArgs": "controllerManager.extraArgs",
	"schedulerExtraArgs":         "scheduler.extraArgs",
}

// meantArgs reads the flags that stand below an unknown field: a map of flag names to scalars, or a list of name
// and value.
func meantArgs(e *yamldoc.Entry) []*Arg {
	if !strings.Contains(strings.ToLower(e.Key), "arg") && !strings.Contains(strings.ToLower(e.Key), "flag") {
		return nil
	}
	var args []*Arg
	for _, f := range entries(e.Value) {
		args = append(args, &Arg{Name: f.Key, Value: f.Value.AsString(), Node: f.Value, NameAt: f.Value.KeyPlace(),
			ValueNode: f.Value, Field: e.Key})
	}
	for _, item := range e.Value.Items {
		if name := item.Get("name"); name != nil {
			args = append(args, &Arg{Name: name.AsString(), Value: item.Get("value").AsString(), Node: item,
				NameAt: name.Place(), ValueNode: item.Get("value"), Field: e.Key})
		}
	}
	return args
}

// wants records a value of another kind than kubeadm takes. A null is taken everywhere.
func (s *schemaChecker) wants(v *yamldoc.Value, kind yamldoc.Kind, field *release.Field) bool {
	if v.Kind == kind {
		return true
	}
	if v.Kind == yamldoc.Null {
		return false
	}
	if v.Kind == yamldoc.String && PlaceholderIn(v.Text) != "" {
		s.add(Problem{Kind: Placeholder, At: v.Place(), Value: v, Text: PlaceholderIn(v.Text)})
		return false
	}
	s.wrongType(v, map[release.Kind]string{
		release.Object: "a map", release.Map: "a map", release.List: "a list", release.String: "a string",
		release.Int:  "a number",
		release.Bool: "true or false", release.Duration: "a duration such as 4m0s",
	}[field.Kind])
	return false
}

func (s *schemaChecker) wrongType(v *yamldoc.Value, want string) {
	s.add(Problem{Kind: WrongType, At: v.Place(), Value: v,
		Text: fmt.Sprintf("%s is %s; kubeadm wants %s there and refuses the file", v.Path(), v.Kind, want)})
}
