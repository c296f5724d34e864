package hello

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// MaxLen limits a ClientHello with its record headers, in bytes. Hellos with
// post-quantum key shares and ECH have about 4 KiB.
const MaxLen = 32 << 10

// First is the beginning of a client's stream.
type First struct {
	Raw  []byte // the ClientHello, or the first bytes of another protocol
	Rest []byte // what was read beyond the ClientHello

	TLS        bool   // the stream begins with a ClientHello
	ServerName string // the host_name of server_name, RFC 6066, as written; "" for none
	ECH        bool   // it has an encrypted_client_hello extension, real or GREASE
}

// ErrMalformed is wrapped by the errors for a stream that begins like TLS but
// not with a ClientHello.
var ErrMalformed = errors.New("malformed TLS ClientHello")

// ErrEarly is wrapped by the error for a stream that ended before its
// ClientHello was complete.
var ErrEarly = errors.New("the client disconnected during its ClientHello")

func malformed(reason string) error { return fmt.Errorf("%w: %s", ErrMalformed, reason) }

// Record types, RFC 8446 section 5.1 and RFC 6520.
const (
	recordChangeCipherSpec = 20
	recordAlert            = 21
	recordHandshake        = 22
	recordApplicationData  = 23
	recordHeartbeat        = 24
	recordHeader           = 5
	maxFragment            = 1 << 14
)

// Read reads a stream up to the end of its ClientHello, or the first bytes of a
// stream that is not TLS. It returns an error of r unchanged.
func Read(r io.Reader) (First, error) { return read(r, false) }

// ReadSecond reads the ClientHello that answers a HelloRetryRequest. Records of
// type change_cipher_spec (RFC 8446, appendix D.4) and early data may precede
// it.
func ReadSecond(r io.Reader) (First, error) { return read(r, true) }

func read(r io.Reader, second bool) (First, error) {
	s := scanner{second: second}
	first := First{Raw: make([]byte, 0, leastRead)}
	for {
		at := len(first.Raw)
		if at == cap(first.Raw) {
			first.Raw = slices.Grow(first.Raw, at) // MaxLen is a multiple
		}
		n, err := r.Read(first.Raw[at:min(cap(first.Raw), at+mostRead, MaxLen)])
		first.Raw = first.Raw[:at+n]
		if n > 0 {
			done, scanErr := s.scan(first.Raw)
			if scanErr != nil {
				return first, scanErr
			}
			if done {
				err := s.finish(&first)
				return first, err
			}
		}
		switch {
		case err == io.EOF && len(first.Raw) > 0:
			return first, fmt.Errorf("%w, after %d bytes", ErrEarly, len(first.Raw))
		case err != nil:
			return first, err
		case len(first.Raw) >= MaxLen:
			return first, malformed("too long")
		}
	}
}

// A stream is read in pieces of at most mostRead bytes, so that little is read
// beyond the ClientHello.
const (
	leastRead = 1 << 10
	mostRead  = 4 << 10
)

// scanner finds the handshake message in the records of a stream.
type scanner struct {
	second  bool
	at      int     // bytes of complete records consumed so far
	length  int     // of the handshake message so far
	start   [4]byte // its first bytes
	foreign bool    // stream is not TLS
}

// scan consumes complete records. done is true when the message is complete or
// the stream is not TLS.
func (s *scanner) scan(raw []byte) (done bool, err error) {
	for {
		b := raw[s.at:]
		if s.at == 0 && !s.second {
			if like := likeTLS(b); like != yes {
				s.foreign = like == no
				return s.foreign, nil
			}
			if b[0]&0x80 != 0 {
				return false, malformed("SSLv2 form, which names no server")
			}
		}
		if len(b) < recordHeader {
			return false, nil
		}
		length := int(b[3])<<8 | int(b[4])
		if b[1] != 3 || length == 0 || length > maxFragment+256 {
			return false, malformed("bad record")
		}
		if err := s.expects(b[0], length); err != nil {
			return false, err
		}
		if len(b) < recordHeader+length {
			return false, nil
		}
		s.at += recordHeader + length
		if b[0] == recordHandshake {
			if s.length < len(s.start) {
				copy(s.start[s.length:], b[recordHeader:recordHeader+length])
			}
			s.length += length
		}
		if done, err := s.complete(); done || err != nil {
			return done, err
		}
	}
}

// expects checks the type of the next record.
func (s *scanner) expects(kind byte, length int) error {
	switch {
	case kind == recordHandshake && length <= maxFragment:
		return nil
	case s.second && s.length == 0 && (kind == recordChangeCipherSpec || kind == recordApplicationData):
		return nil
	}
	return malformed("another record in place of the ClientHello")
}

// complete reports whether the message is complete. Bytes after it are an
// error, because a ClientHello ends its flight: RFC 8446, section 5.1.
func (s *scanner) complete() (bool, error) {
	m := s.start
	if s.length > 0 && m[0] != 1 { // client_hello
		return false, malformed("another handshake message")
	}
	if s.length < len(m) {
		return false, nil
	}
	want := len(m) + int(m[1])<<16 + int(m[2])<<8 + int(m[3])
	switch {
	case want > MaxLen:
		return false, malformed("too long")
	case s.length > want:
		return false, malformed("bytes after it in its record")
	}
	return s.length == want, nil
}

func (s *scanner) finish(first *First) error {
	if s.foreign {
		return nil
	}
	first.TLS = true
	first.Raw, first.Rest = first.Raw[:s.at:s.at], bytes.Clone(first.Raw[s.at:])
	return first.parse(s.message(first.Raw)[len(s.start):])
}

// message returns the complete handshake message.
func (s *scanner) message(raw []byte) []byte {
	m := make([]byte, 0, s.length)
	for len(raw) > 0 {
		end := recordHeader + (int(raw[3])<<8 | int(raw[4]))
		if raw[0] == recordHandshake {
			m = append(m, raw[recordHeader:end]...)
		}
		raw = raw[end:]
	}
	return m
}

type likeness int

const (
	no likeness = iota
	unknown
	yes
)

// likeTLS reports whether a TLS server could take b for TLS. Servers differ:
// crypto/tls accepts any version below 0x1000 in the first record, and skips
// warning alerts; some servers accept a ClientHello in SSLv2 form, RFC 5246
// appendix E.2. All of them reject a first handshake message that is not a
// ClientHello, so such a stream may be another protocol.
func likeTLS(b []byte) likeness {
	switch kind := b[0]; {
	case kind == recordHandshake:
		return prefix(b, 6, func(i int) bool {
			return i != 1 && i != 5 || i == 1 && b[1] < 0x10 || i == 5 && (b[5] == 1 || b[3] == 0 && b[4] == 0)
		})
	case kind == recordAlert:
		return prefix(b, 5, func(i int) bool {
			return i == 0 || i == 2 || i == 1 && b[1] < 0x10 || i == 3 && b[3] == 0 || i == 4 && b[4] == 2
		})
	case kind >= recordChangeCipherSpec && kind <= recordHeartbeat:
		return prefix(b, 2, func(i int) bool { return i == 0 || b[1] == 3 })
	case kind&0x80 == 0:
		return no
	}
	return prefix(b, 5, func(i int) bool {
		switch i {
		case 2:
			return b[2] == 1 // client-hello
		case 3:
			return b[3] == 3 || b[3] == 0
		case 4:
			return b[3] == 3 || b[4] == 2
		}
		return true
	})
}

// prefix compares the first n bytes and answers no at the first mismatch.
func prefix(b []byte, n int, right func(i int) bool) likeness {
	for i := range min(n, len(b)) {
		if !right(i) {
			return no
		}
	}
	if len(b) < n {
		return unknown
	}
	return yes
}
