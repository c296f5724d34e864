package seccomp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeStrict decodes one JSON value with nothing after it. A field that is
// unknown, written in another case or repeated is an error; encoding/json alone
// would accept "Names" for "names", and the last of two fields. A profile that
// is read otherwise than its author or another engine reads it would allow
// other calls than they believe.
func decodeStrict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := checkFields(d); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the profile's closing brace")
	}
	d = json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // rejects a known field in the wrong place
	return d.Decode(v)
}

// checkFields reads one value and checks the names of all its fields. It asks
// only whether some object may have the field; that each is in its place is
// checked by the second decoding.
func checkFields(d *json.Decoder) error {
	var open []map[string]bool // the fields seen in each enclosing object; nil for an array
	key := false               // the next token is a field's name
	for first := true; first || len(open) > 0; first = false {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if key {
				if err := checkField(token.(string), open[len(open)-1]); err != nil {
					return err
				}
				key = false
				continue
			}
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
	return nil
}

// checkField refuses a field that no object of a profile has, and one that its
// object already had. The names are those of the OCI runtime specification:
// config-linux.md, "Seccomp".
func checkField(name string, seen map[string]bool) error {
	switch name {
	case "defaultAction", "defaultErrnoRet", "architectures", "flags", "syscalls",
		"names", "action", "errnoRet", "args", "index", "value", "valueTwo", "op":
	default:
		return fmt.Errorf("unknown field %q", name)
	}
	if seen[name] {
		return fmt.Errorf("field %q occurs twice", name)
	}
	seen[name] = true
	return nil
}
