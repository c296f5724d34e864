package hello

// Extensions: RFC 6066 section 3, RFC 9849 (encrypted_client_hello).
const (
	extServerName = 0
	extECH        = 0xfe0d
)

// field is the unread rest of a structure; a read past its end marks it bad.
type field struct {
	b   []byte
	bad bool
}

func (f *field) take(n int) []byte {
	if f.bad || n > len(f.b) {
		f.bad = true
		return nil
	}
	out := f.b[:n]
	f.b = f.b[n:]
	return out
}

func (f *field) number(bytes int) (n int) {
	for _, b := range f.take(bytes) {
		n = n<<8 | int(b)
	}
	return n
}

// vector reads a field whose length precedes it in the given number of bytes.
func (f *field) vector(bytes int) field {
	n := f.number(bytes)
	return field{b: f.take(n), bad: f.bad}
}

func (f *field) more() bool { return !f.bad && len(f.b) > 0 }

// parse parses the body of a ClientHello: RFC 8446, section 4.1.2.
func (first *First) parse(body []byte) error {
	f := field{b: body}
	version := f.number(2)
	f.take(32) // random
	session, suites, compression := f.vector(1), f.vector(2), f.vector(1)
	switch {
	case f.bad || version>>8 != 3 || len(session.b) > 32:
		return malformed("truncated, or of another version")
	case len(suites.b) == 0 || len(suites.b)%2 != 0 || len(compression.b) == 0:
		return malformed("cipher suites or compression methods")
	case !f.more():
		return nil // before TLS 1.2 a hello may have no extensions
	}
	extensions := f.vector(2)
	if f.bad || f.more() {
		return malformed("extensions whose length does not match their list")
	}
	return first.extensions(extensions)
}

func (first *First) extensions(list field) error {
	seen := map[int]bool{}
	for list.more() {
		kind, data := list.number(2), list.vector(2)
		if data.bad {
			return malformed("an extension is truncated")
		}
		if seen[kind] {
			return malformed("an extension occurs twice") // RFC 8446, section 4.2
		}
		seen[kind] = true
		switch kind {
		case extECH:
			first.ECH = true
		case extServerName:
			if err := first.serverName(data); err != nil {
				return err
			}
		}
	}
	if list.bad {
		return malformed("an extension is truncated")
	}
	return nil
}

// serverName parses a ServerNameList. The list must hold exactly one host_name:
// no other name type was ever defined, and servers differ in how they treat
// one.
func (first *First) serverName(data field) error {
	list := data.vector(2)
	kind, name := list.number(1), list.vector(2)
	if list.bad || name.bad || list.more() || data.more() || kind != 0 || len(name.b) == 0 {
		return malformed("server_name is not exactly one host name")
	}
	first.ServerName = string(name.b)
	return nil
}
