package compat

import "strings"

// Status is how a test ended. A test that a side never reached is Missing.
type Status string

// The results of a test.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
	Missing Status = "missing"
)

// Case is one test: its name and its output.
type Case struct {
	Name   string
	Status Status
	Output string
}

// Difference is a test with different results outside and inside.
type Difference struct {
	Name            string
	Outside, Inside Status
	Output          string // from the side on which it failed, else from the inside
}

func (d Difference) String() string {
	return d.Name + ": " + string(d.Outside) + " outside, " + string(d.Inside) + " inside"
}

// Differences compares two sides test by test, in the order of the outside,
// followed by the tests that only the inside has. If a name occurs twice, the
// worse result counts.
func Differences(outside, inside []Case) (list []Difference) {
	out, in := byName(outside), byName(inside)
	seen := map[string]bool{}
	for _, c := range append(outside[:len(outside):len(outside)], inside...) {
		if seen[c.Name] {
			continue
		}
		seen[c.Name] = true
		d := Difference{Name: c.Name, Outside: statusOf(out, c.Name), Inside: statusOf(in, c.Name)}
		if d.Outside == d.Inside {
			continue
		}
		if d.Output = in[c.Name].Output; d.Outside == Failed {
			d.Output = out[c.Name].Output
		}
		list = append(list, d)
	}
	return list
}

func byName(cases []Case) map[string]Case {
	m := map[string]Case{}
	for _, c := range cases {
		if had, ok := m[c.Name]; !ok || had.Status != Failed {
			m[c.Name] = c
		}
	}
	return m
}

func statusOf(m map[string]Case, name string) Status {
	if c, ok := m[name]; ok {
		return c.Status
	}
	return Missing
}

// Common returns the differences that both lists have. A difference that
// occurred only once is considered random.
func Common(first, second []Difference) (list []Difference) {
	again := map[string]bool{}
	for _, d := range second {
		again[d.String()] = true
	}
	for _, d := range first {
		if again[d.String()] {
			list = append(list, d)
		}
	}
	return list
}

// tail returns the end of a test's output, which describes the failure.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
