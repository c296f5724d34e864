package socks

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// exchange is a client whose bytes are given.
type exchange struct {
	io.Reader
	bytes.Buffer
}

func (e *exchange) Read(p []byte) (int, error)  { return e.Reader.Read(p) }
func (e *exchange) Write(p []byte) (int, error) { return e.Buffer.Write(p) }

const greeting = "\x05\x01\x00"

func TestHandshake(t *testing.T) {
	for text, want := range map[string]Request{
		greeting + "\x05\x01\x00\x03\x0bexample.com\x01\xbb":                        {"example.com", 443},
		"\x05\x03\x02\x01\x00\x05\x01\x00\x03\x01a\x00\x50":                         {"a", 80},
		greeting + "\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x50":                       {"192.0.2.1", 80},
		greeting + "\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x00\x50": {"::1", 80},
		greeting + "\x05\x01\x00\x03\x00\x00\x50":                                   {"", 80},
		greeting + "\x05\x01\x00\x03\x04\x7f\x00\x00\x01\x00\x50":                   {"\x7f\x00\x00\x01", 80},
		greeting + "\x05\x01\x00\x03\x02a\x00\x00\x00":                              {"a\x00", 0},
	} {
		rest := strings.NewReader(text + "beyond")
		e := &exchange{Reader: iotest.OneByteReader(rest)}
		got, err := Handshake(e)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if left, _ := io.ReadAll(rest); string(left) != "beyond" {
			t.Errorf("%q: read on to %q", text, left)
		}
		if e.String() != "\x05\x00" {
			t.Errorf("%q: answered %q", text, e.String())
		}
	}
}

func TestHostile(t *testing.T) {
	for text, answer := range map[string]string{
		"\x04\x01\x00\x50\x7f\x00\x00\x01\x00": "",
		"\x05\x00":                             "\x05\xff",
		"\x05\x01\x02":                         "\x05\xff",
		greeting + "\x05\x02\x00\x01\x7f\x00\x00\x01": "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00",
		greeting + "\x05\x03\x00\x01\x7f\x00\x00\x01": "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00",
		greeting + "\x05\x01\x00\x02":                 "\x05\x00\x05\x08\x00\x01\x00\x00\x00\x00\x00\x00",
		greeting + "\x05\x01\x01\x01":                 "\x05\x00",
		greeting + "\x04\x01\x00\x01":                 "\x05\x00",
	} {
		e := &exchange{Reader: strings.NewReader(text)}
		if got, err := Handshake(e); !errors.Is(err, ErrHandshake) || e.String() != answer {
			t.Errorf("%q: %+v, %v, answered %q, want %q", text, got, err, e.String(), answer)
		}
	}
	whole := greeting + "\x05\x01\x00\x03\x0bexample.com\x01\xbb"
	for i := range whole {
		if got, err := Handshake(&exchange{Reader: strings.NewReader(whole[:i])}); err == nil {
			t.Errorf("cut at %d: %+v", i, got)
		}
	}
}

func FuzzHandshake(f *testing.F) {
	f.Add([]byte(greeting + "\x05\x01\x00\x03\x0bexample.com\x01\xbb"))
	f.Add([]byte(greeting + "\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x50"))
	f.Add([]byte("\x05\x02\x01\x02"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := &exchange{Reader: bytes.NewReader(b)}
		got, err := Handshake(e)
		if err == nil && (len(got.Host) > 255 || e.String() != "\x05\x00") {
			t.Errorf("%x: %+v, answered %x", b, got, e.Bytes())
		}
		if e.Len() > 12 {
			t.Errorf("%x: answered %x", b, e.Bytes())
		}
	})
}
