package record

import "slices"

// Modes lists the trust modes, strictest first.
func Modes() []string { return []string{ModePlan, ModeVerify, ModeSafe, ModeAuto} }

// StricterMode is the stricter of two trust modes. A word that is no mode counts as the strictest.
func StricterMode(a, b string) string {
	modes := Modes()
	return modes[max(0, min(slices.Index(modes, a), slices.Index(modes, b)))]
}

// Bounded is the actor with the trust that holds: the mode is never looser than the parent's. It changes nothing of an actor without a parent.
func (a Actor) Bounded() Actor {
	if a.Parent != nil {
		a.Mode = StricterMode(a.Mode, a.Parent.Mode)
	}
	return a
}
