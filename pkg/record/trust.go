package record

import "slices"

// Modes lists the trust modes, strictest first.
func Modes() []string { return []string{ModePlan, ModeVerify, ModeSafe, ModeAuto} }

// StricterMode returns the stricter of two trust modes. An unknown mode counts as the strictest.
func StricterMode(a, b string) string {
	modes := Modes()
	return modes[max(0, min(slices.Index(modes, a), slices.Index(modes, b)))]
}

// Bounded returns the actor with its effective trust: its mode is never less strict than the
// parent's. An actor without a parent is unchanged.
func (a Actor) Bounded() Actor {
	if a.Parent != nil {
		a.Mode = StricterMode(a.Mode, a.Parent.Mode)
	}
	return a
}
