package record

import (
	"encoding/hex"
	"sync"
	"time"

	"ethos/pkg/random"
)

var lastID struct {
	sync.Mutex
	stamp uint64 // milliseconds<<12 | fraction
}

// NewID returns a UUID version 7 (RFC 9562): 48 bits of milliseconds, 12 bits of their fraction (section 6.2, method 3), 62 random bits.
// Ids of one process increase strictly.
func NewID(now time.Time) string {
	var b [16]byte
	random.Read(b[8:])
	stamp := nextStamp(now)
	for i := range 6 {
		b[i] = byte(stamp >> (12 + 40 - 8*i))
	}
	b[6] = 0x70 | byte(stamp>>8)&0x0f
	b[7] = byte(stamp)
	b[8] = b[8]&0x3f | 0x80
	var text [36]byte
	at := 0
	for _, group := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if at > 0 {
			text[at] = '-'
			at++
		}
		at += hex.Encode(text[at:], group)
	}
	return string(text[:])
}

func nextStamp(now time.Time) uint64 {
	ms := uint64(now.UnixMilli())
	fraction := uint64(now.Nanosecond()%1e6) << 12 / 1e6
	lastID.Lock()
	defer lastID.Unlock()
	lastID.stamp = max(ms<<12|fraction, lastID.stamp+1)
	return lastID.stamp
}

// IsID reports whether a text is a UUID in the form that [NewID] returns.
func IsID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i, c := range []byte(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
