package trace

import (
	"cmp"
	"slices"

	"ethos/pkg/record"
)

// Connections returns the command's network connections for people: refused
// ones first, then failed ones, then allowed ones, each in the order of the
// record. more is the number of connections that the record does not keep.
func (e *Entry) Connections() (list []record.Connection, more int) {
	if e.Result == nil {
		return nil, 0
	}
	s := &e.Result.Capture.Sandbox
	list = slices.Clone(s.Connections)
	slices.SortStableFunc(list, func(a, b record.Connection) int { return cmp.Compare(a.Verdict(), b.Verdict()) })
	return list, s.ConnectionsMore
}
