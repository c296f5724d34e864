package explain

import "sync"

// TailBytes is the number of bytes of a command's output that are kept for
// analysis if it fails.
const TailBytes = 16 << 10

// Tail keeps the end of what was written to it. It is safe for concurrent use;
// the zero value is empty.
type Tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements [io.Writer], and never fails.
func (t *Tail) Write(piece []byte) (int, error) {
	n := len(piece)
	piece = piece[max(0, n-TailBytes):]
	t.mu.Lock()
	defer t.mu.Unlock()
	if over := len(t.kept) + len(piece) - TailBytes; over > 0 {
		t.kept = t.kept[:copy(t.kept, t.kept[min(over, len(t.kept)):])]
	}
	t.kept = append(t.kept, piece...)
	return n, nil
}

func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
