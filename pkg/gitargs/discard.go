package gitargs

// Discard is what a command throws away of work that is in no commit, where there is such work. The zero value is nothing.
type Discard struct {
	Modified  bool // files of the work tree that differ from the index
	Staged    bool // what the index has and HEAD has not
	Untracked bool // files that git neither tracks nor ignores
	Ignored   bool // files that git ignores
	Dirs      bool // of the untracked and ignored, also those in directories without a tracked file
	Nested    bool // and those in repositories inside of the work tree
	Stash     bool // stash entries
	// Paths are the pathspecs that the files are limited to, relative to the
	// directory that the command works in; none limits nothing.
	Paths     []string
	Except    []string // patterns of untracked files that stay, as in .gitignore
	Branches  []string // local branches that are deleted, whether they are merged or not
	WorkTrees []string // linked work trees that are removed with what is in them, relative to the directory that the command works in
}

// Any reports whether there is something to look for.
func (d *Discard) Any() bool {
	return d.Modified || d.Staged || d.Untracked || d.Ignored || d.Stash || len(d.Branches) > 0 || len(d.WorkTrees) > 0
}

// Save is what a command puts where it is found again.
type Save struct {
	Tracked   bool // every change of tracked files, whether it is staged or not
	Staged    bool // the index
	Untracked bool // the untracked files
	Stash     bool // it makes a stash entry
}

// loses notes a loss that is limited to pathspecs. One that is not static limits nothing.
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

// names are the static words among operands.
func names(ws []*string) (out []string) {
	for _, w := range ws {
		if w != nil {
			out = append(out, *w)
		}
	}
	return out
}
