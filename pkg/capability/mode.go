package capability

import "ethos/pkg/record"

// CopyOnWrite is the value of the field view with which a command writes to a view of its writable
// directories, and not to the directories themselves.
const CopyOnWrite = "copy-on-write"

// inMode returns the upper bound of what a command may use in a trust mode. Of two modes the
// stricter one is never wider:
//
//   - plan: the work space can be read, and nothing can be written;
//   - verify: as safe, in a copy-on-write view that is discarded;
//   - safe and auto: the work space can be written, and no network can be reached. In auto nobody
//     is asked, so the boundary is required; it is not wider.
func inMode(mode string, space Space, s Set) Set {
	switch mode {
	case record.ModePlan:
		s = Meet(space, looking(s), s)
		s.View = CopyOnWrite // writes to granted paths are discarded
	case record.ModeVerify:
		s = Clone(s)
		s.View = CopyOnWrite
	}
	return Derive(s)
}
