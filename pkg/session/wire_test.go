package session

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"ethos/pkg/session/dial"
)

// messages are the types of all messages.
var messages = []reflect.Type{
	reflect.TypeFor[Hello](), reflect.TypeFor[Request](), reflect.TypeFor[Event](), reflect.TypeFor[Status](),
	reflect.TypeFor[[]Log](), reflect.TypeFor[Published](), reflect.TypeFor[Ended](),
}

// fill sets everything below a value to something other than zero, a different one each time.
func fill(v reflect.Value, n *int64, depth int) {
	*n++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(*n % 100)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n % 100))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 3)
	case reflect.String:
		v.SetString(strings.Repeat("\xff", int(*n%300)))
	case reflect.Pointer:
		if depth < 8 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), n, depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n, depth+1)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n, depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n, depth+1)
		fill(value, n, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(*n, *n).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n, depth+1)
		}
	}
}

// TestAllMessages: every field of every message arrives, filled and empty; a message that lacks its
// last byte or has one more is none.
func TestAllMessages(t *testing.T) {
	for _, typ := range messages {
		var n int64
		full := reflect.New(typ)
		fill(full.Elem(), &n, 0)
		for _, sent := range []reflect.Value{full, reflect.New(typ)} {
			text, err := appendValue(nil, sent.Elem())
			if err != nil {
				t.Fatal(err)
			}
			got := reflect.New(typ)
			if err := parse(text, got.Elem()); err != nil || !reflect.DeepEqual(sent.Interface(), got.Interface()) {
				t.Errorf("%v: %v: %+v, want %+v", typ, err, got.Elem(), sent.Elem())
			}
			if err := parse(append(text, 0), reflect.New(typ).Elem()); err == nil {
				t.Errorf("%v with one byte more is taken", typ)
			}
			for cut := range text[:min(len(text), 4<<10)] {
				if err := parse(text[:cut], reflect.New(typ).Elem()); err == nil {
					t.Errorf("%d of %d bytes of %v are taken", cut, len(text), typ)
				}
			}
		}
	}
}

// TestInvalidValues: what is no value of a type is refused, and nothing is allocated for a length
// that the message does not have.
func TestInvalidValues(t *testing.T) {
	type list struct{ Next *list }
	for name, c := range map[string]struct {
		text string
		to   any
	}{
		"a truth of 2": {"\x02", new(bool)}, "a pointer of 2": {"\x02\x00", new(*bool)}, "a byte of 256": {"\x80\x02", new(uint8)},
		"an int8 of 128": {"\x80\x02", new(int8)}, "a long string": {"\x05abcd", new(string)}, "a long slice": {"\xff\xff\xff\xff\x0f", new([]string)},
		"a long map": {"\xff\xff\xff\xff\x0f", new(map[string]string)}, "an endless number": {strings.Repeat("\xff", 11), new(uint64)},
		"a time": {"\x01x", new(time.Time)}, "a deep list": {strings.Repeat("\x01", 1000) + "\x00", new(list)}, "a channel": {"\x00", new(chan int)},
	} {
		if err := parse([]byte(c.text), reflect.ValueOf(c.to).Elem()); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for _, value := range []any{make(chan int), struct{ hidden int }{}, 1i, []any{1}} {
		if _, err := Marshal(value); err == nil {
			t.Errorf("%T is sent", value)
		}
	}
	if text, err := Marshal(int64(math.MinInt64)); err != nil || Unmarshal(text, new(int64)) != nil {
		t.Error("the least number does not arrive")
	}
}

// TestOtherTypes: a difference between the types of the two ends is noticed, also where the form is
// the same.
func TestOtherTypes(t *testing.T) {
	type one struct{ Read, Write []string }
	text, err := Marshal(one{Read: []string{"/a"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := Unmarshal(text, new(struct{ Write, Read []string })); err != errOther {
		t.Errorf("fields in another order: %v", err)
	}
	if err := Unmarshal(text[:7], new(one)); err != errOther {
		t.Errorf("half a hash: %v", err)
	}
	if err := Unmarshal(text, new(one)); err != nil {
		t.Error(err)
	}
	var read struct { // what a release reads of it that sends everything in JSON
		Version int
		Types   string
	}
	if err := json.Unmarshal([]byte(dial.Greeting), &read); err != nil || read.Version <= 4 {
		t.Errorf("%v: %+v", err, read)
	}
	if types := strconv.FormatUint(layoutOf(messages...), 16); types != read.Types {
		t.Errorf("the types of messages have changed: write %s into dial.Greeting", types)
	}
}
