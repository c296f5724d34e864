package gitargs

import (
	"cmp"
	"slices"
	"strings"

	"ethos/pkg/record"
)

func (c *call) pathspecs(ws []*string) {
	for _, w := range ws {
		if w != nil {
			c.out.Git.Paths = append(c.out.Git.Paths, *w)
		}
	}
}

// unknownPath stands for a pathspec that is not static.
const unknownPath = "{}"

// write records that the command changes the files of pathspecs.
func (c *call) write(op string, ws ...*string) {
	for _, w := range ws {
		if w == nil {
			c.out.Writes = append(c.out.Writes, record.PathUse{Path: join(c.out.Dir, unknownPath), By: "git", Op: op})
			continue
		}
		if p, ok := c.pathOf(*w); ok {
			c.out.Writes = append(c.out.Writes, record.PathUse{Path: p, By: "git", Op: op, Certain: !c.dirUnknown})
		}
	}
}

// pathOf converts a pathspec to a path; gitglossary(7), "pathspec". Exclusions are not paths.
func (c *call) pathOf(spec string) (string, bool) {
	rest, ok := strings.CutPrefix(spec, ":")
	if !ok || rest == "" || c.literal() {
		return join(c.out.Dir, spec), spec != ""
	}
	if long, ok := strings.CutPrefix(rest, "("); ok {
		magic, path, _ := strings.Cut(long, ")")
		words := strings.Split(magic, ",")
		return c.magicPath(path, slices.Contains(words, "top"), slices.Contains(words, "exclude"))
	}
	path := strings.TrimLeft(rest, "/!^")
	path = strings.TrimPrefix(path, ":")
	marks := rest[:len(rest)-len(strings.TrimLeft(rest, "/!^"))]
	return c.magicPath(path, strings.Contains(marks, "/"), strings.ContainsAny(marks, "!^"))
}

// literal reports whether pathspecs have no magic.
func (c *call) literal() bool {
	_, ok := c.out.Git.Globals["--literal-pathspecs"]
	return ok
}

func (c *call) magicPath(path string, top, exclude bool) (string, bool) {
	if exclude {
		return "", false
	}
	if top && c.ctx.Repo.Root != "" {
		return join(c.ctx.Repo.Root, cmp.Or(path, ".")), true
	}
	return join(c.out.Dir, cmp.Or(path, ".")), true
}

// output records a file that an option names for the command's output.
func (c *call) output(option string) bool {
	wrote := false
	for _, g := range c.opts {
		if g.name == option && !g.negated && g.has {
			c.write("write", g.value)
			wrote = true
		}
	}
	return wrote
}

// elsewhere records that files are written in a work tree that an option, a variable or
// core.worktree names. The repository determines these files and their names.
func (c *call) elsewhere() {
	if !slices.Contains(c.out.Git.Class, "worktree") {
		return
	}
	if c.out.WorkTree != "" {
		c.write("write", &c.out.WorkTree)
	} else if dir, set := c.lookupConfig("core.worktree"); set {
		if c.ctx.Repo.GitDir != "" && !strings.HasPrefix(dir, "/") { // git-config(1): relative to the git directory
			dir = join(c.ctx.Repo.GitDir, dir)
		}
		c.write("write", &dir)
	}
}
