package trust

import (
	"slices"
	"strings"
	"time"

	"ethos/pkg/egress/rule"
)

// Carries reports whether an approval of the call with this ID would grant a host name, or a
// pattern of host names.
func (m *Memory) Carries(id, host string, now time.Time) bool {
	asked, err := rule.ParsePattern(host)
	if err != nil {
		return false
	}
	list, err := m.Refused(now)
	if err != nil {
		return false
	}
	i := slices.IndexFunc(list, func(c Refused) bool { return c.ID == id })
	return i >= 0 && slices.ContainsFunc(list[i].Grants, func(grant string) bool {
		pattern, ok := strings.CutPrefix(grant, "domain=")
		p, err := rule.ParsePattern(pattern)
		return ok && err == nil && p.Covers(asked)
	})
}
