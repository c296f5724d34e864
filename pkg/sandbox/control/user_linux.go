package control

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
)

// user is a user namespace that maps only the caller, to itself, and the owner of a work
// space in which root works: [plan.Owner].
type user struct{ namespace }

func newUser(j *Job) *user {
	return &user{newNamespace(j, "userns", "user", "user", unix.CLONE_NEWUSER)}
}

func (u *user) Requested() (string, bool) {
	asked, wanted := u.namespace.Requested()
	if o := u.Job.Plan.Owner; o != nil {
		asked += " that has " + o.String() + " too"
	}
	return asked, wanted
}

// Steps map the caller's ids to themselves: user_namespaces(7). The maps are written from
// inside, which needs no privilege. Maps with the ids of others are written from outside.
func (u *user) Steps(at Phase, p *Program) {
	u.namespace.Steps(at, p)
	if at != InitUser || u.Wrapped {
		return
	}
	if u.Job.Plan.Owner != nil {
		uid, gid := u.maps()
		p.Maps = &steps.Maps{UID: uid, GID: gid}
		p.Init = append(p.Init, steps.Mapped())
		return
	}
	for _, f := range []struct{ path, text string }{
		{"/proc/self/setgroups", "deny"}, {"/proc/self/uid_map", itself(u.machine.uid)}, {"/proc/self/gid_map", itself(u.machine.gid)},
	} {
		fd := p.Slots.New()
		open := step("user_namespace", "openat", unix.SYS_OPENAT, f.path, steps.Int(unix.AT_FDCWD), steps.Str(f.path), steps.Int(unix.O_WRONLY|unix.O_CLOEXEC))
		open.Save = fd
		write := step("user_namespace", "write", unix.SYS_WRITE, f.path, steps.From(fd), steps.Str(f.text), steps.Int(len(f.text)))
		write.Want = int32(len(f.text))
		p.Init = append(p.Init, open, write, step("user_namespace", "close", unix.SYS_CLOSE, f.path, steps.From(fd)))
	}
	u.boundNested(p)
}

// nestedMost is how many namespaces of each kind the command may have at a time. They also
// count towards the caller's limit, which must not be exhausted: namespaces(7).
const nestedMost = "1024"

// boundNested limits the namespaces inside this one. The limit's files are in every
// proc(5), writable with CAP_SYS_RESOURCE in this namespace: set_permissions in
// kernel/ucount.c.
func (u *user) boundNested(p *Program) {
	if u.Job.Plan.NestedUserns == "" {
		return
	}
	for _, kind := range nestedKinds {
		fd, path := p.Slots.New(), nestedPath(kind)
		open := step("user_namespace", "openat", unix.SYS_OPENAT, path, steps.Int(unix.AT_FDCWD), steps.Str(path), steps.Int(unix.O_WRONLY|unix.O_CLOEXEC))
		open.Save, open.Skip, open.Tolerate = fd, 2, []syscall.Errno{syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.ENOENT}
		write := step("user_namespace", "write", unix.SYS_WRITE, path, steps.From(fd), steps.Str(nestedMost), steps.Int(len(nestedMost)))
		write.Want = int32(len(nestedMost))
		p.Init = append(p.Init, open, write, step("user_namespace", "close", unix.SYS_CLOSE, path, steps.From(fd)))
	}
}

var nestedKinds = []string{"user", "mnt", "pid", "net", "ipc", "uts"}

func nestedPath(kind string) string { return "/proc/sys/user/max_" + kind + "_namespaces" }

// Report states how many namespaces the command may create in this one.
func (u *user) Report(line record.Control) record.Control {
	if u.HostUser {
		line.State, line.Enforced, line.Reason = Absent, "", "bubblewrap has root's rights here, and makes the other namespaces without it"
		return line
	}
	if line.State != Enforced || u.Job.Plan.NestedUserns == "" {
		return line
	}
	line.Enforced += ", and in it " + nestedMost + " of each kind: --allow-nested-userns"
	for _, kind := range nestedKinds {
		if why := u.noteOn(nestedPath(kind)); why != nil {
			line.State, line.Reason = Degraded, "the number of namespaces that the command creates is not bounded: "+why.Error()
		}
	}
	return line
}

// itself returns the line of an id map that maps an id to itself.
func itself[N int | uint32](id N) string { return fmt.Sprintf("%d %d 1\n", id, id) }

// maps returns the id maps of the caller and the owner of the work space.
func (u *user) maps() (uid, gid string) {
	o := u.Job.Plan.Owner
	uid, gid = itself(u.machine.uid)+itself(o.UID), itself(u.machine.gid)
	for _, id := range o.GIDs {
		gid += itself(id)
	}
	return uid, gid
}

// VerifyPlace checks that the namespace is not that of this process and, if it maps more
// ids than the caller's, that they are exactly those of the plan.
func (u *user) VerifyPlace(pid int) error {
	if u.HostUser {
		return nil
	}
	if err := u.namespace.VerifyPlace(pid); err != nil || u.Job.Plan.Owner == nil {
		return err
	}
	uid, gid := u.maps()
	for _, f := range []struct{ name, want string }{{"uid_map", uid}, {"gid_map", gid}} {
		path := "/proc/" + strconv.Itoa(pid) + "/" + f.name
		text, err := u.machine.readFile(path)
		if err != nil {
			return Unreadable(err)
		}
		if !slices.Equal(strings.Fields(string(text)), strings.Fields(f.want)) {
			return fmt.Errorf("%s is %q, not %q", f.name, strings.Join(strings.Fields(string(text)), " "), strings.Join(strings.Fields(f.want), " "))
		}
	}
	return nil
}

// Verify checks that every uid and gid is the caller's.
func (u *user) Verify(s Status) error {
	for _, f := range []struct {
		name string
		id   int
	}{{"Uid", os.Geteuid()}, {"Gid", os.Getegid()}} {
		for _, v := range strings.Fields(s.field(f.name)) {
			if v != strconv.Itoa(f.id) {
				return fmt.Errorf("%s is %s, not %d", f.name, s.field(f.name), f.id)
			}
		}
	}
	return nil
}
