package cgroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Unavailable says why no cgroup is available. It is the answer of a machine
// that was examined. Whether a run may go on without limits is the caller's
// decision.
type Unavailable struct {
	Reasons []string // one for each place that was tried
	Hint    string   // what to do about it
}

func (u *Unavailable) Error() string {
	return "cgroup: none is available: " + strings.Join(u.Reasons, "; ")
}

// Caller describes the process that needs a cgroup. The kernel takes a number
// that is written to cgroup.procs for one of the writer's PID namespace, so
// Files must show a /proc of the same one.
type Caller struct {
	Files Files // [Host] for the real files
	PID   int   // of the calling process, as numbered in /proc
	UID   int   // effective user ID
	// Scope moves the process into a scope of its own. It returns when that
	// is done, or an error. nil skips this place. See [Scope].
	Scope func(ctx context.Context, pid int) error
}

// Delegation is a cgroup in which the caller may create children. Close it when
// no leaf is needed any more. It is not locked: several processes may use one,
// each with leaves of its own.
type Delegation struct {
	Path  string // its directory
	Found string // how it was found, for people: own cgroup, systemd scope, …
	files Files
	pid   int
	moved bool // the caller was moved from Path to a child of it
	// remake creates Path again if another process has removed it; nil if
	// Path is not ours to remove.
	remake func() error
}

// supervisor is the child to which the caller moves, because a cgroup that
// contains processes cannot have children with controllers ("no internal
// processes"). The top of the hierarchy is exempt from that.
const supervisor = "ethos-supervisor"

// Discover finds a cgroup for leaves with the given controllers. It may move
// the calling process, with all its threads, to a cgroup below its own or to a
// scope of its own. The error is an [*Unavailable] if there is no such cgroup,
// and another error if the host could not be examined. After an error, the
// caller may be in a scope of its own, and controllers that a place has given
// to its children stay given. ctx limits only the request for the scope.
func Discover(ctx context.Context, c Caller, controllers []string) (*Delegation, error) {
	h, err := readHierarchy(c.Files)
	if err != nil {
		return nil, err
	}
	if u := h.unsupported(c.Files, controllers); u != nil {
		return nil, u
	}
	s := search{caller: c, h: h, need: controllers}
	for _, place := range []func(context.Context) (*Delegation, error){s.own, s.parent, s.scope, s.top} {
		d, err := place(ctx)
		if d != nil {
			d.sweep()
			return d, nil
		}
		if err != nil {
			s.reasons = append(s.reasons, err.Error())
		}
	}
	return nil, &Unavailable{Reasons: s.reasons, Hint: hint(c.UID)}
}

// unsupported detects a host without any controllers on v2. It only reads. A
// controller is on one hierarchy at a time, so one that is mounted as v1 cannot
// be given on v2: cgroups(7).
func (h hierarchy) unsupported(files Files, need []string) *Unavailable {
	const hint = "boot with systemd.unified_cgroup_hierarchy=1, or without cgroup_no_v1= and the v1 mounts"
	switch {
	case h.point == "" && len(h.v1) > 0:
		return &Unavailable{[]string{"cgroup v1 is not supported, and v2 is not mounted"}, hint}
	case h.point == "":
		return &Unavailable{[]string{"no cgroup v2 file system is mounted"}, "mount it: mount -t cgroup2 none /sys/fs/cgroup"}
	}
	for _, controller := range need {
		if slices.Contains(h.v1, controller) {
			return &Unavailable{[]string{fmt.Sprintf("cgroup v1 is not supported, and the %s controller is on v1 (v2 is mounted at %s without it)", controller, h.point)}, hint}
		}
	}
	if _, err := files.ReadFile(h.point + "/cgroup.controllers"); err != nil {
		return &Unavailable{[]string{err.Error()}, "make " + h.point + " readable"}
	}
	return nil
}

func hint(uid int) string {
	if uid == 0 {
		return "mount the cgroup v2 file system writable, or start the program in a cgroup of its own"
	}
	return "start the program with: systemd-run --user --scope -p Delegate=yes -- …"
}

// search is one Discover. reasons has one entry for each place that was tried
// and lacks something; a place that does not apply to this user leaves none.
type search struct {
	caller  Caller
	h       hierarchy
	need    []string
	reasons []string
}

// own uses the caller's cgroup if the caller is alone in it. To move a process,
// its user needs write access to cgroup.procs of the target and of the common
// ancestor of both cgroups (EACCES): "Delegation Containment" in cgroup-v2.rst.
// Here the ancestor is the own cgroup.
func (s *search) own(context.Context) (*Delegation, error) {
	dir := s.h.dir(s.h.own)
	if dir == "" {
		return nil, fmt.Errorf("own cgroup %q is not below the mount at %s", s.h.own, s.h.point)
	}
	if s.h.own == "/" && !s.namespaced(dir) {
		if s.caller.UID == 0 {
			return nil, nil // see top
		}
		return nil, errors.New("own cgroup: it is the top of the hierarchy, which belongs to root")
	}
	for _, check := range []func(string) error{s.usable, s.delegated, s.alone} {
		if err := check(dir); err != nil {
			return nil, fmt.Errorf("own cgroup: %w", err)
		}
	}
	d, err := s.moveCaller(dir, "own cgroup")
	if err != nil {
		return nil, fmt.Errorf("own cgroup: %w", err)
	}
	return d, nil
}

// delegated returns an error if root may write to dir but systemd manages it:
// systemd would take the controllers away at its next reload, and the limits
// with them. systemd marks the cgroups that it has delegated (systemd,
// docs/CGROUP_DELEGATION.md).
func (s *search) delegated(dir string) error {
	if s.caller.UID != 0 {
		return nil // an ordinary user can write only to a delegated cgroup
	}
	if _, err := s.caller.Files.Directories("/run/systemd/system"); err != nil { // sd_booted(3)
		return nil
	}
	for _, name := range []string{"trusted.delegate", "user.delegate"} {
		if s.caller.Files.Attribute(dir, name) == "1" {
			return nil
		}
	}
	return fmt.Errorf("%s is managed by systemd and not delegated", dir)
}

// namespaced reports whether dir is the root of a cgroup namespace and not of
// the machine: only the latter has no cgroup.type file. In a namespace, the
// root may be mounted with nsdelegate. The kernel then refuses to write the
// limits of the root itself, but not those of its children.
func (s *search) namespaced(dir string) bool {
	_, err := s.caller.Files.ReadFile(dir + "/cgroup.type")
	return err == nil
}

// parent uses the cgroup above the caller's if it belongs to the caller and is
// empty. This is the case if a whole subtree is delegated and the caller was
// started in a child of it (systemd's DelegateSubgroup=). Leaves then lie
// beside the caller's cgroup, and the caller need not move. Whether the parent
// is empty shows when its controllers are given: EBUSY.
func (s *search) parent(context.Context) (*Delegation, error) {
	cut := strings.LastIndexByte(s.h.own, '/')
	if s.caller.UID == 0 || cut <= 0 {
		return nil, nil // root can write everything, but not everything is delegated
	}
	dir := s.h.dir(s.h.own[:cut])
	if dir == "" {
		return nil, nil
	}
	owner, err := s.caller.Files.Owner(dir)
	if err != nil {
		return nil, fmt.Errorf("parent cgroup: %w", err)
	}
	if owner != s.caller.UID {
		return nil, fmt.Errorf("parent cgroup: %s belongs to user %d", dir, owner)
	}
	if err := s.usable(dir); err != nil {
		return nil, fmt.Errorf("parent cgroup: %w", err)
	}
	if err := give(s.caller.Files, dir, s.need); err != nil {
		return nil, fmt.Errorf("parent cgroup: %w", err)
	}
	return s.delegation(dir, "parent cgroup"), nil
}

// scope requests a scope and uses it as the own cgroup. The caller is alone
// there, since the scope is new and made for its pid.
func (s *search) scope(ctx context.Context) (*Delegation, error) {
	if s.caller.Scope == nil {
		return nil, nil
	}
	if err := s.caller.Scope(ctx, s.caller.PID); err != nil {
		return nil, fmt.Errorf("systemd scope: %w", err)
	}
	own, err := readOwn(s.caller.Files)
	if err != nil {
		return nil, err
	}
	s.h.own = own
	d, err := s.own(ctx)
	if d != nil {
		d.Found = "systemd scope"
	}
	return d, err
}

// topGroup is the cgroup for root's leaves, at the top of the hierarchy.
const topGroup = "ethos"

// top creates a cgroup at the top of the hierarchy; only root may. The
// directory is shared with other runs of root and removed by the last one, so
// remake may have to make it again for a leaf.
func (s *search) top(context.Context) (*Delegation, error) {
	if s.caller.UID != 0 {
		return nil, nil
	}
	dir := s.h.point
	if err := s.usable(dir); err != nil {
		return nil, fmt.Errorf("top of the hierarchy: %w", err)
	}
	if err := give(s.caller.Files, dir, s.need); err != nil {
		return nil, fmt.Errorf("top of the hierarchy: %w", err)
	}
	d := s.delegation(dir+"/"+topGroup, "top of the hierarchy")
	d.remake = func() error {
		if err := mkdirAny(s.caller.Files, d.Path); err != nil {
			return err
		}
		return give(s.caller.Files, d.Path, s.need)
	}
	if err := d.remake(); err != nil {
		return nil, fmt.Errorf("top of the hierarchy: %w", err)
	}
	return d, nil
}

func (s *search) delegation(dir, found string) *Delegation {
	return &Delegation{Path: dir, Found: found, files: s.caller.Files, pid: s.caller.PID}
}

// usable returns an error if dir cannot have leaves with the needed
// controllers. It only reads. A threaded cgroup has no memory controller, and
// cgroup.procs cannot be read in it (EOPNOTSUPP). The three names that must be
// writable are those that delegation grants: "Model of Delegation" in
// cgroup-v2.rst. With mode bits alone a read-only mount would be overlooked.
func (s *search) usable(dir string) error {
	text, err := s.caller.Files.ReadFile(dir + "/cgroup.controllers")
	if err != nil {
		return err
	}
	have := strings.Fields(string(text))
	for _, controller := range s.need {
		if !slices.Contains(have, controller) {
			return fmt.Errorf("%s has no %s controller (it has: %s)", dir, controller, strings.Join(have, " "))
		}
	}
	if text, err := s.caller.Files.ReadFile(dir + "/cgroup.type"); err == nil && strings.TrimSpace(string(text)) != "domain" {
		return fmt.Errorf("%s is of type %q, not domain", dir, strings.TrimSpace(string(text)))
	}
	for _, name := range []string{dir, dir + "/cgroup.procs", dir + "/cgroup.subtree_control"} {
		if err := s.caller.Files.Writable(name); err != nil {
			return fmt.Errorf("%s is not the caller's to write: %w", name, err)
		}
	}
	return nil
}

// alone returns an error if other processes are in the cgroup. The others would
// otherwise have to be moved, too, and they are not this program's. A process
// of another PID namespace is listed as 0, and counts as another one.
func (s *search) alone(dir string) error {
	text, err := s.caller.Files.ReadFile(dir + "/cgroup.procs")
	if err != nil {
		return err
	}
	members := strings.Fields(string(text))
	others := slices.DeleteFunc(slices.Clone(members), func(pid string) bool { return pid == fmt.Sprint(s.caller.PID) })
	if len(others) > 0 {
		return fmt.Errorf("%s has %d other processes", dir, len(others))
	}
	if len(members) == 0 {
		return fmt.Errorf("%s does not list the caller", dir)
	}
	return nil
}

// moveCaller moves the caller to a child, so that dir can give its controllers
// to the leaves. Writing the number of a process moves all of its threads. The
// memory that it has used stays charged to dir, which makes no difference, as
// the limits are on the leaves. On an error the caller is back in dir, unless
// the error says that it could not be moved.
func (s *search) moveCaller(dir, found string) (*Delegation, error) {
	child := dir + "/" + supervisor
	if err := mkdirAny(s.caller.Files, child); err != nil {
		return nil, err
	}
	if err := s.caller.Files.WriteFile(child+"/cgroup.procs", fmt.Sprint(s.caller.PID)); err != nil {
		return nil, errors.Join(err, s.caller.Files.Rmdir(child))
	}
	d := s.delegation(dir, found)
	d.moved = true
	if err := give(s.caller.Files, dir, s.need); err != nil {
		return nil, errors.Join(err, d.restore())
	}
	return d, nil
}
