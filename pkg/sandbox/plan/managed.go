package plan

import (
	"path/filepath"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
)

// ManagedGit puts ethos-git in the place of every git that the command can name. The zero value manages nothing.
type ManagedGit struct {
	Program string   // ethos-git
	Decide  string   // ethos-decide
	Real    string   // the git that ethos-git becomes; inside it is at record.InsideGit
	Over    []string // the files that are git by any of its names
}

// managedGit are its mounts. They come from the host by paths of their own and take no part in the table: nothing becomes readable that is not git or ethos.
func (b *builder) managedGit(entries []Entry) ([]mount.Mount, error) {
	g := b.spec.Managed
	if g.Program == "" {
		return nil, nil
	}
	list := []mount.Mount{
		managedFile(record.InsideGit, g.Real, "the real git"),
		managedFile(record.InsideDecide, g.Decide, "decides for managed git"),
		{Kind: mount.Bind, Target: record.InsideTraces, Source: filepath.Join(b.own, InsideTraces), Writable: true, NoExec: true, Why: "traces of managed git"},
	}
	for _, path := range g.Over {
		if access := Covering(entries, path).Access; access == ReadOnly || access == ReadWrite {
			list = append(list, managedFile(path, g.Program, "managed git"))
		}
	}
	for _, m := range list {
		if m.Source != "" && !m.Writable && !filepath.IsAbs(m.Source) {
			return nil, Refuse(CodeDeclaration, "name it by its absolute path", "managed git: %s is not an absolute path", m.Source)
		}
	}
	return list, nil
}

// managed are the mounts that come from the directory of ethos, or are another
// file than the one in whose place they are.
func (b *builder) managed(entries []Entry) ([]mount.Mount, error) {
	git, err := b.managedGit(entries)
	if err != nil {
		return nil, err
	}
	agent, err := b.agentMounts(entries)
	return append(git, agent...), err
}

// program is the mount that shows ethos-sandbox to the file workers of a session.
func (b *builder) program() []mount.Mount {
	if b.spec.Program == "" {
		return nil
	}
	return []mount.Mount{managedFile(record.InsideSandbox, b.spec.Program, "file workers")}
}

func managedFile(target, source, why string) mount.Mount {
	return mount.Mount{Kind: mount.Bind, Target: target, Source: source, File: true, Why: why}
}
