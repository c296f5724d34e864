package trace

import "ethos/pkg/lazy"

// ruleSet is a set of rules, one bit each.
type ruleSet uint64

// automaton finds any of a set of words in one pass (Aho and Corasick, 1975). It ignores the case
// of ASCII letters.
type automaton struct {
	class   [256]uint8
	next    [][]uint16 // state × class
	found   []ruleSet  // rules whose anchors end in this state
	classes uint32
	steps   []uint32 // next as one list: what follows is the index of its first class, doubled, and 1 if it is in found
}

var anchors = lazy.Value[*automaton]{Make: func() *automaton {
	words := map[string]ruleSet{}
	for i, r := range rules.Get() {
		for _, w := range r.anchors {
			words[w] |= 1 << i
		}
	}
	return newAutomaton(words)
}}

// window is a part of a text that a rule has to examine.
type window struct {
	from, to int
}

const (
	windowBefore = 512  // bytes of a line before an anchor that a rule sees
	windowAfter  = 4096 // and after it; more if a match reaches the end
)

// look returns the windows that each rule has to examine: from the start of a line with one of its
// anchors, or from shortly before the anchor in a long line, to well after it.
func (a *automaton) look(text string) map[int][]window {
	var out map[int][]window
	state, line := uint32(0), 0
	for i := range len(text) {
		c := text[i]
		if c == '\n' {
			state, line = 0, i+1
			continue
		}
		step := a.steps[state+uint32(a.class[c])]
		if state = step / 2; step%2 == 0 {
			continue
		}
		hits := a.found[state/a.classes]
		if out == nil {
			out = map[int][]window{}
		}
		for r := 0; hits != 0; r, hits = r+1, hits>>1 {
			if hits&1 != 0 {
				out[r] = widen(out[r], window{max(line, i-windowBefore), min(i+windowAfter, len(text))})
			}
		}
	}
	return out
}

// widen adds a window. It merges the window with the last one if they touch.
func widen(list []window, w window) []window {
	if n := len(list); n > 0 && w.from <= list[n-1].to {
		list[n-1].to = w.to
		return list
	}
	return append(list, w)
}

func newAutomaton(words map[string]ruleSet) *automaton {
	a := &automaton{}
	classes := a.classify(words)
	add := func() uint16 {
		a.next = append(a.next, make([]uint16, classes))
		a.found = append(a.found, 0)
		return uint16(len(a.next) - 1)
	}
	add()
	for w, set := range words {
		state := uint16(0)
		for i := range len(w) {
			c := a.class[w[i]]
			if a.next[state][c] == 0 {
				child := add()
				a.next[state][c] = child
			}
			state = a.next[state][c]
		}
		a.found[state] |= set
	}
	a.link()
	a.flatten(classes)
	return a
}

// classify assigns a class to each byte that occurs in a word, the same for both cases of a letter.
// All other bytes have class 0.
func (a *automaton) classify(words map[string]ruleSet) int {
	n := 1
	for w := range words {
		for i := range len(w) {
			c := w[i]
			if a.class[c] != 0 {
				continue
			}
			a.class[c] = uint8(n)
			if 'a' <= c && c <= 'z' {
				a.class[c-'a'+'A'] = uint8(n)
			}
			n++
		}
	}
	return n
}

// link turns the tree of words into an automaton that never goes back in its input.
func (a *automaton) link() {
	fail := make([]uint16, len(a.next))
	var queue []uint16
	for _, child := range a.next[0] {
		if child != 0 {
			queue = append(queue, child)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.found[state] |= a.found[fail[state]]
		for c, child := range a.next[state] {
			if child == 0 {
				a.next[state][c] = a.next[fail[state]][c]
				continue
			}
			fail[child] = a.next[fail[state]][c]
			queue = append(queue, child)
		}
	}
}

func (a *automaton) flatten(classes int) {
	a.classes = uint32(classes)
	for _, row := range a.next {
		for _, state := range row {
			step := uint32(state) * a.classes * 2
			if a.found[state] != 0 {
				step++
			}
			a.steps = append(a.steps, step)
		}
	}
}
