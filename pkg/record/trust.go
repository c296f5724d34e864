package record

import (
	"fmt"
	"slices"
)

// Modes lists the trust modes, strictest first.
func Modes() []string { return []string{ModePlan, ModeVerify, ModeSafe, ModeAuto} }

// ModeHint is the way out where [ModeGiven] fails.
const ModeHint = "set it to plan, verify, safe or auto"

// ModeGiven returns the trust mode that a flag gives, else that of ETHOS_MODE, or "". The flag has
// been checked; the error is for an unknown mode in ETHOS_MODE, and names the variable.
func ModeGiven(flag string, getenv func(string) string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	mode := getenv("ETHOS_MODE")
	if mode != "" && !slices.Contains(Modes(), mode) {
		return "", fmt.Errorf("ETHOS_MODE: unknown trust mode %q", mode)
	}
	return mode, nil
}

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
