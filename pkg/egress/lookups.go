package egress

import (
	"slices"
	"strings"

	"ethos/pkg/egress/rule"
)

// Lookups are the look-ups outside for which one pattern is the reason. Whoever
// runs the name server sees each name, so made-up names carry data to it, also
// where nothing is connected to.
type Lookups struct {
	Pattern string
	Names   int // that differ; beyond [MaxLookedUp] of all patterns no more are counted
	Times   int
}

// MaxLookedUp limits the names that [Gateway.Lookups] tells apart.
const MaxLookedUp = 10_000

// noteLookup records that a name is looked up outside. A pattern without a star
// stands for a name that the user chose.
func (n *names) noteLookup(h rule.Host) {
	pattern := n.rules.Query(h).Rule
	if !strings.HasPrefix(pattern, "*") {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.IndexFunc(n.lookups, func(l Lookups) bool { return l.Pattern == pattern })
	if i < 0 {
		i = len(n.lookups)
		n.lookups = append(n.lookups, Lookups{Pattern: pattern})
	}
	n.lookups[i].Times++
	if !n.looked[h.Name()] && len(n.looked) < MaxLookedUp {
		n.looked[h.Name()] = true
		n.lookups[i].Names++
	}
}

// Lookups returns, for each pattern with a star, how many names were looked up
// outside because of it, in the order of the first look-ups.
func (g *Gateway) Lookups() []Lookups {
	g.names.mu.Lock()
	defer g.names.mu.Unlock()
	return slices.Clone(g.names.lookups)
}
