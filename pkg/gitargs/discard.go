package gitargs

// Discard says which uncommitted work a command discards, if there is any. The zero value is none.
type Discard struct {
	Modified  bool // files of the work tree that differ from the index
	Staged    bool // changes that are in the index and not in HEAD
	Untracked bool // files that git neither tracks nor ignores
	Ignored   bool // files that git ignores
	Dirs      bool // also untracked and ignored files in directories without a tracked file
	Nested    bool // also files in nested repositories
	Stash     bool // stash entries
	// Paths are the pathspecs that limit the files, relative to the directory of the command. An
	// empty list is no limit.
	Paths     []string
	Except    []string // patterns of untracked files that are kept, as in .gitignore
	Branches  []string // local branches that are deleted, merged or not
	WorkTrees []string // linked work trees that are removed with their content, relative to the directory of the command
}

// Any reports whether the command may discard something.
func (d *Discard) Any() bool {
	return d.Modified || d.Staged || d.Untracked || d.Ignored || d.Stash || len(d.Branches) > 0 || len(d.WorkTrees) > 0
}

// Save says which work a command stores so that it can be restored.
type Save struct {
	Tracked   bool // every change of tracked files, staged or not
	Staged    bool // the index
	Untracked bool // the untracked files
	Stash     bool // it makes a stash entry
}

// loses records a loss that is limited to pathspecs. A pathspec that is not static is no limit.
func (c *call) loses(d Discard, paths []*string) {
	for _, p := range paths {
		if p == nil {
			paths = nil
			break
		}
	}
	for _, p := range paths {
		d.Paths = append(d.Paths, *p)
	}
	if c.on("pathspec-from-file", "stdin") {
		d.Paths = nil
	}
	c.out.Discard = d
}

// names returns the static words among operands.
func names(ws []*string) (out []string) {
	for _, w := range ws {
		if w != nil {
			out = append(out, *w)
		}
	}
	return out
}
