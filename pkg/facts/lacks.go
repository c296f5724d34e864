package facts

import "slices"

// lacks are the reasons why facts are incomplete: sorted, each once.
type lacks struct{ codes []string }

func (l *lacks) add(codes ...string) {
	for _, c := range codes {
		if i, found := slices.BinarySearch(l.codes, c); !found {
			l.codes = slices.Insert(l.codes, i, c)
		}
	}
}
