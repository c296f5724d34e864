package sarif

import (
	"bytes"
	"encoding/json"
	"math"

	"ethos/pkg/printable"
)

// appendPrintable appends JSON text in whose strings [printable.Text] has escaped what would control
// a viewer, or be invisible in it. A JSON escape is no help: every viewer decodes it. Applied to all
// that is written, no text of a command, a tool or a record gets around it.
func appendPrintable(dst, text []byte) ([]byte, error) {
	for len(text) > 0 {
		at := bytes.IndexByte(text, '"')
		if at < 0 {
			break
		}
		end, ordinary := quoted(text[at:])
		raw := text[at : at+end]
		dst = append(dst, text[:at]...)
		text = text[at+end:]
		if ordinary {
			dst = append(dst, raw...)
			continue
		}
		var value string
		if err := json.Unmarshal(raw, &value); err != nil {
			return nil, err
		}
		var clean bytes.Buffer
		e := json.NewEncoder(&clean)
		e.SetEscapeHTML(false)
		if err := e.Encode(printable.Text(value)); err != nil {
			return nil, err
		}
		dst = append(dst, bytes.TrimSuffix(clean.Bytes(), []byte{'\n'})...)
	}
	return append(dst, text...), nil
}

// quoted returns the length of the string at the beginning of JSON text, and whether it has only
// graphic ASCII, newlines and tabs.
func quoted(text []byte) (length int, ordinary bool) {
	ordinary = true
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1, ordinary
		case c >= 0x7f:
			ordinary = false
		case c == '\\' && i+1 < len(text):
			i++
			ordinary = ordinary && bytes.IndexByte([]byte(`"\/nt`), text[i]) >= 0
		}
	}
	return len(text), ordinary
}

// position returns a line or column number, or 0 for one that no file has, and with which viewers
// compute.
func position(n int) int {
	if n < 0 || n > math.MaxInt32 {
		return 0
	}
	return n
}
