package compat

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Reviewed is one row of docs/compatibility.md: tests of a suite with different
// results, and the reason.
type Reviewed struct {
	Suite  string
	Tests  []string // patterns as in [path.Match], but * also matches a slash
	Reason string
}

var code = regexp.MustCompile("`([^`]+)`")

// ParseReviewed parses the tables of a page whose first column is headed
// "suite", the second "tests" and the third "why".
func ParseReviewed(page string) (rows []Reviewed, err error) {
	in := false
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			in = false
		case len(cells) == 3 && strings.TrimSpace(cells[0]) == "suite":
			in = true
		case in && len(cells) != 3:
			return nil, fmt.Errorf("not three columns: %s", line)
		case in && strings.Trim(cells[0], "- ") != "":
			row := Reviewed{Suite: strings.TrimSpace(cells[0]), Reason: strings.TrimSpace(cells[2])}
			for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
				row.Tests = append(row.Tests, m[1])
			}
			if len(row.Tests) == 0 || row.Reason == "" {
				return nil, fmt.Errorf("a row without tests or without a reason: %s", line)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// Covers reports whether the row covers a test of a suite.
func (r Reviewed) Covers(suite, test string) bool {
	if r.Suite != suite {
		return false
	}
	flat := strings.NewReplacer("/", "\x00")
	for _, pattern := range r.Tests {
		if ok, _ := path.Match(flat.Replace(pattern), flat.Replace(test)); ok {
			return true
		}
	}
	return false
}
