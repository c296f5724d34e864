package control

import (
	"os"
	"strings"
	"testing"

	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/plan"
)

// TestWithoutReading: nothing is left of the rules at and below what may not be
// read, and what lies in a tree that may be is refused, unless the session's mounts
// hide it.
func TestWithoutReading(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/part", 0o755); err != nil {
		t.Fatal(err)
	}
	const read = landlock.Execute | landlock.Read
	rules := []landlock.PathRule{{Path: "/", Access: landlock.ReadDir}, {Path: "/usr", Access: read}, {Path: "/usr/lib", Access: read | landlock.Write}, {Path: dir, Access: read}}
	hidden := &plan.Plan{Paths: []plan.Entry{{Path: dir, Access: plan.ReadOnly}, {Path: dir + "/part", Access: plan.Hidden}}}
	for _, c := range []struct {
		p            *plan.Plan
		denied, want string
	}{
		{nil, "/usr", "/ " + dir},
		{nil, dir, "/ /usr /usr/lib"},
		{nil, dir + "/part", "refused: --deny-read " + dir + "/part lies in " + dir + ", which stays readable: a session cannot enforce this"},
		{hidden, dir + "/part", "/ /usr /usr/lib " + dir},
	} {
		got := ""
		list, err := narrower(c.p, rules, Narrow{DenyRead: []string{c.denied}})
		if err != nil {
			got = " refused: " + err.Error()
		}
		for _, r := range list {
			got += " " + r.Path
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%s:%s, want %s", c.denied, got, c.want)
		}
	}
}

// TestWithoutWriting: rules give no right to write at and below what is denied,
// and what rules cannot take away is refused.
func TestWithoutWriting(t *testing.T) {
	dir := t.TempDir()
	const read, write = landlock.Execute | landlock.Read, landlock.Execute | landlock.Read | landlock.Write
	rules := []landlock.PathRule{
		{Path: "/", Access: landlock.ReadDir}, {Path: "/usr", Access: read}, {Path: dir, Access: write}, {Path: dir + "/ro", Access: read},
		{Path: dir + "/ro/rw", Access: write}, {Path: "/var", Access: write}, {Path: "/var/x", Access: write, File: true},
	}
	for _, c := range []struct{ denied, want string }{
		{"/usr", "/ /usr " + dir + "+ /var+"},
		{dir, "/ /usr " + dir + " /var+"},
		{"/var", "/ /usr " + dir + "+ /var"},
		{dir + " /var", "/ /usr " + dir + " /var"},
		{"/var/tmp", "refused: --deny-write /var/tmp lies in /var, which stays writable: a session cannot enforce this"},
		{"/var/tmp /var", "/ /usr " + dir + "+ /var"},
		{"/nonexistent", "refused: --deny-write: lstat /nonexistent: no such file or directory"},
		{"/", "refused: --deny-write / contains /dev or /proc"},
	} {
		got := ""
		list, err := narrower(nil, rules, Narrow{DenyWrite: strings.Fields(c.denied)})
		if err != nil {
			got = " refused: " + err.Error()
		}
		for _, r := range list {
			if got += " " + r.Path; r.Access&changes != 0 {
				got += "+"
			}
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%s:%s, want %s", c.denied, got, c.want)
		}
	}
	if rules[2].Access != write {
		t.Error("the rules of the session have changed")
	}
}
