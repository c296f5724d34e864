package trace

import "strings"

const privateKind = "private-key"

// privateKeys finds private keys in PEM (RFC 7468) and OpenPGP armor (RFC 9580). A truncated key
// has no END line: everything after BEGIN counts.
func privateKeys(text string) (found []span) {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	for at := 0; ; {
		i := strings.Index(text[at:], begin)
		if i < 0 {
			return found
		}
		from := at + i
		at = from + len(begin)
		label, _, ok := strings.Cut(text[at:min(len(text), at+80)], dashes)
		if !ok || !strings.HasSuffix(strings.TrimSuffix(label, " BLOCK"), "PRIVATE KEY") {
			continue
		}
		to := len(text)
		if j := strings.Index(text[at:], end); j >= 0 {
			to = at + j + len(end)
			if k := strings.Index(text[to:], dashes); k >= 0 && k < 80 {
				to += k + len(dashes)
			}
		}
		found = append(found, span{from, to, privateKind})
		at = to
	}
}
