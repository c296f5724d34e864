package seatbelt

import (
	"slices"
	"strings"
)

// Decision is what a profile decides about a request in each of the two readings, see the package
// documentation.
type Decision struct {
	InOrder     bool // the last rule that matches decides
	SingleFirst bool // the last one for the operation decides, and only without one the last for its group
}

// Agreed reports whether both readings decide alike.
func (d Decision) Agreed() bool { return d.InOrder == d.SingleFirst }

// Decide says what the profile decides about a request.
func (p *Parsed) Decide(q Request) (d Decision) { // the default is to deny
	single := false
	for i := range p.rules {
		r := &p.rules[i]
		exact := slices.Contains(r.operations, q.Operation)
		if !exact && !slices.ContainsFunc(r.operations, func(name string) bool { return contains(name, q.Operation) }) || !r.matches(&q) {
			continue
		}
		if d.InOrder = r.allow; exact || !single {
			d.SingleFirst = r.allow
		}
		single = single || exact
	}
	return d
}

func contains(group, operation string) bool {
	prefix, ok := strings.CutSuffix(group, "*")
	return ok && (operation == prefix || strings.HasPrefix(operation, prefix+"-"))
}

func (r *rule) matches(q *Request) bool {
	return len(r.filters) == 0 || slices.ContainsFunc(r.filters, func(f filter) bool { return f.matches(q) })
}
