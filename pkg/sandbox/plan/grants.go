package plan

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// Rights are what a [Grant] gives.
type Rights uint8

// The rights.
const (
	MayRead    Rights = 1 << iota // the content of files
	MayList                       // the names in directories
	MayExecute                    // files
	MayWrite                      // into files that are there
	MayMake                       // make, rename, link and remove, in directories
	MayControl                    // ioctl(2), of a device
)

// String has a letter for each right: "rlx".
func (r Rights) String() (text string) {
	for i, letter := range "rlxwmc" {
		if r>>i&1 != 0 {
			text += string(letter)
		}
	}
	return text
}

// Grant gives rights on a path and, when it is a directory, on everything below.
// Grants add up and take nothing away: landlock(7). So a directory in which
// something has less is granted what all of it has in common, and what is in it when
// the plan is made gets the rest one by one. What comes to exist there later has no
// more than the directory.
type Grant struct {
	Path   string `json:"path"`
	Rights Rights `json:"rights"`
	File   bool   `json:"file,omitempty"`
}

// maxGrants bounds the grants of a plan: each is three calls of the start.
const maxGrants = 8192

// granting makes the grants of a table.
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

// grants makes of the table what Landlock grants.
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
	for _, name := range deviceNodes {
		g.add("/dev/"+name, MayRead|MayWrite|MayControl, true)
	}
	if len(g.list) > maxGrants {
		return nil, Refuse(CodeDeclaration, "name the directories that the command needs, one by one; or --backend native",
			"something is denied in directories that have too much in them: Landlock would need %d rules, and %d are made at most", len(g.list), maxGrants)
	}
	return g.list, nil
}

// own are the rights of a path, by the table.
func (g *granting) own(path string) (r Rights) {
	switch Covering(g.entries, path).Access {
	case ReadOnly:
		r = MayRead | MayList | MayExecute
	case ReadWrite:
		r = MayRead | MayList | MayExecute | MayWrite | MayMake
	}
	return r
}

// below are the marks beneath a directory, or at it.
func (g *granting) below(path string) (list []mark) {
	for _, m := range g.marks {
		if mount.Within(m.Path, path) {
			list = append(list, m)
		}
	}
	return list
}

// tree grants a path and what is in it. inherited is granted above.
func (g *granting) tree(path string, inherited Rights) error {
	own := g.own(path)
	common, differs := own, false
	for _, m := range g.below(path) {
		r := m.rights
		if !m.Exists || !m.Dir || m.Empty || m.Why != denied {
			r |= MayList // a file has no names in it; those in what ethos hides by itself are no secret
		}
		common &= r
		differs = differs || m.Path != path && r != own
	}
	info, err := g.b.files.lstat(path)
	if err != nil || info == nil {
		return nil // what the caller cannot see, the command cannot reach
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

// unlistable refuses a directory whose names could not be listed without those in
// one that is denied.
func (g *granting) unlistable(path string) error {
	for _, m := range g.below(path) {
		if m.Why == denied && m.Dir && m.rights&MayList == 0 {
			return Refuse(CodeUnsupported, "deny the files in it: --deny-read '"+m.Path+"/**/*.*', or declare with --ro what the command may read beside it; or --backend native",
				"the backend landlock cannot hide the names in %s: who may list %s may list what is below", m.Path, path)
		}
	}
	return nil
}

// children grants what is in a directory now.
func (g *granting) children(dir string, inherited Rights) error {
	entries, err := g.b.files.files.Entries(dir)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return Refuse(CodeSetup, "look at it, and start again", "directory %s cannot be listed: %w", dir, err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		kind := e.Type()
		if kind != 0 && kind != fs.ModeDir && kind != fs.ModeNamedPipe {
			continue // a link is followed by the kernel; sockets and devices are not given
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

// CanMake reports whether a name can be made, moved and removed, where the plan has
// grants.
func (p *Plan) CanMake(path string) bool {
	return slices.ContainsFunc(p.Grants, func(g Grant) bool { return g.Rights&MayMake != 0 && mount.Within(filepath.Dir(path), g.Path) })
}
