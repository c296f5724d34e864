package compat

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Case is one test of a script: its number, its name, and what was printed since
// the one before.
type Case struct {
	Number int
	Name   string
	Passed bool // also where it is known to be broken or was skipped
	Output string
}

// Kind says why a test fails under ethos alone.
type Kind string

// The kinds of a difference.
const (
	Refused     Kind = "refused"     // by design: the policy says so in the test's own output
	Consequence Kind = "consequence" // of a refusal in a test before it in the same script
	Bug         Kind = "bug"         // of ethos
)

// Difference is a test that passes outside and fails under ethos.
type Difference struct {
	Case
	Kind   Kind
	Policy string // its id; "" of a bug
}

var (
	caseLine = regexp.MustCompile(`^(ok|not ok) ([0-9]+) - (.*)$`)
	refusal  = regexp.MustCompile(`(?m)^ethos-git: error: .*\(([a-z_]+\.[a-z_]+)\)$`)
	unread   = regexp.MustCompile(`(?m)^ethos-git: error: policy\.incomplete: `)
)

// ParseGit reads the output of a script of git's t/ with --verbose.
func ParseGit(r io.Reader) ([]Case, error) {
	var cases []Case
	var output strings.Builder
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		m := caseLine.FindStringSubmatch(lines.Text())
		if m == nil {
			output.WriteString(lines.Text() + "\n")
			continue
		}
		number, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, err
		}
		name, known, _ := strings.Cut(m[3], " # ")
		cases = append(cases, Case{Number: number, Name: name, Passed: m[1] == "ok" || strings.HasPrefix(known, "TODO"), Output: output.String()})
		output.Reset()
	}
	return cases, lines.Err()
}

// Compare lists the tests that pass outside and fail under ethos, in order. What
// fails outside as well, and what only one side has, is not a difference of ethos.
func Compare(outside, under []Case) (list []Difference) {
	passed := map[int]string{}
	for _, c := range outside {
		if c.Passed {
			passed[c.Number] = c.Name
		}
	}
	before := ""
	for _, c := range under {
		policy := policyOf(c.Output)
		if name, ok := passed[c.Number]; ok && name == c.Name && !c.Passed {
			list = append(list, difference(c, policy, before))
		}
		if policy != "" {
			before = policy
		}
	}
	return list
}

func difference(c Case, policy, before string) Difference {
	switch {
	case policy != "":
		return Difference{c, Refused, policy}
	case before != "":
		return Difference{c, Consequence, before}
	}
	return Difference{c, Bug, ""}
}

// policyOf is the policy that refused last.
func policyOf(output string) string {
	if all := refusal.FindAllStringSubmatch(output, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	if unread.MatchString(output) {
		return "policy.incomplete"
	}
	return ""
}
