package trace

// ruleSet is a set of rules, one bit each.
type ruleSet uint64

// automaton finds any of a set of words in one pass (Aho and Corasick, 1975). It ignores the case
// of ASCII letters. That of the anchors of all rules is data, because a hook needs it at every call
// and building it took a twentieth of the time of ethos-decide:
//
//go:generate go test -count=1 -run ^TestAnchorsAreCurrent$ -update .
type automaton struct {
	class   [256]uint8
	classes uint32
	found   []ruleSet // rules whose anchors end in this state
	steps   []uint16  // state × class: the index of the next state's first class, doubled, and 1 if it is in found
}

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
		if state = uint32(step / 2); step%2 == 0 {
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
