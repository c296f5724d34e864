package plan

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/kernel/mount"
)

// declare turns the declared paths into rules.
func (b *builder) declare() error {
	lists := []struct {
		paths []string
		class class
		why   string
		must  bool // the path must exist
	}{
		{b.spec.Base.ReadPaths, grantRead, workSpace, true},
		{b.spec.Base.WritePaths, grantWrite, workSpace, true},
		{b.spec.ReadPaths, grantRead, declared, true},
		{b.spec.WritePaths, grantWrite, declared, true},
		{b.set.AllowReadWithinDeny, allowWithinDeny, "allowed", false},
		{b.set.UnixSockets, grantWrite, unixSocket, true},
		{b.set.DenyReadPaths, denyRead, denied, false},
		{b.set.DenyWritePaths, denyWrite, denied, false},
	}
	for _, l := range lists {
		for _, path := range l.paths {
			if err := b.declareOne(path, l.class, l.why, l.must); err != nil {
				return err
			}
		}
	}
	return nil
}

// Settle makes the paths of the base that somebody declares to be read, and not to be
// written, paths that the base reads: `--ro .` means that nothing is written there. A set
// of capabilities cannot tell who asked for what, so this precedes
// [capability.Asked.Whole] wherever that is compared or kept. A spec whose places [Build]
// refuses stays as it is.
func (s *Spec) Settle(files Files) {
	if len(s.ReadPaths) == 0 {
		return
	}
	b := &builder{spec: *s, set: s.Whole()}
	if b.locate(files) == nil {
		b.settle()
		s.Base = b.spec.Base
	}
}

// Places returns where declared paths lead, as [Build] sees them. Patterns are left out:
// they deny what they match, however deep.
func (s *Spec) Places(files Files, paths []string) (places []string, err error) {
	b := &builder{spec: *s, set: s.Whole()}
	if err := b.locate(files); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if isPattern(path) {
			continue
		}
		named, err := b.expand(path)
		if err != nil {
			return nil, Refuse(CodeDeclaration, "", "%w", err)
		}
		p, err := b.files.resolve(named.Name)
		if err != nil {
			return nil, asRefusal(err)
		}
		places = append(places, p.path)
	}
	return places, nil
}

func (b *builder) settle() {
	at := func(path string) string {
		if named, err := b.expand(path); err == nil {
			if p, err := b.files.resolve(named.Name); err == nil {
				return p.path
			}
		}
		return "" // declareOne says why
	}
	declares := func(paths []string, place string) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return at(path) == place })
	}
	base := &b.spec.Base
	writes := slices.DeleteFunc(slices.Clone(base.WritePaths), func(path string) bool {
		place := at(path)
		reads := place != "" && declares(b.spec.ReadPaths, place) && !declares(b.spec.WritePaths, place)
		if reads {
			base.ReadPaths = append(slices.Clip(base.ReadPaths), path)
		}
		return reads
	})
	base.WritePaths = writes
	b.set = b.spec.Whole()
}

func (b *builder) declareOne(path string, c class, why string, must bool) error {
	if (c == denyRead || c == denyWrite) && isPattern(path) {
		return nil // denyPatterns handles these, once all that is shown is known
	}
	named, err := b.expand(path)
	if err != nil {
		return Refuse(CodeDeclaration, "", "%s: %w", why, err)
	}
	p, err := b.files.resolve(named.Name)
	if err != nil {
		return Refuse(CodeDeclaration, "", "%s path %s: %w", why, named.Name, err)
	}
	if must && !p.exists {
		if named.Optional {
			b.note(path, "missing; it is optional")
			return nil
		}
		return Refuse(CodeDeclaration, "create it, remove the declaration, or mark it optional with a ? at the end", "%s path %s does not exist", why, named.Name)
	}
	if err := declaredKind(p, c, why); err != nil {
		return err
	}
	if err := b.declarable(p, c, why); err != nil {
		return err
	}
	p.dir = p.dir || !p.exists && !must && strings.HasSuffix(path, "/") // a missing path is taken for a directory if it is declared with a slash
	r := rule{p, c, why}
	b.rules = append(b.rules, r)
	b.declared = append(b.declared, r)
	if c == denyRead || c == denyWrite {
		for _, link := range p.links {
			b.rules = append(b.rules, rule{resolvedPath{path: link, exists: true}, denyWrite, why + whyALink})
		}
	}
	return nil
}

// The reasons of rules that come from declarations.
const (
	workSpace  = "work space" // from the base set: nobody asked for it by name
	declared   = "declared"
	denied     = "denied"
	unixSocket = "unix socket"
)

// declaredKind keeps sockets and files apart. If a socket is visible, the command can talk
// to the server behind it, whatever the mount says: connect(2) needs write permission on
// the file, but no writable mount (unix(7)). A socket therefore needs its own declaration,
// and that declaration accepts nothing but sockets, because --unix-socket reaches into
// trees that cannot be declared writable.
func declaredKind(p resolvedPath, c class, why string) error {
	if !p.exists || c == denyRead || c == denyWrite {
		return nil
	}
	isSocket := p.mode&fs.ModeSocket != 0
	switch {
	case isSocket && why != unixSocket:
		return Refuse(CodeDeclaration, "use --unix-socket "+p.path+" (unix_sockets in a declaration), if the command may talk to the server behind it", "%s path %s is a socket", why, p.path)
	case !isSocket && why == unixSocket:
		return Refuse(CodeDeclaration, "use --ro or --rw for files and directories", "unix socket %s is not a socket", p.path)
	}
	return nil
}

// expand makes a declared path absolute.
func (b *builder) expand(path string) (capability.Path, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return capability.Path{}, fmt.Errorf("path %q is empty or contains a NUL byte", path)
	}
	list, err := capability.Expand(capability.Space{Workspace: b.spec.Workspace, Home: b.home}, b.getenv, []string{path})
	if err != nil {
		return capability.Path{}, err
	}
	return list[0], nil
}

// declarable refuses paths that must not be granted to a command.
func (b *builder) declarable(p resolvedPath, c class, why string) error {
	if c != grantRead && c != grantWrite {
		return nil
	}
	for _, tree := range neverReadable {
		if p.path == tree || tree != "/" && mount.Within(p.path, tree) {
			return Refuse(CodeDeclaration, "the command has its own; name a directory further down", "%s path %s cannot be given to a confined command", why, p.path)
		}
	}
	if c == grantRead {
		return nil
	}
	for _, tree := range neverWritable {
		if mount.Within(p.path, tree) && why != unixSocket || mount.Within(tree, p.path) {
			return Refuse(CodeDeclaration, "declare a directory outside of the system directories", "%s path %s cannot be made writable", why, p.path)
		}
	}
	for _, home := range b.homes() {
		if home != "/tmp" && mount.Within(home, p.path) {
			return Refuse(CodeDeclaration, "work in a directory of its own below it", "%s path %s contains the home directory%s and cannot be made writable", why, p.path, b.whose(home))
		}
	}
	if b.settings(p.path) {
		return Refuse(CodeDeclaration, "it decides what runs outside of the sandbox; change it there", "%s path %s lies in settings of ethos or of an agent and cannot be made writable", why, p.path)
	}
	if capability.InGit(p.path) && why != workSpace {
		return Refuse(CodeDeclaration, "declare the work tree; its git directory is opened as far as the profile allows", "%s path %s lies in a git directory", why, p.path)
	}
	return nil
}

// settings reports whether a path lies in a protected name somewhere in the work space.
func (b *builder) settings(path string) bool {
	rel, inside := strings.CutPrefix(path, b.spec.Workspace+"/")
	on := func(path string) bool { return strings.Contains("/"+rel+"/", "/"+path+"/") }
	return inside && (on(EthosDir) || slices.ContainsFunc(protectedNames.Get(), on))
}

// fulfilled checks that every declared grant took effect as declared. Another declaration
// may deny the path, and a symbolic link may lead it elsewhere.
func (b *builder) fulfilled(entries []Entry) error {
	for _, r := range b.declared {
		got := Covering(entries, r.path)
		weaker := r.class == grantRead && got.Access == Hidden || r.class == grantWrite && got.Access != ReadWrite
		if weaker {
			return Refuse(CodeDeclaration, deniedHint(r.why, got.Why), "%s path %s is also denied%s", r.why, r.path, source(got.Why))
		}
		within := func(p resolvedPath) bool { return r.path != p.path && mount.Within(r.path, p.path) }
		if i := slices.IndexFunc(b.protected, within); i >= 0 && r.class == grantWrite {
			return Refuse(CodeDeclaration, "it decides what runs outside of the sandbox; change it there", "%s path %s lies in %s, which is protected", r.why, r.path, b.protected[i].path)
		}
		if r.class == grantRead || r.class == grantWrite || r.class == allowWithinDeny {
			if err := b.symlinkEscape(r.resolvedPath, r.why, entries); err != nil {
				return err
			}
		}
	}
	return nil
}

// source returns, for a message, what denies a path; "" if it is a declaration.
func source(why string) string {
	if why == "" || why == denied {
		return ""
	}
	return " (" + why + ")"
}

// symlinkEscape refuses a path that a symbolic link leads out of a tree in which a confined
// command writes. An earlier command may have made the link, and would thereby choose what
// is granted.
func (b *builder) symlinkEscape(p resolvedPath, why string, entries []Entry) error {
	for _, link := range p.links {
		tree := b.spec.Workspace
		if !mount.Within(link, tree) {
			e := Covering(entries, link)
			if e.Access != ReadWrite {
				continue
			}
			tree = e.Path
		}
		if !mount.Within(p.path, tree) {
			return Refuse(CodeDeclaration, "declare "+p.path+" itself, if you mean that", "%s path leads out of %s: %s is a link to %s", why, tree, link, p.path)
		}
	}
	return nil
}

// deniedHint is the hint for a path that is both declared and denied.
func deniedHint(declared, why string) string {
	if why == whyCredentials {
		return "credentials are hidden from every command; give it the one value that it needs: --env NAME, or ethos-facts --grant env=NAME"
	}
	if strings.HasPrefix(why, whyLinked) {
		return LinkHint
	}
	if declared == workSpace {
		return "remove the deny; --profile lint-offline makes the work space read-only"
	}
	return "a deny wins at equal depth; remove one of the two"
}
