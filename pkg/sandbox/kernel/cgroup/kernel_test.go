package cgroup

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// kernel is a cgroup v2 file system in memory that keeps the rules of Documentation/admin-guide/cgroup-v2.rst that this
// package depends on: no internal processes, top-down controllers, who may write, when a directory is busy. What it
// cannot know is tried on real kernels by the lab.
type kernel struct {
	mu     sync.Mutex
	point  string
	groups map[string]*group // by path below point; "" is the root
	proc   map[string]string // other files
	uid    int
	self   int
	locks  map[string]bool
	old    []string // interface files this kernel lacks
	// fault, when set, may fail an operation. It is called with the lock held.
	fault func(op, path string) error
	log   []string // every operation that changes something
}

type group struct {
	owner   int
	subtree []string
	procs   []string
	values  map[string]string
	xattr   map[string]string
}

var allControllers = []string{"cpu", "io", "memory", "pids"}

// newKernel has the groups, each "path" or "path:uid" or "path:uid:controller,…"; the caller, pid 100, is in own.
func newKernel(uid int, own string, groups ...string) *kernel {
	k := &kernel{
		point: "/sys/fs/cgroup", uid: uid, self: 100, locks: map[string]bool{},
		groups: map[string]*group{"": {subtree: slices.Clone(allControllers)}},
		proc:   map[string]string{"/proc/self/mountinfo": "30 22 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"},
	}
	for _, text := range groups {
		parts := strings.Split(text+"::", ":")
		owner, _ := strconv.Atoi(parts[1])
		g := &group{owner: owner}
		if parts[2] != "" {
			g.subtree = strings.Split(parts[2], ",")
		}
		k.groups[parts[0]] = g
	}
	k.groups[own].procs = []string{"100"}
	return k
}

func (k *kernel) op(op, name string) error {
	if k.fault != nil {
		if err := k.fault(op, name); err != nil {
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return nil
}

func pathError(op, name string, errno syscall.Errno) error {
	return &fs.PathError{Op: op, Path: name, Err: errno}
}

// at splits a path into its group and file; file is "" for the directory itself.
func (k *kernel) at(name string) (id string, g *group, file string) {
	rest, ok := strings.CutPrefix(name, k.point)
	if !ok {
		return "", nil, ""
	}
	if g := k.groups[rest]; g != nil {
		return rest, g, ""
	}
	dir, file := path.Split(rest)
	id = strings.TrimSuffix(dir, "/")
	return id, k.groups[id], file
}

func (k *kernel) controllers(id string) []string {
	if id == "" {
		return allControllers
	}
	return k.groups[parentOf(id)].subtree
}

func parentOf(id string) string { return strings.TrimSuffix(path.Dir(id), "/") }

func (k *kernel) children(id string) (list []string) {
	for name := range maps.Keys(k.groups) {
		if name != "" && parentOf(name) == id {
			list = append(list, path.Base(name))
		}
	}
	slices.Sort(list)
	return list
}

func (k *kernel) ReadFile(name string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.op("read", name); err != nil {
		return nil, err
	}
	if name == "/proc/self/cgroup" {
		return []byte("4:memory:/\n0::" + k.ownOf("100") + "\n"), nil
	}
	if text, ok := k.proc[name]; ok {
		return []byte(text), nil
	}
	id, g, file := k.at(name)
	if g == nil || file == "" || slices.Contains(k.old, file) {
		return nil, pathError("open", name, syscall.ENOENT)
	}
	text, ok := k.value(id, g, file)
	if !ok {
		return nil, pathError("open", name, syscall.ENOENT)
	}
	return []byte(text + "\n"), nil
}

func (k *kernel) ownOf(pid string) string {
	for id, g := range k.groups {
		if slices.Contains(g.procs, pid) {
			return "/" + strings.TrimPrefix(id, "/")
		}
	}
	return "/"
}

// value is what an interface file holds, and whether it exists.
func (k *kernel) value(id string, g *group, file string) (string, bool) {
	switch file {
	case "cgroup.controllers":
		return strings.Join(k.controllers(id), " "), true
	case "cgroup.subtree_control":
		return strings.Join(g.subtree, " "), true
	case "cgroup.procs":
		return strings.Join(g.procs, "\n"), true
	case "cgroup.type":
		return "domain", id != ""
	case "cgroup.events":
		populated := 0
		for below, g := range k.groups {
			if (below == id || strings.HasPrefix(below, id+"/")) && len(g.procs) > 0 {
				populated = 1
			}
		}
		return fmt.Sprintf("populated %d\nfrozen 0", populated), id != ""
	case "cpu.stat":
		return "usage_usec 3500\nuser_usec 2000\nsystem_usec 1500\nnr_periods 0\nthrottled_usec 7", true
	}
	initial, ok := map[string]string{
		"memory.max": "max", "memory.swap.max": "max", "memory.oom.group": "0", "memory.peak": "4096", "memory.events": "low 0\noom 2\noom_kill 1",
		"pids.max": "max", "pids.peak": "5", "pids.events": "max 3", "cpu.max": "max 100000",
		"io.stat": "8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n8:16 rbytes=1 wbytes=2 rios=1 wios=1 dbytes=0 dios=0",
	}[file]
	controller, _, _ := strings.Cut(file, ".")
	if !ok || id == "" || !slices.Contains(k.controllers(id), controller) {
		return "", false
	}
	if set, ok := g.values[file]; ok {
		return set, true
	}
	return initial, true
}

func (k *kernel) writable(id string, g *group) bool { return k.uid == 0 || g.owner == k.uid }

func (k *kernel) WriteFile(name, text string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.op("write", name); err != nil {
		return err
	}
	id, g, file := k.at(name)
	if g == nil || slices.Contains(k.old, file) {
		return pathError("open", name, syscall.ENOENT)
	}
	if !k.writable(id, g) {
		return pathError("open", name, syscall.EACCES)
	}
	k.log = append(k.log, "write "+name+" "+text)
	if errno := k.set(id, g, file, text); errno != 0 {
		return pathError("write", name, errno)
	}
	return nil
}

func (k *kernel) set(id string, g *group, file, text string) syscall.Errno {
	switch file {
	case "cgroup.subtree_control":
		return k.setSubtree(id, g, strings.Fields(text))
	case "cgroup.procs":
		return k.move(id, g, text)
	case "cgroup.kill":
		for below, g := range k.groups {
			if below == id || strings.HasPrefix(below, id+"/") {
				g.procs = nil
			}
		}
		return 0
	case "cgroup.freeze":
		return 0
	}
	if _, ok := k.value(id, g, file); !ok {
		return syscall.ENOENT
	}
	if file == "memory.max" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return syscall.EINVAL
		}
		text = strconv.FormatInt(n/4096*4096, 10)
	}
	if g.values == nil {
		g.values = map[string]string{}
	}
	g.values[file] = text
	return 0
}

func (k *kernel) setSubtree(id string, g *group, words []string) syscall.Errno {
	next := slices.Clone(g.subtree)
	for _, word := range words {
		name := word[1:]
		if word[0] == '+' {
			if !slices.Contains(k.controllers(id), name) {
				return syscall.ENOENT
			}
			if !slices.Contains(next, name) {
				next = append(next, name)
			}
			continue
		}
		for _, child := range k.children(id) {
			if slices.Contains(k.groups[id+"/"+child].subtree, name) {
				return syscall.EBUSY
			}
		}
		next = slices.DeleteFunc(next, func(s string) bool { return s == name })
	}
	if id != "" && len(g.procs) > 0 && len(next) > 0 {
		return syscall.EBUSY
	}
	g.subtree = next
	return 0
}

func (k *kernel) move(id string, g *group, pid string) syscall.Errno {
	if id != "" && len(g.subtree) > 0 {
		return syscall.EBUSY
	}
	from := strings.TrimSuffix(k.ownOf(pid), "/")
	common := from
	for !strings.HasPrefix(id+"/", common+"/") {
		common = parentOf(common)
	}
	if !k.writable(common, k.groups[common]) {
		return syscall.EACCES
	}
	k.groups[from].procs = slices.DeleteFunc(k.groups[from].procs, func(s string) bool { return s == pid })
	g.procs = append(g.procs, pid)
	return 0
}

func (k *kernel) Mkdir(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.op("mkdir", name); err != nil {
		return err
	}
	id := strings.TrimPrefix(name, k.point)
	parent := k.groups[parentOf(id)]
	switch {
	case parent == nil:
		return pathError("mkdir", name, syscall.ENOENT)
	case k.groups[id] != nil:
		return pathError("mkdir", name, syscall.EEXIST)
	case !k.writable(parentOf(id), parent):
		return pathError("mkdir", name, syscall.EACCES)
	}
	k.log = append(k.log, "mkdir "+name)
	k.groups[id] = &group{owner: k.uid}
	return nil
}

func (k *kernel) Rmdir(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.op("rmdir", name); err != nil {
		return err
	}
	id := strings.TrimPrefix(name, k.point)
	g := k.groups[id]
	if g == nil {
		return pathError("rmdir", name, syscall.ENOENT)
	}
	if len(g.procs) > 0 || len(k.children(id)) > 0 {
		return pathError("rmdir", name, syscall.EBUSY)
	}
	k.log = append(k.log, "rmdir "+name)
	delete(k.groups, id)
	return nil
}

func (k *kernel) Directories(name string) ([]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.op("readdir", name); err != nil {
		return nil, err
	}
	if _, ok := k.proc[name+"/"]; ok {
		return nil, nil
	}
	id, g, file := k.at(name)
	if g == nil || file != "" {
		return nil, pathError("open", name, syscall.ENOENT)
	}
	return k.children(id), nil
}

func (k *kernel) Owner(name string) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, g, _ := k.at(name)
	if g == nil {
		return 0, pathError("lstat", name, syscall.ENOENT)
	}
	return g.owner, nil
}

func (k *kernel) Writable(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.op("access", name); err != nil {
		return err
	}
	id, g, _ := k.at(name)
	if g == nil {
		return syscall.ENOENT
	}
	if !k.writable(id, g) {
		return syscall.EACCES
	}
	return nil
}

func (k *kernel) Attribute(name, attribute string) string {
	_, g, _ := k.at(name)
	if g == nil {
		return ""
	}
	return g.xattr[attribute]
}

func (k *kernel) OpenLocked(name string) (Directory, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.op("open", name); err != nil {
		return nil, err
	}
	_, g, file := k.at(name)
	if g == nil || file != "" {
		return nil, pathError("open", name, syscall.ENOENT)
	}
	if k.locks[name] {
		return nil, fmt.Errorf("%s: %w", name, errLocked)
	}
	k.locks[name] = true
	return openDirectory{k, name}, nil
}

func (k *kernel) OpenProcs(name string) (*os.File, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.op("open", name+"/cgroup.procs"); err != nil {
		return nil, err
	}
	return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
}

type openDirectory struct {
	k    *kernel
	name string
}

func (d openDirectory) FD() int { return 7 }

func (d openDirectory) Close() error {
	d.k.mu.Lock()
	defer d.k.mu.Unlock()
	delete(d.k.locks, d.name)
	return nil
}
