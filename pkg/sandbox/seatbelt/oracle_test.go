package seatbelt

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/faketree"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/shorttest"
)

// scratch is the private directory of the tests.
const scratch = "/private/tmp/ethos/inside"

// The operations on files that the oracle knows.
var (
	reads  = []string{"file-read-data"}
	writes = []string{"file-write-data", "file-write-mode"}
	moves  = []string{"file-write-create", "file-write-unlink"}
	runs   = []string{"process-exec", "file-map-executable"}
	never  = []string{"file-write-setugid", "file-link"}
)

// oracle says what a plan grants, from its table alone.
type oracle struct{ p *plan.Plan }

func (o oracle) access(path string) plan.Access {
	if within(path, scratch) {
		return plan.ReadWrite
	}
	return plan.Covering(o.p.Paths, path).Access
}

// marks lists the paths at which a plan rules something, and the directories that are held around them.
func (o oracle) marks() []string {
	list := append(o.named(), o.p.DenyExec...)
	for _, e := range o.p.Paths {
		list = append(list, e.Path)
	}
	for _, mark := range slices.Clone(list) {
		for up := filepath.Dir(mark); up != "/"; up = filepath.Dir(up) {
			list = append(list, up)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// named lists the protected names that do not exist, as paths.
func (o oracle) named() (list []string) {
	for _, n := range o.p.ProtectedNames {
		for _, name := range n.Names {
			list = append(list, filepath.Join(n.Dir, name))
		}
	}
	return list
}

func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// held reports whether a directory stays where it is: it is writable, and what stands at or below it is ruled otherwise or must stay absent.
func (o oracle) held(path string) bool {
	marks := append(o.named(), o.p.DenyExec...)
	for _, e := range o.p.Paths {
		if e.Path == path && e.Access == plan.ReadWrite {
			return true
		}
		marks = append(marks, e.Path)
	}
	return slices.Contains(o.p.DenyExec, path) || slices.ContainsFunc(marks, func(mark string) bool { return mark != path && within(mark, path) })
}

// allows is the verdict of the plan.
func (o oracle) allows(operation, path string) bool {
	at := o.access(path)
	below := func(mark string) bool { return within(path, mark) }
	writable := at == plan.ReadWrite && !slices.ContainsFunc(o.named(), below)
	switch {
	case slices.Contains(reads, operation):
		return at != plan.Hidden || path == "/"
	case slices.Contains(writes, operation):
		return writable
	case slices.Contains(moves, operation):
		return writable && !o.held(path)
	case slices.Contains(runs, operation):
		return at != plan.Hidden && !slices.ContainsFunc(o.p.DenyExec, below)
	}
	return false
}

// respelt reports whether a path is a ruled path, or lies below one, in another spelling. The profile denies that, and the plan does not know it.
func (o oracle) respelt(path string) bool {
	for _, mark := range o.marks() {
		for at := path; at != "/"; at = filepath.Dir(at) {
			for up := mark; up != "/"; up = filepath.Dir(up) {
				if at != up && strings.EqualFold(at, up) {
					return true
				}
			}
		}
	}
	return false
}

// differences compares a profile with a plan at the paths, for each operation and both readings.
func (o oracle) differences(text string, paths []string, most int) (list []string) {
	profile, err := Parse(text, map[string]string{Scratch: scratch})
	if err != nil {
		return []string{err.Error()}
	}
	for _, path := range paths {
		for _, operation := range slices.Concat(reads, writes, moves, runs, never) {
			both := profile.Decide(Request{Operation: operation, Path: path})
			got, agreed, want := both.InOrder, both.Agreed(), o.allows(operation, path)
			if !agreed || got != want && (got || !o.respelt(path)) {
				if len(list) == most {
					return list
				}
				list = append(list, fmt.Sprintf("%s %s: %t, and the plan says %t (both readings alike: %t)", operation, path, got, want, agreed))
			}
		}
	}
	return list
}

// spellings checks that no other spelling of a ruled path grants more than the path itself.
func (o oracle) spellings(text string, most int) (list []string) {
	profile, err := Parse(text, map[string]string{Scratch: scratch})
	if err != nil {
		return []string{err.Error()}
	}
	for _, mark := range o.marks() {
		for _, path := range variants(mark) {
			for _, below := range []string{"", "/x"} {
				for _, operation := range slices.Concat(reads, writes, moves, runs) {
					if got := profile.Decide(Request{Operation: operation, Path: path + below}); !got.Agreed() || got.InOrder && !o.allows(operation, mark+below) {
						if len(list) == most {
							return list
						}
						list = append(list, fmt.Sprintf("%s %s: allowed %t, and %s is not", operation, path+below, got.InOrder, mark+below))
					}
				}
			}
		}
	}
	return list
}

// variants are spellings of a path whose last names differ.
func variants(path string) (list []string) {
	dir, name := filepath.Split(path)
	up, parent := filepath.Split(strings.TrimSuffix(dir, "/"))
	for _, change := range []func(string) string{
		strings.ToUpper, strings.ToTitle,
		func(s string) string { return strings.ReplaceAll(s, "s", "\u017f") }, func(s string) string { return strings.ReplaceAll(s, "k", "\u212a") },
		strings.NewReplacer("fi", "\ufb01", "ff", "\ufb00", "fl", "\ufb02", "st", "\ufb06", "ss", "\u00df").Replace,
		strings.NewReplacer("é", "e\u0301", "ö", "o\u0308").Replace, strings.NewReplacer("e\u0301", "é").Replace,
	} {
		for _, other := range []string{dir + change(name), up + change(parent) + "/" + name, up + change(parent) + "/" + change(name)} {
			if other != path && !slices.Contains(list, other) {
				list = append(list, other)
			}
		}
	}
	return list
}

// near lists the ruled paths of a plan, what is above, beside and below them.
func (o oracle) near() []string {
	list := []string{"/", "/dev", scratch, scratch + "/made/x", filepath.Dir(scratch), "/home/u/other", "/private/etc/hosts", "/System/Volumes/Data/home/u/w/x"}
	for _, mark := range o.marks() {
		list = append(list, mark, mark+"/below", mark+"2")
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestOracle holds random profiles against their plans: whatever is asked for, both say the same.
func TestOracle(t *testing.T) {
	seeds := make([]uint64, 200)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	seeds = shorttest.Sample(seeds, 5)
	met, held := 0, 0
	for _, seed := range seeds {
		p, err := randomPlan(seed)
		if err != nil {
			continue // a declaration that nobody can have
		}
		met++
		text, err := Write(p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		o := oracle{p}
		if err := Check(text, p, scratch); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		r := rand.New(rand.NewPCG(seed, 7))
		paths := o.near()
		for range 100 {
			paths = append(paths, randomPath(r))
		}
		if diff := append(o.differences(text, paths, 5), o.spellings(text, 5)...); len(diff) > 0 {
			t.Fatalf("seed %d: %d differences, such as\n%s\n%s", seed, len(diff), strings.Join(diff, "\n"), text)
		}
		held += len(o.named())
	}
	if met < len(seeds)/2 || held < 5*len(seeds) {
		t.Errorf("%d plans with %d protected names are too few", met, held)
	}
}

// TestOracleBites takes single rules and filters out of a profile, and puts denies before allows. Each time the comparison must notice.
func TestOracleBites(t *testing.T) {
	probetest.Whole(t)
	p := build(t, func(tree faketree.Tree, s *plan.Spec) {
		repository(tree)
		s.DenyReadPaths, s.DenyWritePaths, s.DenyExecPaths = []string{"secret", "new/first"}, []string{"src/kept"}, []string{"src"}
		s.AllowReadWithinDeny = []string{"secret/open"}
	})
	text, err := Write(p)
	if err != nil {
		t.Fatal(err)
	}
	o := oracle{p}
	near := o.near()
	caught := func(mutant string) bool {
		return len(o.differences(mutant, near, 1))+len(o.spellings(mutant, 1)) > 0
	}
	if caught(text) {
		t.Fatalf("the profile itself differs: %v %v", o.differences(text, near, 5), o.spellings(text, 5))
	}
	rules := strings.Split(text[strings.Index(text, "; files"):], "\n(")
	head, mutants := text[:strings.Index(text, "; files")]+rules[0], 0
	join := func(list []string) string { return head + "\n(" + strings.Join(list, "\n(") }
	for i := 1; i < len(rules); i++ {
		if !strings.Contains(rules[i], "file-") && !strings.Contains(rules[i], "process-") || strings.HasPrefix(rules[i], "allow file-read-metadata") {
			continue
		}
		mutants++
		without := slices.Delete(slices.Clone(rules[1:]), i-1, i)
		if !caught(join(without)) {
			t.Errorf("nobody noticed that this rule was missing: (%s", rules[i])
		}
		if swapped := strings.Replace(rules[i], "deny ", "allow ", 1); swapped != rules[i] {
			if list := slices.Clone(rules[1:]); !caught(join(append(list[:i-1:i-1], append([]string{swapped}, list[i:]...)...))) {
				t.Errorf("nobody noticed that this rule allowed: (%s", rules[i])
			}
		}
		for _, line := range strings.Split(rules[i], "\n") {
			if strings.HasPrefix(line, "  (regex") && strings.Contains(rules[i], "deny ") {
				mutants++
				if other := strings.Replace(rules[i], line, `  (literal "/nowhere")`+strings.Repeat(")", strings.Count(line, "))")), 1); !caught(join(append(slices.Clone(rules[1:i]), append([]string{other}, rules[i+1:]...)...))) {
					t.Errorf("nobody noticed that this filter was missing: %s of (%s", line, rules[i])
				}
			}
		}
	}
	reversed := slices.Clone(rules[1:])
	slices.Reverse(reversed)
	if mutants < 40 || !caught(join(reversed)) {
		t.Errorf("%d mutants, or the order does not matter", mutants)
	}
}

// TestCheckBites: what is compared before each run notices a deny that is missing, an allow for everything, and a network that is open.
func TestCheckBites(t *testing.T) {
	p := build(t, func(tree faketree.Tree, s *plan.Spec) {
		repository(tree)
		s.DenyReadPaths, s.DenyWritePaths, s.DenyExecPaths = []string{"secret"}, []string{"src/kept"}, []string{"src"}
	})
	text, err := Write(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(text, p, scratch); err != nil {
		t.Fatal(err)
	}
	rules := strings.Split(text, "\n(")
	denies := 0
	for i, one := range rules {
		if !strings.HasPrefix(one, "deny ") || strings.HasPrefix(one, "deny default") || strings.HasPrefix(one, "deny file-write-") {
			continue
		}
		denies++
		if mutant := strings.Join(slices.Delete(slices.Clone(rules), i, i+1), "\n("); Check(mutant, p, scratch) == nil {
			t.Errorf("nobody noticed that this rule was missing: (%s", one)
		}
	}
	for _, more := range []string{
		`(allow file-read* (subpath "/"))`, `(allow file-write* (subpath "/"))`, `(allow process-exec* (subpath "/home/u/w/src"))`, `(allow network-outbound (remote ip "*:*"))`,
		`(allow file-read-data (literal "/home/u/w/secret"))`, `(deny file-read* (literal "/usr"))`,
	} {
		if Check(text+more, p, scratch) == nil {
			t.Errorf("nobody noticed %s", more)
		}
	}
	if denies < 20 {
		t.Errorf("%d denies", denies)
	}
}
