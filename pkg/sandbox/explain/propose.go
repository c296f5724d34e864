package explain

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/protected"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/plan"
)

// wideTrees lists directories that are never proposed as a whole, because their
// content belongs to many users or programs.
var wideTrees = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin", "/snap", "/srv", "/sys",
	"/tmp", "/usr", "/var", "/var/cache", "/var/lib", "/var/log", "/var/run", "/var/spool", "/var/tmp",
}

// strongSockets lists the sockets of services that act for whoever connects,
// with their own rights or with the user's keys. They are never proposed; a
// user who wants one can declare it.
var strongSockets = []string{
	"docker.sock", "containerd.sock", "podman.sock", "crio.sock", "buildkitd.sock", "libvirt-sock", "system_bus_socket", "bus", "private", "io.systemd", "agent.",
	"gpg-agent", "ssh-agent", "keyring", "S.gpg", "S.scdaemon", "snapd", "lxd", "unix.socket", "incus", "wayland-", "X0", "X1", "pulse", "pipewire",
}

// propose adds the reason to a denial and, if there is one, the smallest
// declaration that would allow the request.
func (x *Explainer) propose(d *record.Denial, t target) {
	d.Reason = reason(d.Kind)
	if why := x.never(d.Kind, t); why != "" {
		d.Reason += "; " + why
		return
	}
	if plan.HidesEnvFile(plan.Covering(x.plan.Paths, t.Path)) {
		d.Reason += ", as environment files are"
		d.Remedy, d.Declare = "--env-files read", "env_files: read"
		return
	}
	if link := plan.LinkTo(plan.Covering(x.plan.Paths, t.Path)); link != "" && t.write {
		d.Reason += "; " + shown(link) + " leads to it, and decides what runs outside"
		d.Remedy = plan.LinkHint
		return
	}
	more, flag, key := plan.More{Read: []string{t.Path}}, "--ro", "read_paths"
	switch {
	case d.Kind == record.KindSocket:
		more, flag, key = plan.More{Sockets: []string{t.Path}}, "--unix-socket", "unix_sockets"
	case t.write:
		more, flag, key = plan.More{Write: []string{t.Path}}, "--rw", "read_write_paths"
	}
	if why := x.refused(more, t); why != "" {
		d.Reason += "; no declaration allows it: " + why
		return
	}
	d.Remedy = flag + " " + printable.Word(t.Path)
	optional := ""
	if d.Kind == record.KindSocket { // so that a stopped service does not prevent every run
		optional = "?"
	}
	d.Declare = key + ": [" + x.yaml(t.Path, optional) + "]"
}

func reason(kind string) string {
	switch kind {
	case record.KindHidden:
		return "exists outside and is hidden inside"
	case record.KindReadOnly:
		return "can be written outside and is read-only inside"
	case record.KindSocket:
		return "a socket that cannot be connected to from inside"
	}
	return ""
}

// never says why something is never proposed, or returns "" if it may be.
func (x *Explainer) never(kind string, t target) string {
	home := x.plan.Home
	rel, below := strings.CutPrefix(t.Path, home+"/")
	if writable, ok := x.plan.OfAgent(t.Path); ok && writable {
		return "the agent has a private directory there, in which it sees only its settings"
	} else if ok {
		return "it is a setting of the agent: change it outside"
	}
	switch {
	case below && protected.HoldsCredentials(rel):
		return "it holds credentials, which no declaration shows"
	case kind == record.KindHidden && t.Mode.IsRegular() && protected.Key(t.Path):
		return "by its name it holds a private key or passwords, so it is not proposed"
	case kind == record.KindSocket:
		name := path.Base(t.Path)
		if slices.ContainsFunc(strongSockets, func(s string) bool { return strings.HasPrefix(name, s) }) {
			return "its service acts with rights that the command lacks, so it is not proposed"
		}
		return ""
	case t.Mode.IsDir() && (slices.Contains(wideTrees, t.Path) || mount.Within(home, t.Path) || path.Dir(t.Path) == "/home" || below && aroundCredentials(rel) || kind == record.KindHidden && x.aroundKeys(t.Path)):
		return "a tree this large is not proposed: declare the parts that are needed"
	}
	return ""
}

// aroundCredentials reports whether a directory below the home contains
// credentials.
func aroundCredentials(rel string) bool {
	return slices.ContainsFunc(protected.Credentials(), func(c protected.Credential) bool { return strings.HasPrefix(c.Path, rel+"/") })
}

// aroundKeys reports whether a directory has a file in it whose name is that of
// a key.
func (x *Explainer) aroundKeys(dir string) bool {
	entries, err := x.files.Entries(dir)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return protected.Key(e.Name()) })
}

// refused makes the plan with more, and says why that is impossible or would
// not suffice. What the plan already has, it keeps.
func (x *Explainer) refused(more plan.More, t target) string {
	for _, link := range t.Links { // the command followed each of them
		if a := plan.Covering(x.plan.Paths, link).Access; a == plan.Hidden || a == plan.Private {
			return shown(link) + " is a link, and hidden too; use " + shown(t.Path)
		}
	}
	if x.plan.Granted == nil {
		return "the other declarations are not known"
	}
	p, err := x.plan.Granted(more)
	if err != nil {
		return shown(err.Error())
	}
	got := plan.Covering(p.Paths, t.Path).Access
	if got == plan.ReadWrite || got == plan.ReadOnly && !t.write {
		return ""
	}
	return "another declaration denies it"
}

// yaml returns a path as written in a configuration: relative to the workspace,
// below "~", or absolute; optional is "?" for a path that may be missing.
func (x *Explainer) yaml(p, optional string) string {
	if rel, ok := strings.CutPrefix(p, x.plan.Workspace+"/"); ok {
		p = rel
	} else if rel, ok := strings.CutPrefix(p, x.plan.Home+"/"); ok {
		p = "~/" + rel
	}
	if strings.Trim(p, plainYAML) == "" && optional == "" {
		return p
	}
	return strconv.Quote(p + optional)
}

const plainYAML = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-~+@"

// maxShown limits the length of a reported name, because the command may have
// chosen it.
const maxShown = 300

// shown returns a text as one printable line of limited length.
func shown(text string) string {
	if text = printable.Line(text); len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}
