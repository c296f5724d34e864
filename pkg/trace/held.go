package trace

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"
)

// Held keeps back confined calls whose result may follow in the same input: a store has them twice, as
// decided and with their result, and each counts once.
type Held[T any] struct {
	calls map[callKey]held[T]
	next  int
	bytes int
}

// callKey identifies a call: another action under the same id is another call.
type callKey struct {
	id     string
	action [sha256.Size]byte
}

// held is one call, with its position among them.
type held[T any] struct {
	call T
	size int
	at   int
}

// The limits of what is kept back.
const (
	maxHeld      = 100_000
	maxHeldBytes = 64 << 20
)

// HoldEntry keeps an entry back that awaits its result, and drops what was kept back of one that has
// it. It returns false if the entry counts now.
func HoldEntry(h *Held[*Entry], e *Entry) bool {
	action := e.Line.Raw("action")
	key := callKey{e.Line.ID(), sha256.Sum256(action)}
	if e.Awaits {
		return h.keep(key, e, len(action)+len(e.Line.Raw("facts"))+len(e.Line.Raw("decision"))+1024)
	}
	if e.Result != nil {
		h.drop(key)
	}
	return false
}

// HoldText is [HoldEntry] for the text of a line, which it copies.
func HoldText(h *Held[[]byte], text []byte) bool {
	if !bytes.Contains(text, confined) {
		return false
	}
	var action []byte
	s := skimmer{b: text}
	s.object(func(key, value []byte) {
		if string(key) == "action" {
			action = value
		}
	})
	key := callKey{idOf(text), sha256.Sum256(action)}
	switch {
	case s.bad || key.id == "" || action == nil:
		return false
	case amends(text):
		h.drop(key)
		return false
	}
	return h.keep(key, bytes.Clone(text), len(text))
}

// keep returns false if too much is kept back.
func (h *Held[T]) keep(key callKey, call T, size int) bool {
	h.drop(key) // the same call again
	if len(h.calls) >= maxHeld || h.bytes+size > maxHeldBytes {
		return false
	}
	if h.calls == nil {
		h.calls = map[callKey]held[T]{}
	}
	h.calls[key] = held[T]{call, size, h.next}
	h.next++
	h.bytes += size
	return true
}

// drop forgets a call.
func (h *Held[T]) drop(key callKey) {
	if old, ok := h.calls[key]; ok {
		h.bytes -= old.size
		delete(h.calls, key)
	}
}

// Rest returns the calls whose result did not come, in their order.
func (h *Held[T]) Rest() []T {
	rest := slices.SortedFunc(maps.Values(h.calls), func(a, b held[T]) int { return a.at - b.at })
	h.calls, h.bytes = nil, 0
	calls := make([]T, len(rest))
	for i := range rest {
		calls[i] = rest[i].call
	}
	return calls
}
