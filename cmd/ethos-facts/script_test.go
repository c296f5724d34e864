package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ethos/pkg/record"
	"ethos/pkg/shorttest"
	"ethos/pkg/trust"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ethos-facts": main})
}

func TestScripts(t *testing.T) {
	schema := lineSchema(t)
	events, err := filepath.Abs("../../testdata/events")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: shorttest.Scripts(t, "testdata/script", 3),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("ETHOS_MODE", "")
			env.Setenv("EVENTS", events)
			return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// records N: standard output is N lines that meet the schema.
			"records": func(ts *testscript.TestScript, _ bool, args []string) { records(ts, schema, args[0]) },
			// steady FILE…: takes out of each file what differs from run to run.
			"steady": steady,
			// trust FILE: as ethos-decide trust does.
			"trust": trustFile,
		},
		UpdateScripts: *update,
	})
}

func trustFile(ts *testscript.TestScript, _ bool, args []string) {
	path, err := trust.Canonical(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(trust.New(ts.Getenv).Save(trust.Entry{Kind: trust.Configuration, Path: path, Text: []byte(ts.ReadFile(args[0]))}, time.Now()))
}

func lineSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := record.Schemas().Open(record.LineSchema)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	doc, err := jsonschema.UnmarshalJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(record.LineSchema, doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile(record.LineSchema)
}

func records(ts *testscript.TestScript, schema *jsonschema.Schema, count string) {
	lines := strings.SplitAfter(ts.ReadFile("stdout"), "\n")
	lines = lines[:len(lines)-1]
	if have := strconv.Itoa(len(lines)); have != count {
		ts.Fatalf("%s lines, want %s", have, count)
	}
	for i, line := range lines {
		if _, err := record.ParseLine([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
			ts.Fatalf("line %d: %v", i+1, err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(line)))
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			ts.Fatalf("line %d: %v", i+1, err)
		}
	}
}

// changing matches what no two runs have in common.
var changing = regexp.MustCompile(`"(id)":"[0-9a-f-]{36}"|"(time)":"[^"]*"`)

func steady(ts *testscript.TestScript, _ bool, files []string) {
	for _, name := range files {
		text := changing.ReplaceAllString(ts.ReadFile(name), `"$1$2":"‹$1$2›"`)
		text = strings.ReplaceAll(text, ts.Getenv("WORK"), "/WORK")
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}
