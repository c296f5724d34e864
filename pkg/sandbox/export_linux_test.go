package sandbox

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"ethos/pkg/sandbox/kernel/cgroup"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
)

// FixedMachine is a machine that a test makes up.
type FixedMachine struct {
	UID      int
	ABI      int // of Landlock
	Cgroup   bool
	BareProc bool
	Captured bool // the streams are the caller's pipes, not those of this process
	Has      func(path string) bool
	ReadFile func(path string) ([]byte, error)
}

// The numbers of the descriptors that the calls have in them.
const (
	journalFD = 600 + iota
	poolFD
	leafFD
)

// FixedProgram compiles a plan for a machine that is made up: nothing is asked
// of the one that the test runs on. Nobody has run anything in the work space
// before. It does what [Run] does between a plan and the start.
func FixedProgram(t *testing.T, p *Plan, m FixedMachine) (*Plan, *steps.Program, error) {
	t.Helper()
	if m.BareProc {
		p = withBareProc(p, []mount.File{{Name: "cpuinfo", Text: []byte("processor: 0\n")}, {Name: "sys/kernel/pid_max"}})
	}
	l := layers{machine: m.machine()}
	l.resources = &resources{plan: p, machine: l.machine, release: func() {}}
	if m.Cgroup && p.WantsCgroup() {
		l.leaf = fixedLeaf()
	}
	l.landlock, l.landlockReport = landlock.Build(m.ABI, landlockRequest(p, m.ABI))
	var err error
	if l.filters, err = filters(p, m.ReadFile); err != nil {
		return p, nil, err
	}
	if err := l.prepareSockets(p); err != nil {
		return p, nil, err
	}
	streams := stdio{0, 1, 2}
	if m.Captured {
		streams = stdio{20, 21, 22}
	}
	c := compile(p, firstCaches(p), m.guard(p), m.watch(p), l, streams)
	return p, &c.Program, nil
}

// CgroupLimits are what a cgroup is asked to hold, and whether one is looked for.
func CgroupLimits(p *Plan) (bounds cgroup.Limits, wanted, must bool) {
	return cgroupLimits(p), p.WantsCgroup(), p.MustCgroup()
}

func (m FixedMachine) machine() *machine {
	return &machine{
		uid: m.UID, gid: m.UID, lastCapability: func() int { return 40 }, processors: 4, pageBytes: 4096,
		limit: func(r limits.Resource) limits.Limit {
			if r == limits.OpenFiles {
				return limits.Limit{Soft: 20000, Hard: 40000}
			}
			return limits.Limit{Soft: limits.Infinity, Hard: limits.Infinity}
		},
		opened: func(fd int) landlock.FS { // standard input is a file, the others are a terminal, or pipes
			switch {
			case fd == 0, fd == 20:
				return landlock.ReadFile
			case fd < 3:
				return landlock.ReadFile | landlock.WriteFile | landlock.Truncate | landlock.IoctlDev
			}
			return 0
		},
		missing: func(path string) bool { return !m.Has(path) },
	}
}

type fixedDirectory int

func (d fixedDirectory) FD() int    { return int(d) }
func (fixedDirectory) Close() error { return nil }

// fixedLeaf is a cgroup that is a number alone.
func fixedLeaf() *cgroup.Leaf {
	leaf := &cgroup.Leaf{Path: "/leaf"}
	dir := reflect.ValueOf(leaf).Elem().FieldByName("dir")
	reflect.NewAt(dir.Type(), unsafe.Pointer(dir.UnsafeAddr())).Elem().Set(reflect.ValueOf(fixedDirectory(leafFD)))
	return leaf
}

// firstCaches is what [prepareCaches] returns where no other run has a cache.
func firstCaches(p *Plan) []mount.Mount {
	mounts := slices.Clone(p.Mounts)
	for i := range mounts {
		if m := &mounts[i]; m.Kind == mount.Overlay && m.Upper != "" {
			dir := filepath.Join(filepath.Dir(m.Upper), "0")
			m.Upper, m.Work = dir+"/upper", dir+"/work"
		}
	}
	return mounts
}

// guard is what [takeGuard] returns where the journal is empty.
func (m FixedMachine) guard(p *Plan) *guard {
	g := &guard{}
	paths := p.Protective()
	if len(paths) == 0 {
		return g
	}
	g.journal, g.pool = os.NewFile(journalFD, journalName), os.NewFile(poolFD, poolName)
	for _, path := range paths {
		if !m.Has(path.Path) {
			g.items = append(g.items, guardItem{Placeholder: path, create: true, spare: spareName(path.Path), stat: new([2]syscall.Stat_t)})
		}
	}
	return g
}

// watch is what [takeWatch] returns.
func (m FixedMachine) watch(p *Plan) *watch {
	w := &watch{events: -1, suffix: asideSuffix + "00000000", guarded: p.Placeholders}
	for _, watched := range p.Watched {
		d := watchedDir{Watched: watched, were: map[string]*os.File{}}
		for _, name := range watched.Names {
			if m.Has(filepath.Join(watched.Dir, name)) {
				d.were[name] = os.NewFile(journalFD, name)
			}
		}
		w.dirs = append(w.dirs, d)
	}
	return w
}

// Update is the flag -update.
var Update = update
