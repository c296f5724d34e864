package gitargs

import "slices"

// defaultProtected are the branches that count as protected if the repository names none.
var defaultProtected = [...]string{"main", "master"}

func (c *call) protected() []string {
	if len(c.ctx.Repo.ProtectedBranches) > 0 {
		return c.ctx.Repo.ProtectedBranches
	}
	return defaultProtected[:]
}

// isProtected reports whether the branch, or any branch that matches it if it is a pattern, is
// protected.
func (c *call) isProtected(branch string) bool {
	return slices.ContainsFunc(c.protected(), func(pattern string) bool { return overlap(branch, pattern) })
}

// maxPattern is the longest pattern that overlap compares, in bytes; longer ones count as
// overlapping.
const maxPattern = 256

// overlap reports whether some name matches both patterns. It tests whether (len(a), len(b)) is
// reachable in the product of the two, where "*" may match nothing or one more byte.
func overlap(a, b string) bool {
	if len(a) > maxPattern || len(b) > maxPattern {
		return true
	}
	row := make([]bool, len(b)+1)
	for i := 0; i <= len(a); i++ {
		next := make([]bool, len(b)+1)
		for j := 0; j <= len(b); j++ {
			next[j] = reach(a, b, i, j, row, next)
		}
		row = next
	}
	return row[len(b)]
}

// reach computes one cell from its left neighbour in the current row and from the row above.
func reach(a, b string, i, j int, above, row []bool) bool {
	switch {
	case i == 0 && j == 0:
		return true
	case i > 0 && a[i-1] == '*' && (above[j] || j > 0 && row[j-1]):
		return true
	case j > 0 && b[j-1] == '*' && (row[j-1] || i > 0 && above[j]):
		return true
	}
	return i > 0 && j > 0 && above[j-1] && meet(a[i-1], b[j-1])
}

// meet reports whether two single-byte patterns have a byte in common. reach handles the star.
func meet(x, y byte) bool {
	return x != '*' && y != '*' && (x == '?' || y == '?' || x == y)
}
