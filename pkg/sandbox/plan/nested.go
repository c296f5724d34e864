package plan

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/treescan"
)

// Bounds of the mounts below a writable root, each with those for the directories on the way:
// together with envMounts, all that the content of a tree can cause. With nestedMounts of them
// a start takes some milliseconds longer, and a command that makes thousands of repositories
// must not make the next start fail. What exceeds the bounds is compared after the run with
// its state at the start (package quarantine); sockets are also refused by the judge of
// connect(2). The bounds thus affect only what the user's git meets while the command runs,
// not what is left behind.
const (
	nestedMounts = 256     // for repositories and settings
	nestedLevels = 16      // for repositories and settings
	holdMounts   = 128     // for directories that cannot be checked
	socketMounts = 256     // for sockets
	mountPath    = 4 << 10 // PATH_MAX, limits.h
)

// siteMounts returns nestedMounts, or fewer if few descriptors may be open: a mount that
// Landlock has a rule for keeps one open, and so does a directory of placeholders.
func siteMounts(openFiles uint64) int {
	const others, each, least = 200, 3, 16
	return int(min(max(openFiles, others+each*least)-others, each*nestedMounts)) / each
}

// nested is what one scan found below a writable root.
type nested struct {
	b       *builder
	tree    *treescan.Tree
	entries []Entry // the table without the nested sites
	sites   []site
	mounts  int // how many may still be made
	holds   *quarantine.Room
	sockets *quarantine.Room
	held    []string
	left    int             // number of sites without mounts
	user    []setting       // of the user's own configuration, when it was read
	named   map[string]bool // by git's configuration
}

// site is a protected path below a writable root. The path is not stored, because a command
// can make very many.
type site struct {
	at    *treescan.Dir
	name  string // in that directory; "" for the directory itself
	kind  siteKind
	depth int
}

func (s site) path() string { return filepath.Join(s.at.Path(), s.name) }

type siteKind int

const (
	gitDirectory  siteKind = iota // a directory that is, or was, a git directory
	gitPointer                    // .git as a file or a link: gitrepository-layout(5)
	settingsFile                  // a protected name
	settingsBelow                 // a protected path of several names, if it exists: the directory that its first name has does
	ownDirectory                  // a directory that ethos keeps for a work space
)

// protectNested protects repositories and settings below the writable roots, because the
// user runs git and agents there too. Nothing that it finds makes it refuse the run; a
// directory that it cannot check becomes read-only.
func (b *builder) protectNested() error {
	entries := table(b.rules)
	for _, root := range b.topRoots() {
		tree, err := b.scan(root)
		if err != nil {
			return Refuse(CodeSetup, "check it, and start again", "writable directory cannot be scanned: %w", err)
		}
		b.scans = append(b.scans, tree)
		n := &nested{b: b, tree: tree, entries: entries, mounts: siteMounts(b.openFiles), holds: quarantine.NewRoom(holdMounts), sockets: quarantine.NewRoom(socketMounts)}
		n.unreadable()
		for _, p := range tree.Places {
			n.collect(p)
		}
		n.protect()
	}
	b.protectLinked()
	return nil
}

// topRoots returns the writable directories that lie in no other one, sorted.
func (b *builder) topRoots() []string {
	var roots []string
	for _, r := range b.rules {
		if r.class == grantWrite && r.dir {
			roots = append(roots, r.path)
		}
	}
	slices.Sort(roots)
	var top []string
	for _, root := range roots { // sorted: a directory comes after those that contain it
		if !slices.ContainsFunc(top, func(above string) bool { return mount.Within(root, above) }) {
			top = append(top, root)
		}
	}
	return top
}

// unreadable holds directories that cannot be listed. Their owner, as whom the command
// runs, could make them readable again inside, and what lies below is unknown.
func (n *nested) unreadable() {
	for _, u := range n.tree.Unreadable {
		if u.Dir.Depth() == 0 {
			n.b.note(n.tree.Root, "it cannot be listed, so nothing in it is protected by name: %v. Make it readable for yourself, and start again", plain(u.Err))
			continue
		}
		n.hold(u.Path(), u.Err)
	}
}

// hold makes a directory read-only as a whole and adds a note.
func (n *nested) hold(dir string, why error) {
	for len(dir) >= mountPath {
		dir = filepath.Dir(dir)
	}
	if n.isHeld(dir) || !n.b.holdable(dir) {
		return
	}
	if !n.holds.Take(n.tree.Root, dir) {
		n.left++
		return
	}
	n.held = append(n.held, dir)
	n.b.rules = append(n.b.rules, rule{resolvedPath{path: dir, exists: true, dir: true}, denyWrite, "cannot be analysed"})
	n.b.note(dir, "read-only as a whole, because it cannot be analysed: %v. Make it readable, or remove it", plain(why))
}

// plain returns the cause of an error without the path, which the note names.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func (n *nested) isHeld(path string) bool {
	return slices.ContainsFunc(n.held, func(dir string) bool { return mount.Within(path, dir) })
}

// holdable reports whether a path can be made read-only without taking away what the caller
// asked for.
func (b *builder) holdable(path string) bool {
	return !slices.ContainsFunc(b.rules, func(r rule) bool { return r.class == grantWrite && mount.Within(r.path, path) })
}

// collect records the sites of one directory.
func (n *nested) collect(p treescan.Place) {
	n.collectSockets(p)
	depth := p.Dir.Depth()
	if depth == 0 {
		return // builder.protect handles the root itself
	}
	add := func(name string, kind siteKind) {
		if depth > nestedLevels || kind != ownDirectory && passed(p.Dir) || len(p.Dir.Path())+1+len(name) >= mountPath {
			n.left++
			return
		}
		n.sites = append(n.sites, site{p.Dir, name, kind, depth})
	}
	for _, e := range p.Entries {
		switch {
		case isOwn("/"+p.Dir.Base()+"/"+e.Name) && e.Type == fs.ModeDir:
			add(e.Name, ownDirectory)
		case slices.Contains(protectedNames.Get(), e.Name):
			add(e.Name, settingsFile)
		case e.Name == ".git" && e.Type == fs.ModeDir:
			add(e.Name, gitDirectory)
		case e.Name == ".git":
			add(e.Name, gitPointer)
		case endsProtected(p.Dir, e.Name):
			add(e.Name, settingsFile)
		}
	}
	if isGitDir(p) {
		add("", gitDirectory)
	}
}

// endsProtected reports whether a name in a directory is the end of a protected path of
// several names. In the root of the tree, [builder.protectNames] handles it.
func endsProtected(dir *treescan.Dir, name string) bool {
	return slices.ContainsFunc(protectedNames.Get(), func(path string) bool {
		above, last := filepath.Split(path)
		return above != "" && last == name && dir.Depth() > strings.Count(above, "/") && strings.HasSuffix(dir.Path()+"/", "/"+above)
	})
}

// collectSockets hides the sockets of one directory.
func (n *nested) collectSockets(p treescan.Place) {
	for _, e := range p.Entries {
		if e.Type != fs.ModeSocket {
			continue
		}
		if path := filepath.Join(p.Path(), e.Name); len(path) < mountPath && n.sockets.Take(n.tree.Root, path) {
			n.b.hideSocket(path)
		}
	}
}

// passed reports whether a directory lies in one of those that are passed by.
func passed(dir *treescan.Dir) bool {
	for name := range dir.Names {
		if slices.Contains(quarantine.PassedBy, name) {
			return true
		}
	}
	return false
}

// isGitDir reports whether git takes a directory other than .git for a git directory,
// judging by its entries: setup.c, is_git_directory. For the git directory of a submodule,
// "objects" alone is enough: an earlier command may have removed the other parts, and no
// other directory below .git/modules contains an entry of that name.
func isGitDir(p treescan.Place) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(p.Entries, func(e treescan.Entry) bool { return e.Name == name })
	}
	switch {
	case p.Dir.Base() == ".git":
		return false
	case has("objects") && strings.Contains(p.Path(), "/.git/modules/"):
		return true
	}
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

// protect makes the sites read-only, starting with those higher up. ethos's own directories
// come first: a command can make many repositories, but not so many that these are left
// unprotected.
func (n *nested) protect() {
	order := func(s site) int {
		if s.kind == ownDirectory {
			return -1
		}
		return s.depth
	}
	slices.SortStableFunc(n.sites, func(a, b site) int { return order(a) - order(b) })
	for _, s := range n.sites {
		path := s.path()
		switch at := Covering(n.entries, path).Access; {
		case s.kind == ownDirectory && at != Hidden:
		case n.isHeld(path) || at != ReadWrite:
			continue
		}
		if cost := 1 + s.depth; n.mounts < cost {
			n.left++
			continue
		}
		before := len(n.b.rules)
		if err := n.protectSite(s.kind, path); err != nil {
			n.b.rules = n.b.rules[:before]
			n.hold(s.dir(), err)
		}
		n.mounts -= len(n.b.rules) - before + s.depth
		if s.kind == gitPointer || s.kind == gitDirectory && s.name == ".git" {
			n.configured(s.at.Path())
		}
	}
	if n.left > 0 {
		n.b.note(n.tree.Root, "%d repositories, settings and directories below it that cannot be analysed are not read-only, because they are too many, too deep, or in directories such as node_modules; "+
			"their changes are checked after the run", n.left)
	}
}

// dir returns the directory that is held if a site cannot be checked.
func (s site) dir() string {
	if s.kind == gitDirectory {
		return s.path()
	}
	return s.at.Path()
}

func (n *nested) protectSite(kind siteKind, path string) error {
	switch kind {
	case ownDirectory:
		return n.b.protectNestedPath(path, blank, whyOwn)
	case settingsFile:
		return n.b.protectNestedPath(path, denyWrite, whyProtected)
	case gitPointer:
		return n.b.protectPointer(path)
	}
	return n.b.protectNestedGitDir(path)
}

// protectNestedGitDir protects a git directory and the one that it shares parts with.
func (b *builder) protectNestedGitDir(dir string) error {
	if b.set.Git == "read" || b.set.Git == "none" {
		return b.protectNestedPath(dir, denyWrite, "git directory")
	}
	common, linked, err := b.commonDir(dir)
	if err != nil {
		return err
	}
	names := gitProtected
	if linked && filepath.Base(filepath.Dir(dir)) == "worktrees" {
		names = worktreeProtected
	}
	if linked && common != dir && b.hasObjects(common) {
		if err := b.protectParts(common, gitProtected); err != nil {
			return err
		}
	}
	if filepath.Base(dir) == ".git" { // ethos may create a store or a cache there; the command must not
		if err := b.protectNestedPath(filepath.Join(filepath.Dir(dir), ownInGit), blank, whyOwn); err != nil {
			return err
		}
	}
	return b.protectParts(dir, names)
}

func (b *builder) protectParts(dir string, names []string) error {
	for _, name := range names {
		if err := b.protectNestedPath(filepath.Join(dir, name), denyWrite, GitConfiguration); err != nil {
			return err
		}
	}
	return nil
}

var errCovers = errors.New("it is a link to a directory that has to be writable")

// protectNestedPath is [builder.protectPath] for a path that an earlier command may have
// made: a link must not take away what the caller asked for.
func (b *builder) protectNestedPath(path string, c class, why string) error {
	p, err := b.files.resolve(path)
	if err != nil {
		return err
	}
	if !b.holdable(p.path) || len(p.links) > 0 && mount.Within(path, p.path) {
		return errCovers
	}
	return b.protectPath(path, c, why)
}

// protectPointer makes .git read-only if it is a file or a link. Its target is not
// protected here: a git directory in a writable tree is a site of its own.
func (b *builder) protectPointer(path string) error {
	p, err := b.files.resolve(path)
	if err != nil && !errors.Is(err, errLoop) {
		return err
	}
	if err == nil && len(p.links) == 0 {
		return b.denyWrite(path, "git link")
	}
	link := resolvedPath{path: path, exists: true}
	b.rules = append(b.rules, rule{link, denyWrite, "git link"})
	b.protected = append(b.protected, link)
	return nil
}
