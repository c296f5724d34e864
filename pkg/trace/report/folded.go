package report

// folded lists rows in limited memory, one for each key.
type folded[K comparable, R any] struct {
	rows  []*R
	known map[K]*R
	more  int // number left out
}

// row returns the row of a key, made by first if there is none. It returns nil if the list already
// has max other rows.
func (l *folded[K, R]) row(key K, max int, first func() R) *R {
	if row := l.known[key]; row != nil {
		return row
	}
	if len(l.rows) == max {
		l.more++
		return nil
	}
	if l.known == nil {
		l.known = map[K]*R{}
	}
	row := new(first())
	l.known[key] = row
	l.rows = append(l.rows, row)
	return row
}

// grouped returns rows by agent and session, in the order of the first row of each.
func grouped[R any](rows []*R, who func(*R) string) (groups [][]*R) {
	at := map[string]int{}
	for _, row := range rows {
		i, known := at[who(row)]
		if !known {
			i = len(groups)
			at[who(row)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], row)
	}
	return groups
}
