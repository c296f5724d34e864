package sarif

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// fingerprintKey names this fingerprint algorithm (3.27.17: a versioned, hierarchical string); the
// second key is the one that GitHub reads.
const (
	fingerprintKey = "ethosFinding/v1"
	githubKey      = "primaryLocationLineHash"
)

// fingerprint identifies a result by rule, path and message, without positions.
func fingerprint(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		p = stable(p)
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// stable removes from a text what varies between equal results: numbers, and the hashes of
// redaction marks.
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

// seen is the set of fingerprints written. It keeps eight bytes of each: two of a million results
// collide in one of 10^7 logs.
type seen map[uint64]struct{}

func (s seen) add(value string) bool {
	sum := sha256.Sum256([]byte(value))
	key := binary.BigEndian.Uint64(sum[:])
	if _, ok := s[key]; ok {
		return false
	}
	s[key] = struct{}{}
	return true
}
