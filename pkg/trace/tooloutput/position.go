package tooloutput

import (
	"strconv"
	"strings"
)

// position splits file:line:column; line and column are 0 if they are absent.
func position(posn string) (file string, line, column int) {
	rest, last, ok := cutNumber(posn)
	if !ok {
		return posn, 0, 0
	}
	if file, line, ok := cutNumber(rest); ok {
		return file, line, last
	}
	return rest, last, 0
}

func cutNumber(s string) (string, int, bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	return s[:i], n, err == nil && n >= 0
}
