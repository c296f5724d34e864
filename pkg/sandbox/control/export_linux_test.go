package control

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"ethos/pkg/protected"
	"ethos/pkg/sandbox/kernel/cgroup"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
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
// before. The controls that would ask it are told what they would have found.
func FixedProgram(t *testing.T, p *plan.Plan, m FixedMachine) (*plan.Plan, *steps.Program, error) {
	t.Helper()
	if m.BareProc {
		p = withBareProc(p, []mount.File{{Name: "cpuinfo", Text: []byte("processor: 0\n")}, {Name: "sys/kernel/pid_max"}})
	}
	j := &Job{Plan: p, Mounts: firstCaches(p), Streams: [3]int{0, 1, 2}, machine: m.machine()}
	if m.Captured {
		j.Streams = [3]int{20, 21, 22}
	}
	controls := New(j)
	for _, c := range controls {
		var err error
		switch c := c.(type) {
		case *landlockControl:
			c.build(m.ABI)
		case *seccompControl, *unixSockets:
			err = c.Prepare(t.Context())
		case *cgroupControl:
			if m.Cgroup && p.WantsCgroup() {
				c.leaf, j.InCgroup = fixedLeaf(), true
			}
		case *placeholders:
			m.placeholders(c)
		case *protectedPaths:
			m.names(c)
		}
		if err != nil {
			return p, nil, err
		}
	}
	return p, &Compile(j, controls).Program, nil
}

// CgroupLimits are what a cgroup is asked to hold, and whether one is looked for.
func CgroupLimits(p *plan.Plan) (bounds cgroup.Limits, wanted, must bool) {
	return (&cgroupControl{Job: &Job{Plan: p}}).bounds(), p.WantsCgroup(), p.MustCgroup()
}

func (m FixedMachine) machine() *machine {
	return &machine{
		uid: m.UID, gid: m.UID, lastCapability: func() int { return 40 }, boundingSet: func() uint64 { return 1<<41 - 1 }, processors: 4, pageBytes: 4096,
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
		device:  func(int) device { return device{} },
		missing: func(path string) bool { return !m.Has(path) }, readFile: m.ReadFile,
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

// firstCaches are the mounts where no other run has a cache.
func firstCaches(p *plan.Plan) []mount.Mount {
	mounts := slices.Clone(p.Mounts)
	for i := range mounts {
		if m := &mounts[i]; m.Kind == mount.Overlay && m.Upper != "" {
			dir := filepath.Join(filepath.Dir(m.Upper), "0")
			m.Upper, m.Work = dir+"/upper", dir+"/work"
		}
	}
	return mounts
}

// placeholders has them as where the journal is empty.
func (m FixedMachine) placeholders(c *placeholders) {
	paths := c.Plan.Protective()
	if len(paths) == 0 {
		return
	}
	c.journal, c.pool = os.NewFile(journalFD, plan.JournalName), os.NewFile(poolFD, poolName)
	for _, path := range paths {
		if !m.Has(path.Path) {
			c.items = append(c.items, placeholder{Placeholder: path, create: true, entry: poolEntry(path.Path), stat: new([2]syscall.Stat_t)})
		}
	}
	c.Uncovers = len(c.items) > 0
}

func (m FixedMachine) names(c *protectedPaths) {
	c.suffix = protected.AsideSuffix + "00000000"
	for _, dir := range c.Plan.ProtectedNames {
		d := protectedDir{ProtectedNames: dir, were: map[string]*os.File{}}
		for _, name := range dir.Names {
			if m.Has(filepath.Join(dir.Dir, name)) {
				d.were[name] = os.NewFile(journalFD, name)
			}
		}
		c.dirs = append(c.dirs, d)
	}
}

// Resolvable is for tests of this folder.
var Resolvable = resolvable

// SocketsByABI is what a kernel with an ABI of Landlock holds of connect(2), and how many calls install the filter.
func SocketsByABI(t *testing.T, p *plan.Plan, abi int) (rules landlock.Ruleset, byLandlock bool, calls int) {
	t.Helper()
	j := &Job{Plan: p}
	held := &landlockControl{Job: j}
	held.build(abi)
	c := &unixSockets{Job: j}
	if err := c.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	program := &Program{}
	c.Steps(Restored, program)
	return held.rules, j.ByLandlock, len(program.Command)
}
