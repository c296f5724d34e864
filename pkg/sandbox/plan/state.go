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

// stateHint is the way out where a declaration would open the state folder.
const stateHint = "it says what a person has trusted, and no command reads or writes it; declare a directory beside it"

// hideState keeps the state folders of ethos (package statedir) out of sight,
// whatever is declared, and whether they exist or not. It must come after every
// other rule: a grant in the folder is refused where somebody asked for it, and
// taken out where the plan made it.
func (b *builder) hideState() error {
	for _, dir := range b.stateFolders() {
		p, err := b.files.resolve(dir)
		if errors.Is(err, fs.ErrPermission) {
			continue // the command is the caller: it gets no further
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

// hide puts an empty directory in the place of a state folder: one that comes
// to exist later is not seen either.
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

// showsState reports whether a tree lies in a state folder or has one in it.
func (b *builder) showsState(tree string) bool {
	return slices.ContainsFunc(b.state, func(p resolvedPath) bool { return mount.Within(tree, p.path) || mount.Within(p.path, tree) })
}

// stateFolders are the folders that ethos uses in this environment, that of the
// sessions' sockets among them, and those that it would use in others: without
// XDG_STATE_HOME, and with the home directory that passwd(5) has for the caller.
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

// passwdHomes are the home directories that /etc/passwd has for a user.
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
