package record

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "rewrite generated files")

const schemaFile = "schema/" + LineSchema

// TestSchemaIsGenerated holds the committed schema to the Go types; go test -run Schema -update ./pkg/record rewrites it.
func TestSchemaIsGenerated(t *testing.T) {
	want, err := json.MarshalIndent(lineSchema(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the schema is not what the types say; run go test -run Schema -update ./pkg/record\n%s", diff)
	}
}

// TestSamples holds the frozen lines to the codec and to the schema: what was once valid stays valid, what was refused stays refused.
func TestSamples(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../testdata/records/*.ndjson")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d sample files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		valid := !strings.HasPrefix(filepath.Base(file), "refused")
		for n, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
			l, err := ParseLine(line)
			if (err == nil) != valid {
				t.Errorf("%s:%d: %v", file, n+1, err)
			}
			if err != nil {
				continue
			}
			if got := l.AppendTo(nil); !bytes.Equal(got, append(line, '\n')) {
				t.Errorf("%s:%d: changed", file, n+1)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err == nil {
				err = schema.Validate(doc)
			}
			if err != nil {
				t.Errorf("%s:%d: schema: %v", file, n+1, err)
			}
		}
	}
}

type object = map[string]any

// enums are the closed sets of values, by type and field.
var enums = map[string][]string{
	"Action.Kind":      {KindExec, KindShell, KindFile, KindFetch, KindMCP, KindEvent},
	"Actor.Mode":       {ModePlan, ModeSafe, ModeAuto, ModeVerify},
	"Parent.Mode":      {ModePlan, ModeSafe, ModeAuto, ModeVerify},
	"Decision.Verdict": {VerdictAllow, VerdictWarn, VerdictAsk, VerdictDeny},
	"Result.Status":    {StatusExited, StatusSignaled, StatusTimeout, StatusOOM, StatusDenied},
	"Output.Stream":    {"stdout", "stderr"},
}

// lineSchema describes one line, from the types that [known] names and their comments.
func lineSchema(t *testing.T) object {
	docs := fieldDocs(t)
	defs := object{}
	ref := func(name string) object { return schemaOf(reflect.TypeOf(known(name)).Elem(), docs, defs) }
	shared := object{
		"schema": object{"const": Schema},
		"id":     object{"type": "string", "minLength": 1, "maxLength": maxID, "description": "UUID version 7; the lines of one action share it"},
	}
	action := object{"time": object{"type": "string", "format": "date-time", "description": "RFC 3339, nanoseconds, UTC"}}
	for _, name := range []string{"action", "actor", "facts", "decision", "result"} {
		action[name] = ref(name)
	}
	kinds := []any{
		object{"title": "an action and what each stage added", "properties": action, "required": []string{"time", "action"}, "not": anyOf("output", "error")},
		object{"title": "a piece of live output", "properties": object{"output": ref("output")}, "required": []string{"output"}, "not": anyOf("action", "error")},
		object{"title": "stands for a line that was not valid", "properties": object{"error": ref("error")}, "required": []string{"error"}, "not": anyOf("action", "output")},
	}
	return object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "One line of the ethos pipe",
		"description": "Keys at the top level that are not listed are kept by every program; below it there are no unknown keys.",
		"type":        "object",
		"properties":  shared,
		"required":    []string{"schema", "id"},
		"oneOf":       kinds,
		"$defs":       defs,
	}
}

func anyOf(names ...string) object {
	var out []any
	for _, n := range names {
		out = append(out, object{"required": []string{n}})
	}
	return object{"anyOf": out}
}

func schemaOf(t reflect.Type, docs map[string]string, defs object) object {
	if isRaw(t) {
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		inner := schemaOf(t.Elem(), docs, defs)
		return object{"anyOf": []any{inner, object{"type": "null"}}}
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem(), docs, defs)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem(), docs, defs)}
	case reflect.Struct:
		define(t, docs, defs)
		return object{"$ref": "#/$defs/" + t.Name()}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	}
	return object{"type": "integer"}
}

func define(t reflect.Type, docs map[string]string, defs object) {
	if defs[t.Name()] != nil {
		return
	}
	def := object{"type": "object", "additionalProperties": false}
	defs[t.Name()] = def
	properties, fields := object{}, shapeOf(t)
	for i := range t.NumField() {
		field := t.Field(i)
		property := schemaOf(field.Type, docs, defs)
		if doc := docs[t.Name()+"."+field.Name]; doc != "" {
			property["description"] = doc
		}
		if values := enums[t.Name()+"."+field.Name]; values != nil {
			property["enum"] = values
		}
		properties[fields.order[i]] = property
	}
	def["properties"] = properties
	if doc := docs[t.Name()]; doc != "" {
		def["description"] = doc
	}
	if required := fields.names(fields.required); len(required) > 0 {
		def["required"] = required
	}
}

// fieldDocs reads the comments of the types of a line.
func fieldDocs(t *testing.T) map[string]string {
	docs := map[string]string{}
	for _, name := range []string{"record.go", "file.go", "output.go", "result.go", "connection.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		readDocs(file, docs)
	}
	return docs
}

func readDocs(file *ast.File, docs map[string]string) {
	ast.Inspect(file, func(n ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			return true
		}
		spec := decl.Specs[0].(*ast.TypeSpec)
		docs[spec.Name.Name] = oneLine(decl.Doc.Text())
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					docs[spec.Name.Name+"."+name.Name] = oneLine(f.Doc.Text() + " " + f.Comment.Text())
				}
			}
		}
		return true
	})
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
