package plan

import (
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

const whyNoExec = "no execution"

// noExec makes the mounts at and below the paths of deny_exec_paths noexec, and adds the
// mounts that are missing for that. The kernel then refuses execve(2) and mmap(2) with
// PROT_EXEC for every file there: mount(8), noexec. A path that does not exist is refused,
// because the command could create it.
func (b *builder) noExec(entries []Entry, list []mount.Mount) ([]mount.Mount, error) {
	var paths []string
	for _, text := range b.set.DenyExecPaths {
		named, err := b.expand(text)
		if err != nil {
			return nil, Refuse(CodeDeclaration, "", "deny-exec: %w", err)
		}
		p, err := b.files.resolve(named.Name)
		if err != nil {
			return nil, Refuse(CodeDeclaration, "", "deny-exec path %s: %w", named.Name, err)
		}
		e := Covering(entries, p.path)
		switch {
		case e.Access == Hidden: // nothing is visible here, but what is shown below is covered
		case !p.exists && named.Optional:
			b.note(text, "missing; it is optional")
			continue
		case !p.exists:
			return nil, Refuse(CodeDeclaration, "create it, or name the directory above it", "deny-exec path %s does not exist", named.Name)
		default:
			if list, err = b.holdExec(p, e, list); err != nil {
				return nil, err
			}
		}
		paths = append(paths, p.path)
	}
	for i := range list {
		m := &list[i]
		executes := m.Kind == mount.Bind || m.Kind == mount.Overlay || m.Kind == mount.Private
		m.NoExec = m.NoExec || executes && slices.ContainsFunc(paths, func(dir string) bool { return mount.Within(m.Target, dir) })
	}
	mount.Sort(list)
	b.denyExec = sorted(paths)
	return list, nil
}

// holdExec adds a mount for a path that shares one with its surroundings. The directories
// between the two are pinned; otherwise the command could rename them and create the path
// again.
func (b *builder) holdExec(p resolvedPath, e Entry, list []mount.Mount) ([]mount.Mount, error) {
	if slices.ContainsFunc(list, func(m mount.Mount) bool { return m.Target == p.path && m.Kind != mount.Symlink }) {
		return list, nil
	}
	around := mount.Covering(list, p.path)
	if b.set.View != "" && e.Access == ReadWrite || around == nil || around.Kind != mount.Bind || around.Source != around.Target {
		return nil, Refuse(CodeDeclaration, "name "+e.Path+" as a whole", "deny-exec path %s lies in a private directory of the command, or in a view", p.path)
	}
	list = append(list, mount.Mount{Kind: mount.Bind, Target: p.path, Source: p.path, File: !p.dir, Writable: around.Writable, Why: whyNoExec})
	if around.Writable {
		list = append(list, b.pins(p.path, around.Target, targets(list))...)
	}
	return list, nil
}

// targets are the targets of mounts.
func targets(list []mount.Mount) map[string]bool {
	taken := make(map[string]bool, len(list))
	for i := range list {
		taken[list[i].Target] = true
	}
	return taken
}
