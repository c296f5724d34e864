package plan

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/statedir"
)

// stateHint is the hint for a declaration that would open the state folder.
const stateHint = "it records what a person has trusted, and no command may read or write it; declare a directory beside it"

// hideState hides the state folders of ethos (package statedir), whatever is declared and
// whether they exist or not. It must run after every other rule: a declared grant in such a
// folder is refused, and one that the plan added is removed.
func (b *builder) hideState() error {
	for _, dir := range b.stateFolders() {
		p, err := b.files.resolve(dir)
		if errors.Is(err, fs.ErrPermission) {
			continue // the command has the caller's rights, so it cannot reach it either
		}
		if err != nil {
			return Refuse(CodeDeclaration, "set XDG_STATE_HOME to a directory that can be reached", "state folder %s: %w", dir, err)
		}
		b.state = append(b.state, p)
		if mount.Within(b.spec.Workspace, p.path) {
			return Refuse(CodeDeclaration, "work in a directory of your own", "work space %s lies in the state folder of ethos", b.spec.Workspace)
		}
		inside := func(r rule) bool { return r.grants() && mount.Within(r.path, p.path) }
		if i := slices.IndexFunc(b.declared, inside); i >= 0 {
			return Refuse(CodeDeclaration, stateHint, "%s path %s lies in the state folder of ethos", b.declared[i].why, b.declared[i].path)
		}
		b.rules = slices.DeleteFunc(b.rules, inside)
		around := func(r rule) bool { return r.grants() && mount.Within(p.path, r.path) }
		if slices.ContainsFunc(b.rules, around) {
			b.hide(p)
		}
	}
	return nil
}

// hide covers a state folder with an empty directory, so that one that is created later is
// not visible either.
func (b *builder) hide(p resolvedPath) {
	c := blank
	if p.exists && !p.dir {
		c = denyRead
	}
	b.rules = append(b.rules, rule{p, c, "state of ethos"})
	b.protected = append(b.protected, p)
	for _, link := range p.links {
		b.rules = append(b.rules, rule{resolvedPath{path: link, exists: true}, denyWrite, "state of ethos, a link"})
	}
}

func (r rule) grants() bool {
	return r.class == grantRead || r.class == grantWrite || r.class == allowWithinDeny
}

// showsState reports whether a tree lies in a state folder or contains one.
func (b *builder) showsState(tree string) bool {
	return slices.ContainsFunc(b.state, func(p resolvedPath) bool { return mount.Within(tree, p.path) || mount.Within(p.path, tree) })
}

// stateFolders returns the folders that ethos uses in this environment, including the one
// of the sessions' sockets, and those that it would use in others: without XDG_STATE_HOME,
// and with the home directory that passwd(5) has for the caller.
func (b *builder) stateFolders() []string {
	var dirs []string
	if dir, err := statedir.Dir(b.getenv); err == nil {
		dirs = append(dirs, dir)
	}
	if dir, ok := statedir.Runtime(b.getenv); ok {
		dirs = append(dirs, dir)
	}
	for _, home := range append(b.homes(), b.passwdHomes(b.uid)...) {
		if home != "" {
			dirs = append(dirs, statedir.Of(home))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// passwdHomes returns the home directories that /etc/passwd has for a user.
func (b *builder) passwdHomes(uid uint32) (homes []string) {
	text, err := b.files.files.ReadFile("/etc/passwd")
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if f := strings.Split(line, ":"); len(f) == 7 && f[2] == strconv.Itoa(int(uid)) && strings.HasPrefix(f[5], "/") {
			homes = append(homes, f[5])
		}
	}
	return homes
}
