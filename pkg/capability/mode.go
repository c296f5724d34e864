package capability

import (
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// CopyOnWrite is the word of the field view: what a command writes goes into a
// view of its writable directories, and not into them.
const CopyOnWrite = "copy-on-write"

// ForMode is what a command may use at most in a trust mode, without a
// declaration of its own. Of two modes the stricter one is never wider:
//
//   - plan: the work space can be read, and nothing is written;
//   - verify: as safe, in a copy-on-write view that is thrown away;
//   - safe and auto: the work space can be written, and no network is reached. In
//     auto nobody is asked, so the boundary must be there: it is required, not
//     wider.
func ForMode(mode string, space Space) (Set, error) {
	if !slices.Contains(record.Modes(), mode) {
		return Set{}, fmt.Errorf("the modes are %s, not %q", strings.Join(record.Modes(), ", "), mode)
	}
	s, err := known(DefaultProfile)
	if err != nil {
		return s, err
	}
	return inMode(mode, space, s), nil
}

// inMode is what is left of a set in a mode.
func inMode(mode string, space Space, s Set) Set {
	switch mode {
	case record.ModePlan:
		s = Meet(space, looking(s), s)
		s.View = CopyOnWrite // what a grant lets be written is thrown away
	case record.ModeVerify:
		s = Clone(s)
		s.View = CopyOnWrite
	}
	return Derive(s)
}
