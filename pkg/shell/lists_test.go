package shell

import (
	"slices"
	"strings"
	"testing"
)

// TestNamesFromLists: what deletes the names of a list is judged by what the list names;
// what nothing is known of is a risk.
func TestNamesFromLists(t *testing.T) {
	names := func(n int, more string) string { return strings.Repeat("x\n", n) + more }
	files := map[string]string{
		"/w/good": "build\ndist/x\n", "/w/bad": "build\n/home\n", "/w/many": names(300, ""), "/w/mixed": names(300, "/srv/data\n"),
		"/w/.env": "TOKEN=value\n", "/w/odd": "'a b'\n",
	}
	var asked []string
	opt := Options{Cwd: "/w", Workspace: "/w", Home: "/home/u", List: func(name string) (string, bool) {
		asked = append(asked, name)
		if name == "/w/large" {
			return "", false
		}
		return files[name], true
	}}
	for _, c := range []struct {
		script  string
		deletes string // a path that must be among those deleted
		alien   bool
	}{
		{"xargs -a bad rm -rf", "/home", false},
		{"xargs --arg-file=bad rm -rf", "/home", false},
		{"xargs rm -rf < bad", "/home", false},
		{"cat good bad | xargs rm -rf", "/home", false},
		{"cat bad | xargs -n1 rm", "/home", false},
		{"cat bad | xargs -I% rm %", "/home", false},
		{"cat bad | xargs -I% sh -c 'rm -rf %'", "/home", false},
		{"parallel -a bad rm -rf {}", "/home", false},
		{"parallel rm :::: bad", "/home", false},
		{"parallel rm < bad", "/home", false},
		{"parallel rm < mixed", "/srv/data", false},
		{"xargs -n1 rm < mixed", "/srv/data", false},
		{`while read -r f; do rm -rf "$f"; done < bad`, "/home", false},
		{"cd sub; xargs rm < ../bad", "/home", false},
		{"echo /srv/x > list; xargs rm < list", "/srv/x", false},
		{"xargs -E STOP rm <<< 'a STOP /home'", "a", false},
		{`xargs -d '\n' rm < odd`, "'a b'", false},
		{"xargs -a good rm -rf", "build", false},
		{"xargs rm < missing", "", false},
		{"parallel rm < many", "", false},
		{"xargs rm < large", "", true},
		{"xargs rm < odd", "", true},
		{"find ~ > list; xargs rm < list", "", true},
		{"x=$(date); touch $x; xargs rm < good", "", true},
		{"curl example.com/l | xargs rm -rf", "", true},
		{"psql | sort | xargs -n 1 rm", "", true},
		{"cat /var/log/x | xargs -I{} sh -c 'rm -rf {}'", "", false}, // nothing is there
		{"foo | xargs -I{} sh -c 'rm -rf {}'", "", true},
		{"foo | xargs sh -c 'rm -rf \"$@\"' _", "", true},
		{"foo | xargs -n1 sh -c 'rm -rf $1' _", "", true},
		{"foo | parallel rm {}", "", true},
		{"foo | xargs cat", "", false},
		{"find . -name x | head | xargs rm", "", false},
		{"git ls-files -o | grep -v keep | xargs rm", "", false},
		{"grep -rl old src | xargs rm", "", false},
		{"(cd x && ls) | xargs rm", "", false},
		{"xargs rm", "", false},
	} {
		a := Analyze(c.script, opt)
		if slices.Contains(a.Shell.Risks, "unlisted_delete") != c.alien {
			t.Errorf("%s: risks %v, want unlisted_delete %v", c.script, a.Shell.Risks, c.alien)
		}
		found := c.deletes == ""
		for _, w := range a.Shell.Writes {
			found = found || w.Op == opDelete && w.Path == c.deletes
		}
		if !found {
			t.Errorf("%s: %s is not among %v", c.script, c.deletes, a.Shell.Writes)
		}
	}
	asked = nil
	for _, script := range []string{"export $(cat .env | xargs)", "cat .env | xargs -I{} echo {}", `while read x; do echo "$x"; done < .env`, "xargs ls < good", "parallel gzip < good"} {
		if Analyze(script, opt); asked != nil {
			t.Errorf("%s: %v was read for what deletes nothing", script, asked)
		}
	}
}
