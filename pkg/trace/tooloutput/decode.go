package tooloutput

import (
	"bytes"
	"encoding/json"
	"iter"
)

// firstJSON decodes the first JSON value that begins with open, and ignores text before and after
// it.
func firstJSON(text []byte, open byte, v any) bool {
	for at := 0; at < len(text); {
		i := bytes.IndexByte(text[at:], open)
		if i < 0 {
			return false
		}
		at += i
		if at == 0 || text[at-1] == '\n' {
			return json.NewDecoder(bytes.NewReader(text[at:])).Decode(v) == nil
		}
		at++
	}
	return false
}

// jsonLines yields each line that is a JSON object, decoded, and nil for every other line.
func jsonLines[T any](text []byte) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for line := range bytes.Lines(text) {
			line = bytes.TrimSpace(line)
			if len(line) == 0 {
				continue
			}
			var v *T
			if line[0] == '{' {
				v = new(T)
				if json.Unmarshal(line, v) != nil {
					v = nil
				}
			}
			if !yield(v) {
				return
			}
		}
	}
}

// looksJSON reports whether the text begins like an object, ignoring leading space.
func looksJSON(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// number returns the text of a JSON value that is a number or a string.
func number(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}
