package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"ethos/pkg/record"
)

// Kind says why a test fails only under ethos.
type Kind string

// The kinds of a difference.
const (
	Refused     Kind = "refused"     // by design: the policy says so in the test's own output
	Consequence Kind = "consequence" // of a refusal before it in the same script
	Bug         Kind = "bug"         // of ethos
)

// Refusal is a test that passes with git and fails with ethos-git in its place.
type Refusal struct {
	Case
	Kind   Kind
	Policy string // its id; "" for a bug
}

var (
	caseLine = regexp.MustCompile(`^(ok|not ok) ([0-9]+) (?:- )?(.*)$`)
	refusal  = regexp.MustCompile(`(?m)^ethos-git: error: .*\(([a-z_]+\.[a-z_]+)\)$`)
	unread   = regexp.MustCompile(`(?m)^ethos-git: error: policy\.incomplete: `)
)

// ParseGit parses the output of a script of git's t/ with --verbose. A test's
// name begins with its number. A known breakage counts as passed.
func ParseGit(output []byte) ([]Case, error) {
	var cases []Case
	var since strings.Builder
	for line := range strings.Lines(string(output)) {
		if strings.HasPrefix(line, "1..0 # SKIP") { // all of it, for what the machine lacks
			return []Case{{Name: "(all)", Status: Skipped, Output: line}}, nil
		}
		m := caseLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			since.WriteString(line)
			continue
		}
		name, known, _ := strings.Cut(" "+m[3], " # ")
		name = strings.TrimPrefix(name, " ")
		c := Case{Name: m[2] + " " + name, Status: Failed, Output: since.String()}
		switch {
		case strings.HasPrefix(known, "skip"):
			c.Status = Skipped
		case m[1] == "ok" || strings.HasPrefix(known, "TODO"):
			c.Status = Passed
		}
		cases = append(cases, c)
		since.Reset()
	}
	return cases, nil
}

// Refusals lists the tests that pass outside and fail with ethos-git, in order.
// What fails outside as well, and what only one side has, is none. stored are the
// policies that refused something in the script, by the records of ethos-git: a test
// may write the refusal into a file of its own, where its output does not show it.
func Refusals(outside, under []Case, stored []string) (list []Refusal) {
	out := byName(outside)
	before := unseen(under, stored)
	for _, c := range under {
		policy := policyOf(c.Output)
		if c.Status == Failed && statusOf(out, c.Name) == Passed {
			list = append(list, refusalOf(c, policy, before))
		}
		if policy != "" {
			before = policy
		}
	}
	return list
}

// unseen is the first of the policies that refused more often than the output of the
// tests shows.
func unseen(under []Case, stored []string) string {
	shown := map[string]int{}
	for _, c := range under {
		for _, m := range refusal.FindAllStringSubmatch(c.Output, -1) {
			shown[m[1]]++
		}
	}
	for _, policy := range stored {
		if shown[policy]--; shown[policy] < 0 {
			return policy
		}
	}
	return ""
}

// Stored lists the policy of each refusal among the records in a store of ethos.
func Stored(store string) (list []string, err error) {
	err = filepath.WalkDir(store, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".ndjson" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			var r struct{ Decision record.Decision }
			if err := json.Unmarshal(line, &r); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if d := r.Decision; d.Verdict != record.VerdictAllow && len(d.Matches) > 0 {
				list = append(list, d.Matches[0].ID)
			}
		}
		return nil
	})
	return list, err
}

func refusalOf(c Case, policy, before string) Refusal {
	switch {
	case policy != "":
		return Refusal{c, Refused, policy}
	case before != "":
		return Refusal{c, Consequence, before}
	}
	return Refusal{c, Bug, ""}
}

func policyOf(output string) string {
	if all := refusal.FindAllStringSubmatch(output, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	if unread.MatchString(output) {
		return "policy.incomplete"
	}
	return ""
}
