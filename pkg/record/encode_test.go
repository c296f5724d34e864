package record

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand"
	"net/netip"
	"reflect"
	"testing"
	"testing/quick"
	"time"
)

// byEncodingJSON returns what encoding/json writes without escapes for HTML.
func byEncodingJSON(v any) (string, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimSuffix(text.Bytes(), []byte("\n"))), err
}

func sameEncoding(t *testing.T, v any) {
	t.Helper()
	want, failed := byEncodingJSON(v)
	got, err := encode(v)
	switch {
	case (err != nil) != (failed != nil):
		t.Errorf("%T: the error is %v, and that of encoding/json %v", v, err, failed)
	case err == nil && string(got) != want:
		t.Errorf("%T: encoded as\n%s\nand by encoding/json as\n%s", v, got, want)
	}
}

// loud has a text of its own, which encoding/json writes for a value and not for a key.
type loud string

func (l loud) MarshalText() ([]byte, error) { return []byte(l + "!"), nil }

// TestEncodeMembers compares with encoding/json for every member of a line, with random and empty
// values, before and after nil lists become empty.
func TestEncodeMembers(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, name := range []string{"schema", "action", "actor", "facts", "decision", "result", "output", "error"} {
		of := reflect.TypeOf(known(name)).Elem()
		sameEncoding(t, reflect.Zero(of).Interface())
		for range 40 {
			v := reflect.New(of)
			random, ok := quick.Value(of, random)
			if !ok {
				t.Fatalf("%s: a type without random values", name)
			}
			v.Elem().Set(random)
			if action, ok := v.Interface().(*Action); ok {
				action.Input = json.RawMessage(`{ "a" : [1, "<&>"] }`) // random bytes are not JSON
			}
			sameEncoding(t, v.Interface())
			fill(v.Elem())
			sameEncoding(t, v.Elem().Interface())
		}
	}
}

// TestEncodeOther compares with encoding/json for texts with special characters, and for types that
// records do not have.
func TestEncodeOther(t *testing.T) {
	type embedded struct{ Control }
	text := "a"
	for c := range rune(0x100) {
		sameEncoding(t, string(c))
		sameEncoding(t, string([]byte{'x', byte(c), 'y'}))
	}
	for _, v := range []any{
		nil, "", "\u2028", "x\u2029y", "\xff\xfe", "\xed\xa0\x80", "<a href='x'>&amp;</a>", "ü \U0001f600 \ufffd \u2027",
		int8(-3), uint16(7), 1.5, 1e21, math.Copysign(0, -1), []byte("bytes"), []byte(nil), [2]int{1, 2}, any("text"), []any{1, "a", nil, []string(nil)},
		map[string]any{"b": 1, "a\n": nil, "": true}, map[int]string{2: "b", 10: "a"}, map[netip.Addr]int{netip.IPv6Loopback(): 1},
		map[string]string(nil), []string{"x", "\x00"}, []*string{&text, nil}, (*string)(nil), &text, time.Unix(1, 2).UTC(), netip.IPv6Loopback(),
		embedded{Control{Name: "x"}}, &embedded{}, Result{Status: StatusDenied}, []Result{{Status: StatusDenied}},
		loud("a"), []loud{"a"}, map[loud]loud{"b": "c", "a": "d"}, struct {
			A loud  `json:"a"`
			B *loud `json:"b"`
		}{A: "x"},
		struct {
			A int `json:",omitempty"`
			B string
			c int
			D bool   `json:"-"`
			E int    `json:"e,string"`
			F []byte `json:"f,omitzero"`
		}{c: 1},
		struct {
			A []string          `json:"a,omitempty"`
			B map[string]string `json:"b,omitempty"`
			C *int              `json:"c,omitempty"`
			D float64           `json:"d,omitempty"`
			E Control           `json:"e,omitempty"`
			F any               `json:"f,omitempty"`
			G any               `json:"g"`
		}{A: []string{}},
		json.RawMessage(`{`), json.RawMessage(nil), func() {}, make(chan int), map[bool]int{}, []func(){nil}, map[string]func(){"a": nil},
	} {
		sameEncoding(t, v)
	}
}
