package hello

import "encoding/hex"

// retryRandom is the random value that marks a ServerHello as a
// HelloRetryRequest: SHA-256 of "HelloRetryRequest", RFC 8446 section 4.1.3.
const retryRandom = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c"

// Retry recognises a HelloRetryRequest at the beginning of what a server sends.
// The zero value is ready for use.
type Retry struct {
	seen    int
	decided bool
	retry   bool
}

// retryRandomAt is the offset of the random value: after the record header, the
// handshake header and the version.
const retryRandomAt = recordHeader + 4 + 2

// Feed takes the next bytes from the server. It reports whether they decide
// what the message is.
func (r *Retry) Feed(b []byte) (decided bool) {
	random, _ := hex.DecodeString(retryRandom) // a constant
	for _, c := range b {
		if r.decided {
			break
		}
		want, fixed := byte(0), true
		switch {
		case r.seen == 0:
			want = recordHandshake
		case r.seen == 1:
			want = 3
		case r.seen == recordHeader:
			want = 2 // server_hello
		case r.seen >= retryRandomAt:
			want = random[r.seen-retryRandomAt]
		default:
			fixed = false
		}
		r.seen++
		r.decided = fixed && c != want
		if !r.decided && r.seen == retryRandomAt+len(random) {
			r.decided, r.retry = true, true
		}
	}
	return r.decided
}

// IsRetry reports whether the server asked for a second ClientHello.
func (r *Retry) IsRetry() bool { return r.retry }
