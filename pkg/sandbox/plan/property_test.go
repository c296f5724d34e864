package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/faketree"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/shorttest"
)

// plans is how many random worlds each property is held against.
const plans = 300

// world is a random file system with a random spec for it.
type world struct {
	tree faketree.Tree
	spec Spec
}

const (
	fakeHome = "/home/u"
	fakeWork = "/home/u/w"
)

// newWorld makes one out of a seed, so that a failure can be looked at again.
func newWorld(seed uint64) world {
	r := rand.New(rand.NewPCG(seed, seed))
	t := faketree.Tree{}
	t.File("/usr/bin/sh", "")
	t.Link("/bin", "usr/bin")
	t.File("/etc/passwd", "")
	t.File("/srv/data/in/deep/file", "")
	t.File("/srv/data/other", "")
	t.Link("/srv/link", "data/in")
	t.File(fakeHome+"/.cache/go-build/00/kept", "")
	t.File(fakeHome+"/.ssh/id", "")
	t.File(fakeWork+"/src/main.go", "")
	for _, some := range features {
		if r.IntN(3) == 0 {
			some(t)
		}
	}
	return world{t, randomSpec(r, t)}
}

// features are what a work space may hold.
var features = []func(faketree.Tree){
	func(t faketree.Tree) { gitDir(t, fakeWork+"/.git") },
	func(t faketree.Tree) {
		gitDir(t, fakeWork+"/.git")
		t.Link(fakeWork+"/.git/hooks", "../githooks")
		t.File(fakeWork+"/githooks/pre-commit", "")
	},
	func(t faketree.Tree) {
		gitDir(t, fakeWork+"/.git")
		t.File(fakeWork+"/.git/config", "[core]\n\thooksPath = .husky\n[include]\n\tpath = ../extra\n")
		t.File(fakeWork+"/.husky/pre-commit", "")
	},
	func(t faketree.Tree) {
		gitDir(t, fakeWork+"/.git")
		gitDir(t, fakeWork+"/.git/modules/lib/one")
		t.File(fakeWork+"/lib/one/.git", "gitdir: ../../.git/modules/lib/one")
	},
	func(t faketree.Tree) {
		gitDir(t, fakeHome+"/repo/.git")
		delete(t, fakeWork+"/.git")
		for path := range t {
			if mount.Within(path, fakeWork+"/.git") {
				delete(t, path)
			}
		}
		t.File(fakeWork+"/.git", "gitdir: "+fakeHome+"/repo/.git/worktrees/w\n")
		t.File(fakeHome+"/repo/.git/worktrees/w/gitdir", fakeWork+"/.git\n")
		t.File(fakeHome+"/repo/.git/worktrees/w/commondir", "../..\n")
		t.File(fakeHome+"/repo/.git/worktrees/w/HEAD", "")
	},
	func(t faketree.Tree) { gitDir(t, fakeWork+"/sub/.git") },
	func(t faketree.Tree) { gitDir(t, fakeWork+"/a/b/c/.git") },
	func(t faketree.Tree) { t.File(fakeWork+"/a/.claude/settings.json", "") },
	func(t faketree.Tree) {
		t.Link(fakeWork+"/.claude", "conf/claude")
		t.File(fakeWork+"/conf/claude/settings.json", "")
	},
	func(t faketree.Tree) { t.Link(fakeWork+"/.mcp.json", "not/there") },
	func(t faketree.Tree) { t.File(fakeWork+"/coding_ethos.yml", "") },
	func(t faketree.Tree) { t.File(fakeWork+"/.coding-ethos/traces/1", "") },
	func(t faketree.Tree) { t.ClosedDir(fakeWork + "/shut"); t.File(fakeWork+"/shut/f", "") },
	func(t faketree.Tree) { t.Link(fakeWork+"/out", "/srv/data") },
	func(t faketree.Tree) { gitDir(t, "/srv/data/in/.git") },
	func(t faketree.Tree) {
		t.File(fakeHome+"/.gitconfig", "[core]\n\tfsmonitor = src/watch\n")
		t.File(fakeWork+"/src/watch", "")
	},
}

func gitDir(t faketree.Tree, dir string) {
	t.File(dir+"/HEAD", "ref: refs/heads/main\n")
	t.File(dir+"/objects/pack/p", "")
	t.File(dir+"/refs/heads/main", "")
	t.File(dir+"/config", "[core]\n")
	t.Dir(dir + "/info")
}

// randomSpec declares paths that are there, that are not, and that lead elsewhere.
func randomSpec(r *rand.Rand, t faketree.Tree) Spec {
	pool := slices.DeleteFunc(t.Paths(), func(p string) bool { return !mount.Within(p, fakeHome) && !mount.Within(p, "/srv") })
	pool = append(pool, "/srv/none?", fakeWork+"/new/file?", fakeWork+"/src/../later?", "~/.cache", ".", "./src", "${SRV:-/srv/data}", "/usr/bin", "/etc/passwd", fakeWork+"/.git/hooks?")
	some := func(most int) (list []string) {
		for range r.IntN(most + 1) {
			list = append(list, pool[r.IntN(len(pool))])
		}
		return list
	}
	profiles := []string{"lint-offline", "workspace", "agent-shell", "build"}
	spec := Spec{
		Asked: capability.OnProfile(profiles[r.IntN(len(profiles))]), Argv: []string{"make"}, Dir: fakeWork, Workspace: fakeWork, Environ: []string{"HOME=" + fakeHome, "PATH=/usr/bin"},
	}
	spec.ReadPaths, spec.WritePaths, spec.DenyReadPaths, spec.DenyWritePaths = some(2), some(2), some(3), some(3)
	spec.AllowReadWithinDeny, spec.CachePaths = some(1), some(1)
	return spec
}

func (w world) build() (*Plan, error) { return Build(w.spec, w.tree, faketree.User) }

// each holds a property against random worlds whose spec can be met, of which there must be enough.
func each(t *testing.T, holds func(t *testing.T, w world, p *Plan)) {
	t.Helper()
	met := 0
	for seed := range uint64(plans) {
		w := newWorld(seed)
		p, err := w.build()
		var refusal *Refusal
		if err != nil && (!errors.As(err, &refusal) || refusal.Code != CodeDeclaration) {
			t.Fatalf("world %d: %v is not a refusal of its declarations", seed, err)
		}
		if err != nil {
			continue
		}
		met++
		holds(t, w, p)
		if t.Failed() {
			t.Fatalf("world %d: %+v\n%s", seed, w.spec, p.Text())
		}
	}
	if met < plans/4 {
		t.Fatalf("only %d of %d worlds have a plan", met, plans)
	}
	t.Logf("%d plans", met)
}

// reach is what the command can do to the host at a path.
type reach int

const (
	nothing reach = iota // what is there inside, if anything, is the command's own
	reads
	writes
)

// reachOf goes by the mounts alone, as the kernel will: the last one that covers a path is the one that is met.
func reachOf(mounts []mount.Mount, path string) (reach, *mount.Mount) {
	var last *mount.Mount
	for i := range mounts {
		if m := &mounts[i]; m.Kind != mount.Symlink && mount.Within(path, m.Target) {
			last = m
		}
	}
	switch {
	case last == nil:
		return nothing, nil
	case last.Kind == mount.Bind && last.Writable:
		return writes, last
	case last.Kind == mount.Bind, last.Kind == mount.Overlay:
		return reads, last
	}
	return nothing, last
}

// places are the paths that a property is looked at for: all there are, and in each directory one that is not.
func (w world) places(p *Plan) (list []string) {
	for path, n := range w.tree {
		list = append(list, path)
		if n.IsDir() {
			list = append(list, filepath.Join(path, "new"), filepath.Join(path, "coding_ethos.yml"), filepath.Join(path, ".git"))
		}
	}
	for _, e := range p.Paths {
		list = append(list, e.Path, e.Path+"/x")
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestPlanOrder: neither the order of declarations nor repeating one changes the plan.
func TestPlanOrder(t *testing.T) {
	each(t, func(t *testing.T, w world, p *Plan) {
		r := rand.New(rand.NewPCG(uint64(len(p.Paths)), 7))
		other := w.spec
		for _, list := range []*[]string{&other.ReadPaths, &other.WritePaths, &other.DenyReadPaths, &other.DenyWritePaths, &other.AllowReadWithinDeny, &other.CachePaths} {
			*list = slices.Concat(*list, *list)
			r.Shuffle(len(*list), func(i, j int) { (*list)[i], (*list)[j] = (*list)[j], (*list)[i] })
		}
		q, err := Build(other, w.tree, faketree.User)
		if err != nil {
			t.Errorf("in another order: %v", err)
			return
		}
		if a, b := comparable(t, p), comparable(t, q); a != b {
			t.Errorf("in another order:\n%s", q.Text())
		}
	})
}

// comparable is all of a plan but its notes, which tell of declarations one by one.
func comparable(t *testing.T, p *Plan) string {
	t.Helper()
	q := *p
	q.Notes = nil
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPlanDenies: what is denied is not to be reached, whatever is granted around it: the last mount that covers it is the deny.
func TestPlanDenies(t *testing.T) {
	each(t, func(t *testing.T, w world, p *Plan) {
		for most, list := range map[reach][]string{nothing: w.spec.DenyReadPaths, reads: w.spec.DenyWritePaths} {
			for _, declared := range list {
				path := w.resolved(declared)
				most := most
				if w.foreign(path) {
					continue
				}
				if !w.tree.Has(path) {
					most = max(most, reads) // a read-only directory may show what somebody outside puts there
				}
				if got, by := reachOf(p.Mounts, path); got > most {
					t.Errorf("%s is denied, and %s leaves it open", path, by.Target)
				}
				w.below(t, p, path, most)
			}
		}
	})
}

// below: what lies in a denied directory is denied, but where a deeper declaration says otherwise.
func (w world) below(t *testing.T, p *Plan, denied string, most reach) {
	t.Helper()
	grants := w.resolvedAll(slices.Concat(w.spec.ReadPaths, w.spec.WritePaths, w.spec.AllowReadWithinDeny, w.spec.CachePaths))
	grants = append(grants, fakeWork)
	for path := range w.tree {
		allowed := func(g string) bool { return g != denied && mount.Within(g, denied) && mount.Within(path, g) }
		if !mount.Within(path, denied) || slices.ContainsFunc(grants, allowed) || w.opened(path, denied) {
			continue
		}
		if got, by := reachOf(p.Mounts, path); got > most {
			t.Errorf("%s lies in %s, which is denied, and %s leaves it open", path, denied, by.Target)
		}
	}
}

// opened: a linked work tree brings its repository's git directory in, and git its configuration.
func (w world) opened(path, denied string) bool {
	for _, own := range []string{fakeHome + "/repo/.git", fakeHome + "/.gitconfig", "/usr", "/etc", fakeHome + "/.cache/go-build"} {
		if own != denied && mount.Within(own, denied) && mount.Within(path, own) {
			return true
		}
	}
	return false
}

func (w world) resolved(declared string) string {
	path := strings.TrimSuffix(declared, "?")
	switch {
	case strings.HasPrefix(path, "${SRV:-"):
		path = "/srv/data"
	case strings.HasPrefix(path, "~"):
		path = fakeHome + path[1:]
	case !filepath.IsAbs(path):
		path = filepath.Join(fakeWork, path)
	}
	to, _ := w.tree.Real(filepath.Clean(path))
	return to
}

func (w world) resolvedAll(declared []string) (list []string) {
	for _, d := range declared {
		list = append(list, w.resolved(d))
	}
	return list
}

// TestPlanProtects: no writable mount leaves open what decides what runs outside, and none can be moved aside with the directory it is in.
func TestPlanProtects(t *testing.T) {
	each(t, func(t *testing.T, w world, p *Plan) {
		for _, path := range w.protectedPaths(p) {
			to, _ := w.tree.Real(path)
			if w.foreign(to) {
				continue
			}
			if !w.tree.Has(to) && creatable(p, to) {
				continue
			}
			if got, by := reachOf(p.Mounts, to); got == writes {
				t.Errorf("%s (%s) can be written: %s", path, to, by.Target)
			}
			w.held(t, p, to)
		}
	})
}

// creatable reports whether a path is put aside when it comes to exist.
func creatable(p *Plan, path string) bool {
	return slices.ContainsFunc(p.ProtectedNames, func(w ProtectedNames) bool {
		return slices.ContainsFunc(w.Names, func(name string) bool { return filepath.Join(w.Dir, name) == path })
	})
}

// foreign: it is missing in a directory of somebody else, where the command could not make it either.
func (w world) foreign(path string) bool {
	if w.tree.Has(path) {
		return false
	}
	dir := filepath.Dir(path)
	for !w.tree.Has(dir) {
		dir = filepath.Dir(dir)
	}
	return w.tree[dir].UID != faketree.User
}

// protectedPaths lists what must not be written: in each writable root the protected names, and of each git directory what git runs or is led by.
func (w world) protectedPaths(p *Plan) (list []string) {
	for _, m := range p.Mounts {
		if m.Kind == mount.Bind && m.Writable && !m.Device && !m.File && m.Why != "held in place" && !strings.Contains(m.Target, "/.git") {
			for _, name := range protectedNames.Get() {
				list = append(list, filepath.Join(m.Target, name))
			}
		}
	}
	for path := range w.tree {
		dir := filepath.Dir(path)
		switch {
		case filepath.Base(path) == "HEAD" && w.tree.Has(dir+"/objects") && w.tree.Has(dir+"/refs"):
			for _, name := range gitProtected {
				list = append(list, filepath.Join(dir, name))
			}
		case slices.Contains(protectedNames.Get(), filepath.Base(path)):
			list = append(list, path)
		}
	}
	return list
}

// held: a protected path in a writable mount is a mount point, as is each directory between: no mount point can be renamed.
func (w world) held(t *testing.T, p *Plan, path string) {
	t.Helper()
	at := path
	for !w.tree.Has(at) && !slices.ContainsFunc(p.Placeholders, func(g Placeholder) bool { return g.Path == at }) && at != "/" {
		at = filepath.Dir(at)
	}
	for dir := at; dir != "/"; dir = filepath.Dir(dir) {
		_, m := reachOf(p.Mounts, filepath.Dir(dir))
		if m == nil || m.Kind != mount.Bind || !m.Writable {
			return
		}
		if !slices.ContainsFunc(p.Mounts, func(m mount.Mount) bool { return m.Target == dir }) {
			t.Errorf("%s can be renamed, and %s with it", dir, path)
		}
	}
}

// TestPlanNarrows: one more deny, or one grant less, opens nothing. A path to read within one to write makes it read-only, so without it no more can be seen.
func TestPlanNarrows(t *testing.T) {
	shorttest.Long(t)
	each(t, func(t *testing.T, w world, p *Plan) {
		pool := w.tree.Paths()
		path := pool[rand.New(rand.NewPCG(uint64(len(p.Mounts)), 11)).IntN(len(pool))]
		for what, change := range map[string]func(*Spec){
			"denied to be read: " + path:    func(s *Spec) { s.DenyReadPaths = append(slices.Clone(s.DenyReadPaths), path) },
			"denied to be written: " + path: func(s *Spec) { s.DenyWritePaths = append(slices.Clone(s.DenyWritePaths), path) },
			"no allow within a deny":        func(s *Spec) { s.AllowReadWithinDeny = nil },
			"no cache":                      func(s *Spec) { s.CachePaths = nil },
		} {
			w.narrower(t, what, p, writes, change)
		}
		w.narrower(t, "nothing declared to be read", p, reads, func(s *Spec) { s.ReadPaths = nil })
		w.narrower(t, "nothing declared to be written", p, reads, func(s *Spec) { s.WritePaths = nil })
	})
}

// narrower: what a change of the spec leads to reaches no more than the plan, as far as most.
func (w world) narrower(t *testing.T, what string, p *Plan, most reach, change func(*Spec)) {
	t.Helper()
	less := w
	change(&less.spec)
	q, err := less.build()
	if err != nil {
		return
	}
	for _, path := range w.places(p) {
		had, _ := reachOf(p.Mounts, path)
		has, by := reachOf(q.Mounts, path)
		if has == reads && !w.tree.Has(path) {
			continue // there is nothing to be read, but what a plan puts there to hold the place
		}
		if min(has, most) > min(had, most) && (most == writes || w.tree.Has(path)) {
			t.Errorf("%s: %s is reached by %s, and was not", what, path, by.Target)
		}
	}
}

// TestPlanProfiles: what a profile that is narrower reaches, a wider one reaches too.
func TestPlanProfiles(t *testing.T) {
	each(t, func(t *testing.T, w world, p *Plan) {
		w.narrower(t, "lint-offline instead of "+p.Profile, p, writes, func(s *Spec) { s.Base = capability.OnProfile("lint-offline").Base })
	})
}

// TestPlanNeverWritable: whatever is declared, the system's trees and the home directory are not.
func TestPlanNeverWritable(t *testing.T) {
	never := append([]string{fakeHome, "/"}, neverWritable...)
	each(t, func(t *testing.T, w world, p *Plan) {
		for _, path := range slices.Concat(never, []string{"/usr/bin/sh", "/etc/passwd", "/home"}) {
			if got, by := reachOf(p.Mounts, path); got == writes {
				t.Error(fmt.Sprint(path, " can be written: ", by.Target))
			}
		}
	})
}

// TestSettingsNeverWritable: a write path in what is protected is an error, under whatever name it comes, not dropped.
func TestSettingsNeverWritable(t *testing.T) {
	for _, path := range []string{".claude", ".claude/sub", "a/.cursor/rules", ".coding-ethos/traces", "conf/claude/sub", ".git/hooks", "sub/.git"} {
		for _, profile := range []string{"lint-offline", "workspace"} {
			w := world{faketree.Tree{}, Spec{Asked: asked(profile, "--rw", path), Argv: []string{"true"}, Dir: fakeWork, Workspace: fakeWork, Environ: []string{"HOME=" + fakeHome}}}
			for _, dir := range []string{".claude-not/sub", ".git/hooks", "sub/.git", "a/.cursor/rules", ".coding-ethos/traces", "conf/claude/sub"} {
				w.tree.Dir(filepath.Join(fakeWork, dir))
			}
			w.tree.Link(fakeWork+"/.claude", "conf/claude")
			_, err := w.build()
			if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Code != CodeDeclaration || refusal.Hint == "" {
				t.Errorf("%s: %s: %v", profile, path, err)
			}
			w.spec.WritePaths = []string{".claude-not/sub"}
			if _, err := w.build(); err != nil {
				t.Errorf("%s: the neighbour of %s: %v", profile, path, err)
			}
		}
	}
}
