package plan

import (
	"path/filepath"
	"strconv"
	"strings"

	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
)

// GitSettings is a configuration file of git, of a repository that was there
// before, of which the command has a copy to write to: git locks and renames the
// file that a symbolic link leads to, and a file that is a mount point it could
// not replace. What of the copy becomes of the file is decided outside: see
// package gitsettings.
type GitSettings struct {
	Path string `json:"path"`
	Copy string `json:"copy"` // inside
	Text []byte `json:"-"`    // that the command begins with
	// Identified says that the person's own configuration names an author.
	Identified bool `json:"-"`
}

// SettingsDir is where the copies are inside.
const SettingsDir = record.InsideDir + "/config"

// maxCopies bounds the configurations that have a copy; the others are read-only.
const maxCopies = 32

// maxSettings bounds a configuration that is copied.
const maxSettings = 256 << 10

// gitSettings finds the configuration files of which the command gets a copy, and
// adds the directory of the copies to the table.
func (b *builder) gitSettings(entries []Entry) []Entry {
	if b.inView() { // nothing of them is taken over
		return entries
	}
	identified := false
	for i, e := range entries {
		name := filepath.Base(e.Path)
		if len(b.copies) == maxCopies || e.Why != GitConfiguration || e.Dir || e.Access != ReadOnly || name != "config" && name != "config.worktree" ||
			Covering(entries[:i], e.Path).Access != ReadWrite {
			continue
		}
		text, ok := b.ownText(e.Path)
		if !ok {
			continue
		}
		if len(b.copies) == 0 {
			identified = b.identified()
		}
		b.copies = append(b.copies, GitSettings{Path: e.Path, Copy: filepath.Join(SettingsDir, strconv.Itoa(len(b.copies)), name), Text: text, Identified: identified})
	}
	if len(b.copies) == 0 {
		return entries
	}
	return privately(entries, SettingsDir, "copies of git's configuration")
}

// ownText is the text of a file that is the caller's alone, in a directory in
// which they can replace it; "" where a placeholder stands.
func (b *builder) ownText(path string) ([]byte, bool) {
	if !b.files.files.Writable(filepath.Dir(path)) {
		return nil, false
	}
	info, err := b.files.lstat(path)
	if err != nil || info == nil {
		return nil, err == nil
	}
	if !info.Mode().IsRegular() || !b.mine(info) || linksTo(info) != 1 || info.Size() > maxSettings {
		return nil, false
	}
	text, err := b.files.files.ReadFile(path)
	return text, err == nil && gitrepo.ParseConfig(path, text, func(gitrepo.Entry) error { return nil }) == nil
}

// identified reports whether the person's own configuration names an author: what
// it includes is taken to.
func (b *builder) identified() (found bool) {
	for _, file := range b.userGit() {
		text, err := b.files.files.ReadFile(file)
		if err != nil {
			continue
		}
		_ = gitrepo.ParseConfig(file, text, func(e gitrepo.Entry) error {
			found = found || strings.HasPrefix(e.Key, "user.") || strings.HasPrefix(e.Key, "include")
			return nil
		})
	}
	return found
}

// copyOf is where the copy of a configuration file is; "" for one that has none.
func copyOf(list []GitSettings, path string) string {
	for _, g := range list {
		if g.Path == path {
			return g.Copy
		}
	}
	return ""
}

// Linked reports whether a path is a link to a copy inside.
func (p *Plan) Linked(path string) bool { return copyOf(p.GitSettings, path) != "" }
