package sarif

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// fingerprintKey names this way of computing (3.27.17: a versioned, hierarchical string); the second is the one that GitHub reads.
const (
	fingerprintKey = "ethosFinding/v1"
	githubKey      = "primaryLocationLineHash"
)

// fingerprint identifies a result by what it says and where, without positions: the parts are the rule, the path and the message.
func fingerprint(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		p = stable(p)
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// stable takes out of a text what changes when nothing else does: numbers, and the hashes of redaction marks.
func stable(text string) string {
	var out strings.Builder
	inDigits := false
	for at := 0; at < len(text); at++ {
		if mark := markLen(text[at:]); mark > 0 {
			out.WriteString("‹redacted›")
			at += mark - 1
			continue
		}
		digit := text[at] >= '0' && text[at] <= '9'
		switch {
		case digit && !inDigits:
			out.WriteByte('#')
		case !digit:
			out.WriteByte(text[at])
		}
		inDigits = digit
	}
	return out.String()
}

func markLen(text string) int {
	if !strings.HasPrefix(text, "‹redacted:") {
		return 0
	}
	if end := strings.Index(text, "›"); end > 0 {
		return end + len("›")
	}
	return 0
}

func fingerprints(base string, ordinal int) map[string]string {
	value := fmt.Sprintf("%s:%d", base, ordinal)
	return map[string]string{fingerprintKey: value, githubKey: value}
}

// seen is the set of fingerprints written. Eight bytes of each are kept: two of a million results meet by chance once in 10^7 logs.
type seen map[uint64]struct{}

// add reports whether the value is new.
func (s seen) add(value string) bool {
	sum := sha256.Sum256([]byte(value))
	key := binary.BigEndian.Uint64(sum[:])
	if _, ok := s[key]; ok {
		return false
	}
	s[key] = struct{}{}
	return true
}
