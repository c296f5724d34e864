package repocheck

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ethos/pkg/record"
)

// private are names of one machine or one place of work. They are put together here so that this file passes too.
var private = []string{"/work" + "/main", "/work" + "/shared", "/work" + "/.library", "/tmp" + "/team", "/root" + "/go", "farm" + "-bench", "farm" + "-studio"}

// binary are the kinds of file that are not text.
var binary = []string{".png", ".gz", ".bin"}

func TestNoMachineNames(t *testing.T) {
	tr := load(t)
	for _, name := range tr.files {
		if slices.Contains(binary, path.Ext(name)) {
			continue
		}
		text := tr.read(t, name)
		for _, word := range private {
			if i := strings.Index(text, word); i >= 0 {
				t.Errorf("%s:%d: names %s", name, 1+strings.Count(text[:i], "\n"), word)
			}
		}
	}
}

// link is a Markdown link to a file: [text](target) without a scheme.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	tr := load(t)
	for _, name := range tr.files {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, match := range link.FindAllStringSubmatch(tr.read(t, name), -1) {
			target := filepath.Join(tr.root, path.Dir(name), match[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s, which is not there", name, match[1])
			}
		}
	}
}

func TestProse(t *testing.T) {
	tr := load(t)
	for _, name := range tr.files {
		if path.Ext(name) != ".md" {
			continue
		}
		text := tr.read(t, name)
		if !utf8.ValidString(text) || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: not UTF-8, or no newline at the end", name)
		}
	}
}

// TestErrorCodesInDocs holds that docs/records.md explains every code an error line can have.
func TestErrorCodesInDocs(t *testing.T) {
	tr := load(t)
	page := tr.read(t, "docs/records.md")
	codes := regexp.MustCompile(`(?m)^\tCode\w+\s*= "(\w+)"`).FindAllStringSubmatch(tr.read(t, "pkg/record/badline.go"), -1)
	if len(codes) < 10 {
		t.Fatalf("pkg/record/badline.go: found %d codes", len(codes))
	}
	for _, match := range codes {
		if !strings.Contains(page, "| `"+match[1]+"` |") {
			t.Errorf("docs/records.md does not explain %s", match[1])
		}
	}
	// No line has a code from elsewhere.
	assigned := regexp.MustCompile(`(?m)^\s*code(?:, \w+)? :?= ([\w."]+)`)
	passed := regexp.MustCompile(`NewBadLine\(([^,()]+),`)
	checked := 0
	for _, name := range tr.files {
		text := tr.read(t, name)
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || !strings.Contains(text, "NewBadLine(") {
			continue
		}
		for _, match := range append(passed.FindAllStringSubmatch(text, -1), assigned.FindAllStringSubmatch(text, -1)...) {
			checked++
			if from := strings.TrimPrefix(match[1], "record."); !strings.HasPrefix(from, "Code") && from != "code" && from != "fault.Code" && from != "code, message string" {
				t.Errorf("%s: the code %s of an error line is not one of pkg/record/badline.go", name, match[1])
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d codes of error lines", checked)
	}
}

// TestRecordsInDocs holds that each JSON example of docs/records.md is a line that the codec takes.
func TestRecordsInDocs(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(load(t).read(t, "docs/records.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("docs/records.md: no example")
	}
	for _, match := range blocks {
		var line bytes.Buffer
		if err := json.Compact(&line, []byte(match[1])); err != nil {
			t.Errorf("%v in %s", err, match[1])
		} else if _, err := record.ParseLine(line.Bytes()); err != nil {
			t.Errorf("%v in %s", err, match[1])
		}
	}
}
