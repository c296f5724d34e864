package plan

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// Rights are what a [Grant] permits.
type Rights uint8

// The rights.
const (
	MayRead    Rights = 1 << iota // read the content of files
	MayList                       // list the names in directories
	MayExecute                    // execute files
	MayWrite                      // write to existing files
	MayMake                       // make, rename, link and remove in directories
	MayControl                    // ioctl(2) on a device
)

// String returns one letter for each right, such as "rlx".
func (r Rights) String() (text string) {
	for i, letter := range "rlxwmc" {
		if r>>i&1 != 0 {
			text += string(letter)
		}
	}
	return text
}

// Grant permits rights on a path and, if it is a directory, on everything below it.
// Landlock grants only add up; none takes a right away: landlock(7). If something in a
// directory has fewer rights, the directory is granted only the rights that all of its
// content has, and the entries that exist when the plan is made get theirs one by one. What
// is created there later has the rights of the directory only.
type Grant struct {
	Path   string `json:"path"`
	Rights Rights `json:"rights"`
	File   bool   `json:"file,omitempty"`
}

// maxGrants bounds the grants of a plan: each costs three system calls at the start.
const maxGrants = 8192

// granting computes the grants of a table.
type granting struct {
	b       *builder
	entries []Entry
	marks   []mark
	list    []Grant
}

// mark is a path at which the rights change.
type mark struct {
	Entry
	rights Rights
}

// grants turns the table into Landlock grants.
func (b *builder) grants(entries []Entry) ([]Grant, error) {
	g := &granting{b: b, entries: entries}
	for _, e := range entries {
		g.marks = append(g.marks, mark{e, g.own(e.Path)})
	}
	for i, e := range entries {
		if e.Access != Hidden && e.Exists && Covering(entries[:i], e.Path).Access == Hidden {
			if err := g.tree(e.Path, 0); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range MachineFiles {
		g.add("/proc/"+name, MayRead, true)
	}
	for _, name := range deviceNodes() {
		g.add("/dev/"+name, MayRead|MayWrite|MayControl, true)
	}
	if len(g.list) > maxGrants {
		return nil, Refuse(CodeDeclaration, "declare the directories that the command needs one by one, or use --backend native",
			"a denied path lies in directories with too many entries: Landlock would need %d rules, and the limit is %d", len(g.list), maxGrants)
	}
	return g.list, nil
}

// own returns the rights of a path according to the table.
func (g *granting) own(path string) (r Rights) {
	switch Covering(g.entries, path).Access {
	case ReadOnly:
		r = MayRead | MayList | MayExecute
	case ReadWrite:
		r = MayRead | MayList | MayExecute | MayWrite | MayMake
	}
	return r
}

// below returns the marks at a path and below it.
func (g *granting) below(path string) (list []mark) {
	for _, m := range g.marks {
		if mount.Within(m.Path, path) {
			list = append(list, m)
		}
	}
	return list
}

// tree grants a path and its content. inherited are the rights already granted above.
func (g *granting) tree(path string, inherited Rights) error {
	own := g.own(path)
	common, differs := own, false
	for _, m := range g.below(path) {
		r := m.rights
		if !m.Exists || !m.Dir || m.Empty || m.Why != denied {
			r |= MayList // files contain no names, and the names in what ethos itself hides are no secret
		}
		common &= r
		differs = differs || m.Path != path && r != own
	}
	info, err := g.b.files.lstat(path)
	if err != nil || info == nil {
		return nil // the command cannot reach what the caller cannot see
	}
	if !info.IsDir() {
		g.add(path, own&^inherited, true)
		return nil
	}
	g.add(path, common&^inherited, false)
	inherited |= common
	if !differs {
		return nil
	}
	if own&MayList != 0 && common&MayList == 0 && slices.ContainsFunc(g.b.declared, func(r rule) bool {
		return mount.Within(r.path, path) || mount.Within(path, r.path) && r.class != denyRead
	}) {
		return g.unlistable(path)
	}
	return g.children(path, inherited)
}

// unlistable refuses a directory that cannot be made listable without also listing a denied
// directory in it.
func (g *granting) unlistable(path string) error {
	for _, m := range g.below(path) {
		if m.Why == denied && m.Dir && m.rights&MayList == 0 {
			return Refuse(CodeUnsupported, "deny the files in it: --deny-read '"+m.Path+"/**/*.*', or declare with --ro what the command may read beside it, or use --backend native",
				"the backend landlock cannot hide the names in %s: a command that may list %s may list everything below it", m.Path, path)
		}
	}
	return nil
}

// children grants the present entries of a directory.
func (g *granting) children(dir string, inherited Rights) error {
	entries, err := g.b.files.files.Entries(dir)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return Refuse(CodeSetup, "check it, and start again", "directory %s cannot be listed: %w", dir, err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		kind := e.Type()
		if kind != 0 && kind != fs.ModeDir && kind != fs.ModeNamedPipe {
			continue // the kernel follows links; sockets and devices are not granted
		}
		if len(g.below(path)) > 0 {
			if err := g.tree(path, inherited); err != nil {
				return err
			}
			continue
		}
		g.add(path, g.own(path)&^inherited, kind != fs.ModeDir)
	}
	return nil
}

func (g *granting) add(path string, r Rights, file bool) {
	if file {
		r &^= MayList | MayMake
	}
	if r != 0 {
		g.list = append(g.list, Grant{path, r, file})
	}
}

// CanMake reports whether the command can make, move and remove a name, in a plan with
// grants.
func (p *Plan) CanMake(path string) bool {
	return slices.ContainsFunc(p.Grants, func(g Grant) bool { return g.Rights&MayMake != 0 && mount.Within(filepath.Dir(path), g.Path) })
}
