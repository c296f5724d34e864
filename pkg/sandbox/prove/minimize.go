package prove

// minimize removes members from a set that passes until no single member can be
// removed: ddmin. It first tries halves, quarters and so on, so that a large
// set shrinks fast. The error is that of passes; the result is then the
// smallest set so far.
func minimize[T any](set []T, passes func([]T) (bool, error)) ([]T, error) {
	for parts := min(2, len(set)); len(set) > 0; {
		smaller, err := reduce(set, parts, passes)
		switch {
		case err != nil:
			return set, err
		case len(smaller) < len(set):
			set, parts = smaller, min(max(parts-1, 2), len(smaller))
		case parts == len(set):
			return set, nil
		default:
			parts = min(2*parts, len(set))
		}
	}
	return set, nil
}

// reduce returns the first part of a set that passes, else the first remainder
// without one part that passes, else the set.
func reduce[T any](set []T, parts int, passes func([]T) (bool, error)) ([]T, error) {
	for _, alone := range []bool{true, false} {
		if parts == 2 && !alone { // each half is the other's remainder
			break
		}
		for i := range parts {
			from, to := i*len(set)/parts, (i+1)*len(set)/parts
			tried := append([]T{}, set[from:to]...)
			if !alone || parts == 1 {
				tried = append(append([]T{}, set[:from]...), set[to:]...)
			}
			if ok, err := passes(tried); ok || err != nil {
				return tried, err
			}
		}
	}
	return set, nil
}
