package trace

import "strings"

const (
	liveTail  = 4 << 10  // bytes of earlier output that are examined with a piece
	liveKey   = 64 << 10 // like liveTail, while a private key is incomplete
	liveCount = 10_000   // maximum number of streams
)

// LiveRedactor redacts output that arrives in pieces. If a secret begins in one piece and ends in a
// later one, it is removed from the later one. What was passed on before it could be recognised
// stays visible.
type LiveRedactor struct {
	r     *Redactor
	tails map[string]string // by stream: the end of the original output
}

// NewLiveRedactor returns a LiveRedactor that redacts as r does.
func NewLiveRedactor(r *Redactor) *LiveRedactor {
	return &LiveRedactor{r: r, tails: map[string]string{}}
}

// Piece redacts the next piece of a stream.
func (l *LiveRedactor) Piece(stream, piece string) (string, int) {
	tail := l.tails[stream]
	joined := tail + piece
	l.keep(stream, joined)
	var found []span
	for _, f := range (reading{prose: true}).secrets(joined) {
		f.from, f.to = max(f.from-len(tail), 0), f.to-len(tail)
		if f.to > 0 {
			found = append(found, f)
		}
	}
	return l.r.cut(piece, found)
}

// keep saves the end of a stream; for an incomplete private key it saves the whole key, up to a
// limit.
func (l *LiveRedactor) keep(stream, text string) {
	if _, known := l.tails[stream]; !known && len(l.tails) >= liveCount {
		return
	}
	from := max(len(text)-liveTail, 0)
	if begin := strings.LastIndex(text, "-----BEGIN "); begin >= 0 && begin < from && !strings.Contains(text[begin:], "-----END ") && len(text)-begin < liveKey {
		from = begin
	}
	l.tails[stream] = text[from:]
}

// Done forgets a stream.
func (l *LiveRedactor) Done(stream string) { delete(l.tails, stream) }
