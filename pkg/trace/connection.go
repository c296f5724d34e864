package trace

import (
	"cmp"
	"slices"

	"ethos/pkg/record"
)

// Connections are what the command asked of the network, for people: what was
// refused first, then what failed, then what was allowed, each in the order of
// the record. more counts those that the record does not keep.
func (e *Entry) Connections() (list []record.Connection, more int) {
	if e.Result == nil {
		return nil, 0
	}
	s := &e.Result.Capture.Sandbox
	list = slices.Clone(s.Connections)
	slices.SortStableFunc(list, func(a, b record.Connection) int { return cmp.Compare(a.Verdict(), b.Verdict()) })
	return list, s.ConnectionsMore
}
