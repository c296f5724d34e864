package trace

import "ethos/pkg/lazy"

// ruleSet is a set of rules, one bit each.
type ruleSet uint64

// automaton finds any of a set of words in one pass (Aho and Corasick, 1975). It ignores the case
// of ASCII letters.
type automaton struct {
	class   [256]uint8
	classes uint32
	found   []ruleSet // rules whose anchors end in this state
	steps   []uint32  // state × class: the index of the next state's first class, doubled, and 1 if it is in found
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
	a.classes = a.classify(words)
	most := 1 // states
	for w := range words {
		most += len(w)
	}
	a.found, a.steps = make([]ruleSet, 1, most), make([]uint32, uint32(most)*a.classes) // until flatten, steps are states
	for w, set := range words {
		state := uint32(0)
		for i := range len(w) {
			step := &a.row(state)[a.class[w[i]]]
			if *step == 0 {
				*step = uint32(len(a.found))
				a.found = append(a.found, 0)
			}
			state = *step
		}
		a.found[state] |= set
	}
	a.steps = a.steps[:uint32(len(a.found))*a.classes]
	a.link()
	a.flatten()
	return a
}

// row returns the steps from a state.
func (a *automaton) row(state uint32) []uint32 { return a.steps[state*a.classes:][:a.classes] }

// classify assigns a class to each byte that occurs in a word, the same for both cases of a letter.
// All other bytes have class 0.
func (a *automaton) classify(words map[string]ruleSet) uint32 {
	n := uint32(1)
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
	fail := make([]uint32, len(a.found))
	queue := make([]uint32, 0, len(a.found))
	for _, child := range a.row(0) {
		if child != 0 {
			queue = append(queue, child)
		}
	}
	for at := 0; at < len(queue); at++ {
		state := queue[at]
		a.found[state] |= a.found[fail[state]]
		otherwise := a.row(fail[state])
		for c, child := range a.row(state) {
			if child == 0 {
				a.row(state)[c] = otherwise[c]
				continue
			}
			fail[child] = otherwise[c]
			queue = append(queue, child)
		}
	}
}

func (a *automaton) flatten() {
	for i, state := range a.steps {
		a.steps[i] = state * a.classes * 2
		if a.found[state] != 0 {
			a.steps[i]++
		}
	}
}
