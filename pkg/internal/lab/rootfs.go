package lab

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// The users of a guest.
const (
	RootUID uint32 = 0
	UserUID uint32 = 1000
)

// BaseArchive returns the tree of [Userland] with the guest's init.
func BaseArchive(guestInit string, more ...string) (*Archive, error) {
	a, err := Userland(more...)
	if err != nil {
		return nil, err
	}
	return a, a.Tree("lab/init", guestInit)
}

// Userland returns a small Debian-like tree: the usual commands, those of more Debian packages or
// at more paths, busybox for the others, and two users.
func Userland(more ...string) (*Archive, error) {
	a := new(Archive)
	for _, dir := range []string{"dev", "proc", "sys", "run", "usr/bin", "usr/lib", "usr/lib64", "srv", "opt", "mnt", "media"} {
		a.Dir(dir, 0o755)
	}
	for _, dir := range []string{"tmp", "var/tmp"} {
		a.add(dir, entry{mode: typeDir | 0o1777})
	}
	a.Dir("root", 0o700)
	a.Dir("home/user", 0o700)
	a.Own(UserUID, "home/user")
	a.File("etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n"))
	a.File("etc/group", 0o644, []byte("root:x:0:\nuser:x:1000:\n"))
	a.File("etc/hosts", 0o644, []byte("127.0.0.1 localhost\n"))
	a.File("etc/nsswitch.conf", 0o644, []byte("passwd: files\ngroup: files\nhosts: files\n"))
	for _, link := range []string{"bin", "lib", "lib64"} {
		a.Link(link, "usr/"+link)
	}
	a.Link("sbin", "usr/bin")
	if err := a.busybox(); err != nil {
		return nil, err
	}
	return a, a.debian(slices.Concat(packages, more))
}

// busybox adds Debian's busybox-static under each of its names.
func (a *Archive) busybox() error {
	program, err := exec.LookPath("busybox")
	if err != nil {
		return fmt.Errorf("busybox-static: %w", err)
	}
	names, err := exec.Command(program, "--list").Output()
	if err != nil {
		return fmt.Errorf("busybox --list: %w", err)
	}
	for name := range strings.FieldsSeq(string(names)) {
		if name != "busybox" {
			a.Link("usr/bin/"+name, "busybox")
		}
	}
	return a.Tree("usr/bin/busybox", program)
}
