package plan

import (
	"path/filepath"
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// mounts turns the table into mounts, parents first.
func (b *builder) mounts(entries []Entry) []mount.Mount {
	list := b.fixedMounts()
	taken, around := targets(list), map[string]bool{}
	for _, e := range entries {
		for dir := e.Path; dir != "/" && !around[filepath.Dir(dir)]; {
			dir = filepath.Dir(dir)
			around[dir] = true
		}
	}
	table := newCovers(nil)
	for _, e := range entries {
		above := table.covering(e.Path)
		table.add(e)
		if m := b.mountOf(e, above, around[e.Path]); m != nil {
			list = append(list, *m)
			taken[m.Target] = true
		}
		if (e.Access != ReadWrite || e.Why == whyHeld) && above.Access == ReadWrite {
			list = append(list, b.pins(e.Path, above.Path, taken)...)
		}
	}
	return list
}

// place derives the mounts and the environment from the table. Without a mount namespace,
// the command's root is the host's and there are no mounts.
func (b *builder) place(entries []Entry) ([]Entry, []mount.Mount, []string, error) {
	if b.flat() {
		env, err := b.environment()
		return entries, []mount.Mount{}, env, err
	}
	entries, err := b.finalize(entries)
	if err != nil {
		return nil, nil, nil, err
	}
	trust, err := b.trustFiles(entries)
	if err != nil {
		return nil, nil, nil, err
	}
	fakes, err := b.fakes(entries)
	if err != nil {
		return nil, nil, nil, err
	}
	env, err := b.environment()
	if err != nil {
		return nil, nil, nil, err
	}
	caches, err := b.caches(entries)
	if err != nil {
		return nil, nil, nil, err
	}
	managed, err := b.managed(entries)
	if err != nil {
		return nil, nil, nil, err
	}
	entries = b.signingDir(b.gitSettings(b.withOwn(entries, len(caches)+len(managed) > 0)))
	mounts, err := b.allMounts(entries, fakes, caches, slices.Concat(managed, b.program(), b.signingMounts()), b.resolverFiles(entries), trust, b.linkMounts(entries))
	return entries, mounts, env, err
}

// allMounts returns the mounts of the table and the additional ones whose targets are free.
func (b *builder) allMounts(entries []Entry, more ...[]mount.Mount) ([]mount.Mount, error) {
	list := b.mounts(entries)
	for _, m := range more {
		list = beside(list, m)
	}
	mount.Sort(list)
	return b.noExec(entries, list)
}

// mountOf returns the mount that gives an entry its access, or nil if none is needed. deeper
// says that there are entries below it.
func (b *builder) mountOf(e, above Entry, deeper bool) *mount.Mount {
	fromHost := above.Access == ReadOnly || above.Access == ReadWrite
	m := &mount.Mount{Kind: mount.Bind, Target: e.Path, Source: e.Path, File: !e.Dir, Why: e.Why}
	switch e.Access {
	case Private:
		private := &mount.Mount{Kind: mount.Private, Target: e.Path, Writable: true, Mode: 0o1777, Why: e.Why}
		if e.Path == b.home && b.home != "/tmp" {
			private.Mode = 0o700
		}
		return private
	case ReadWrite:
		m.Writable = true
		return m
	case ReadOnly:
		if !e.Exists {
			return nil
		}
		if to := copyOf(b.copies, e.Path); to != "" {
			m.Kind, m.Source = mount.Link, to
		}
		return m
	}
	if !fromHost || !e.Exists || b.isMasked(e.Path) {
		return nil
	}
	m.Kind, m.Source = mount.Mask, ""
	if e.Empty || deeper {
		m.Kind = mount.MaskOpen
	}
	if e.Empty {
		m.Mode = 0o555
	}
	return m
}

// pins holds the directories between a writable mount and a protected path in it. A mount
// point cannot be renamed, so the protected path cannot be moved aside together with its
// directory. taken are the directories that have a mount; it adds those that get one.
func (b *builder) pins(path, above string, taken map[string]bool) []mount.Mount {
	var out []mount.Mount
	for dir := filepath.Dir(path); dir != above && dir != "/" && mount.Within(dir, above); dir = filepath.Dir(dir) {
		if info, err := b.files.lstat(dir); err != nil || info == nil || taken[dir] {
			continue
		}
		out, taken[dir] = append(out, mount.Mount{Kind: mount.Bind, Target: dir, Source: dir, Writable: true, Why: whyHeld}), true
	}
	return out
}
