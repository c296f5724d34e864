package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// cut reads a stream into one line a document: its place, and its text or its fault.
func cut(t *testing.T, d *Documents) []string {
	t.Helper()
	var out []string
	for {
		text, err := d.Next()
		var bad *record.BadLine
		switch {
		case errors.Is(err, io.EOF):
			return out
		case errors.As(err, &bad):
			out = append(out, fmt.Sprintf("%d %s %s", d.LineNumber(), bad.Code, bad.Prefix))
		case err != nil:
			t.Fatal(err)
		default:
			out = append(out, fmt.Sprintf("%d ok %s", d.LineNumber(), text))
		}
	}
}

func TestDocuments(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		" \n\t\r\n":              "",
		"{}":                     "1 ok {}",
		"{\"a\":1}\n{\"b\":2}\n": `1 ok {"a":1}|2 ok {"b":2}`,
		"{\"a\":1}{\"b\":2}":     `1 ok {"a":1}|1 ok {"b":2}`,
		"\n\n{\n  \"a\": {\n    \"b\": [1, {\n}]\n  }\n}\n{}": "3 ok {\n  \"a\": {\n    \"b\": [1, {\n}]\n  }\n}|9 ok {}",
		`{"a":"}\"{"}`:              `1 ok {"a":"}\"{"}`,
		`{"a":"\\"}{}`:              `1 ok {"a":"\\"}|1 ok {}`,
		"garbage\n{}":               "1 invalid_json garbage|2 ok {}",
		"{} garbage\r\n{}":          "1 ok {}|1 invalid_json garbage|2 ok {}",
		"{\"a\": \"x\n{\"b\":1}\n":  "1 invalid_json {\"a\": \"x|2 ok {\"b\":1}",
		"{\"a\":1\n{\"b\":2}\n":     "1 invalid_json {\"a\":1|2 ok {\"b\":2}",
		"{\"a\":1\n  {\"b\":2}\n{}": "1 invalid_json {\"a\":1|2 ok {\"b\":2}|3 ok {}",
		"{\"a\":\n{\"b\":2}}":       "1 ok {\"a\":\n{\"b\":2}}",
		"{\"a\":1":                  "1 truncated {\"a\":1",
		"[1,\n2]":                   "1 ok [1,\n2]",
		"}\n{}":                     "1 invalid_json }|2 ok {}",
		"\xff\xfe{}\n{}":            "1 invalid_json \uFFFD{}|2 ok {}",
	} {
		if have := strings.Join(cut(t, NewDocuments(strings.NewReader(in))), "|"); have != want {
			t.Errorf("%q:\n have %q\n want %q", in, have, want)
		}
	}
}

func TestADocumentPastTheBoundIsOneFault(t *testing.T) {
	d := NewDocuments(strings.NewReader(`{"a":"` + strings.Repeat("x", 1000) + "\"}\n{\"b\":1}"))
	d.max = 100
	have := cut(t, d)
	if len(have) != 2 || !strings.HasPrefix(have[0], "1 too_long {\"a\":\"xxx") || have[1] != `2 ok {"b":1}` {
		t.Errorf("have %.300q", have)
	}
}

// Every byte that is not blank belongs to a document or to a fault.
func FuzzDocuments(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\":2}\n"))
	f.Add([]byte("{\"a\":1\n{\"b\":2} x\n[}"))
	f.Add([]byte("{\"a\": \"x\n\n\"}{"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 200 { // a prefix shows the whole of a fault up to here
			return
		}
		d := NewDocuments(bytes.NewReader(in))
		seen := 0
		for {
			text, err := d.Next()
			var bad *record.BadLine
			switch {
			case errors.Is(err, io.EOF):
				if want := count(in); seen != want {
					t.Fatalf("%d bytes of %d", seen, want)
				}
				return
			case errors.As(err, &bad):
				if bytes.ContainsRune([]byte(bad.Prefix), '\uFFFD') {
					return // not UTF-8: the prefix is not the text
				}
				seen += count([]byte(bad.Prefix))
			case err != nil:
				t.Fatal(err)
			default:
				seen += count(text)
			}
		}
	})
}

func count(text []byte) (n int) {
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			n++
		}
	}
	return n
}
