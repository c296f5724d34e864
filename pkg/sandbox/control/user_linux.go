package control

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// user is a user namespace in which the caller is itself and nobody else.
type user struct{ namespace }

func newUser(j *Job) *user {
	return &user{namespace{j, "userns", "user", "user", unix.CLONE_NEWUSER}}
}

// Steps map the caller's ids to themselves: user_namespaces(7). They are written from inside, which needs no privilege.
func (u *user) Steps(at Phase, p *Program) {
	u.namespace.Steps(at, p)
	if at != InitUser {
		return
	}
	one := func(id int) string { return strconv.Itoa(id) + " " + strconv.Itoa(id) + " 1\n" }
	for _, f := range []struct{ path, text string }{
		{"/proc/self/setgroups", "deny"}, {"/proc/self/uid_map", one(u.machine.uid)}, {"/proc/self/gid_map", one(u.machine.gid)},
	} {
		fd := p.Slots.New()
		open := step("user_namespace", "openat", unix.SYS_OPENAT, f.path, steps.Int(unix.AT_FDCWD), steps.Str(f.path), steps.Int(unix.O_WRONLY|unix.O_CLOEXEC))
		open.Save = fd
		write := step("user_namespace", "write", unix.SYS_WRITE, f.path, steps.From(fd), steps.Str(f.text), steps.Int(len(f.text)))
		write.Want = int32(len(f.text))
		p.Init = append(p.Init, open, write, step("user_namespace", "close", unix.SYS_CLOSE, f.path, steps.From(fd)))
	}
}

// Verify: one uid and one gid, the caller's.
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
