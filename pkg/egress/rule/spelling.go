package rule

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"ethos/pkg/lazy"
)

// profile maps names as browsers do for a lookup (UTS 46, non-transitional). It
// allows hyphens in the third and fourth position, as the WHATWG URL standard
// does. badName checks lengths and characters.
var profile = lazy.Value[*idna.Profile]{Make: func() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(),
		idna.CheckJoiners(true), idna.CheckHyphens(false), idna.StrictDomainName(false))
}}

// asciiName case-folds a name, converts it to A-labels and removes one trailing
// dot, which names the root.
func asciiName(s string) (string, error) {
	if len(s) > 1024 {
		return "", badHost(s, "too long")
	}
	if name := strings.ToLower(s); plain(name) {
		return strings.TrimSuffix(name, "."), nil
	}
	name, err := profile.Get().ToASCII(s)
	if err != nil {
		return "", badHost(s, "not an internationalized name")
	}
	for label := range strings.SplitSeq(name, ".") {
		if !soundALabel(label) {
			return "", badHost(s, "not an internationalized name")
		}
	}
	return strings.TrimSuffix(strings.ToLower(name), "."), nil
}

// plain reports whether IDNA leaves a text unchanged: ASCII without A-labels.
func plain(name string) bool {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return false
		}
	}
	return !strings.Contains(name, "xn--")
}

// soundALabel reports whether an A-label decodes to text beyond ASCII that
// encodes to the same label. Without this check "xn--example-" would be a
// second spelling of "example" for some decoders (CVE-2024-12224 in another
// library).
func soundALabel(label string) bool {
	if !strings.HasPrefix(label, "xn--") {
		return true
	}
	text, err := idna.Punycode.ToUnicode(label)
	if err != nil || strings.HasPrefix(text, "xn--") || plain(text) {
		return false
	}
	again, err := profile.Get().ToASCII(text)
	return err == nil && again == label
}

// endsInNumber is the "ends in a number" test of the WHATWG URL standard. Such
// a host is an IPv4 address or an error, never a name.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := parseNumber(last)
	return ok
}

// parseIPv4 parses the one to four numbers of inet_aton(3), each decimal, octal
// (0…) or hexadecimal (0x…). The last number fills the remaining bytes.
func parseIPv4(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, ok := parseNumber(part)
		if !ok {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return netip.Addr{}, false
			}
			sum |= n << (24 - 8*i)
			continue
		}
		if n >= 1<<(32-8*i) {
			return netip.Addr{}, false
		}
		sum |= n
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(sum))
	return netip.AddrFrom4(b), true
}

// parseNumber parses one number of an IPv4 address. "0x" is 0, as in browsers.
func parseNumber(s string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
		if s == "" {
			return 0, true
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" || s[0] == '+' || s[0] == '-' || strings.Contains(s, "_") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
