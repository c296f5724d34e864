package plan

import (
	"path/filepath"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
)

// ManagedGit describes how ethos-git replaces every git that the command can name. The zero
// value replaces none.
type ManagedGit struct {
	Program string   // ethos-git
	Decide  string   // ethos-decide
	CEL     string   // the ethos-cel beside it; "" if it is complete without
	Real    string   // the git that ethos-git executes; inside it is at record.InsideGit
	Over    []string // the files that are git, under any name
}

// managedGit returns the mounts of managed git. Their sources differ from their targets, so
// they are not part of the table. They make nothing readable except git and ethos.
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
	if g.CEL != "" {
		list = append(list, managedFile(record.InsideCEL, g.CEL, "decides for managed git where CEL is needed"))
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

// managed returns the mounts whose source is the directory of ethos, or a file other than
// the target.
func (b *builder) managed(entries []Entry) ([]mount.Mount, error) {
	git, err := b.managedGit(entries)
	if err != nil {
		return nil, err
	}
	agent, err := b.agentMounts(entries)
	return append(git, agent...), err
}

// program returns the mount that shows ethos-sandbox to the file workers of a session.
func (b *builder) program() []mount.Mount {
	if b.spec.Program == "" {
		return nil
	}
	return []mount.Mount{managedFile(record.InsideSandbox, b.spec.Program, "file workers")}
}

func managedFile(target, source, why string) mount.Mount {
	return mount.Mount{Kind: mount.Bind, Target: target, Source: source, File: true, Why: why}
}
