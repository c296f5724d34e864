package facts

import "slices"

// lacks is the set of codes that say why facts are incomplete, sorted.
type lacks struct{ codes []string }

func (l *lacks) add(codes ...string) {
	for _, c := range codes {
		if i, found := slices.BinarySearch(l.codes, c); !found {
			l.codes = slices.Insert(l.codes, i, c)
		}
	}
}
