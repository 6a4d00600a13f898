package report

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// typeCheck compares a schema with the Go type that is written: the same properties, required where they are always
// written, each with a description, and of the same types. What is written of some documents only is optional here; that the schema has it is seen when those are read by it.
type typeCheck struct {
	t    *testing.T
	root map[string]any
	done map[reflect.Type]bool
}

func checkSchemaIsType[T any](t *testing.T, root map[string]any) {
	t.Helper()
	c := typeCheck{t, root, map[reflect.Type]bool{}}
	c.value("", root, reflect.TypeFor[T]())
}

// resolve follows a reference.
func (c *typeCheck) resolve(schema map[string]any) map[string]any {
	ref, ok := schema["$ref"].(string)
	if !ok {
		return schema
	}
	found, ok := c.root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	if !ok {
		c.t.Fatalf("there is no %s", ref)
	}
	return c.resolve(found)
}

func (c *typeCheck) value(path string, schema map[string]any, goType reflect.Type) {
	schema = c.resolve(schema)
	if goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	wanted := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
		reflect.Slice: "array", reflect.Map: "object", reflect.Struct: "object",
	}[goType.Kind()]
	if goType == reflect.TypeFor[time.Time]() {
		if schema["type"] != "string" || schema["format"] != "date-time" {
			c.t.Errorf("%s is no time", path)
		}
		return
	}
	_, isEnum := schema["enum"]
	_, isConst := schema["const"]
	if schema["type"] != wanted && !(wanted == "string" && (isEnum || isConst)) {
		c.t.Errorf("%s has the type %v, %s is %s", path, schema["type"], goType, cmp.Or(wanted, "of no type of JSON"))
		return
	}
	switch goType.Kind() {
	case reflect.Slice:
		c.value(path+"[]", schema["items"].(map[string]any), goType.Elem())
	case reflect.Map:
		c.value(path+"{}", schema["additionalProperties"].(map[string]any), goType.Elem())
	case reflect.Struct:
		if !c.done[goType] {
			c.done[goType] = true
			c.object(path, schema, goType)
		}
	}
}

func (c *typeCheck) object(path string, schema map[string]any, goType reflect.Type) {
	properties := schema["properties"].(map[string]any)
	var required []string
	for _, name := range schema["required"].([]any) {
		required = append(required, name.(string))
	}
	known := map[string]bool{}
	for _, field := range writtenFields(goType) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		known[name] = true
		property, ok := properties[name].(map[string]any)
		if !ok && options != "" {
			continue // it is for other documents
		}
		if !ok {
			c.t.Errorf("the schema has no %s.%s", path, name)
			continue
		}
		if property["description"] == nil {
			c.t.Errorf("%s.%s has no description", path, name)
		}
		if always := options == ""; always != slices.Contains(required, name) && options != "omitzero" {
			c.t.Errorf("%s.%s is always written: %v; required: %v", path, name, always, !always)
		}
		c.value(path+"."+name, property, field.Type)
	}
	for name := range properties {
		if !known[name] {
			c.t.Errorf("%s has no %s", goType, name)
		}
	}
}

// writtenFields are the fields of a struct that JSON has, those of embedded structs among them.
func writtenFields(goType reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for i := range goType.NumField() {
		switch field := goType.Field(i); {
		case field.Anonymous && field.Tag.Get("json") == "":
			fields = append(fields, writtenFields(field.Type)...)
		case field.Tag.Get("json") != "-":
			fields = append(fields, field)
		}
	}
	return fields
}
