package plan

import (
	"path/filepath"
	"strconv"
	"strings"

	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
)

// GitSettings is a git configuration file of an existing repository, of which the command
// gets a copy that it can write. Git replaces the file by rename, which fails for a mount
// point but works on the target of a symbolic link. Which changes of the copy reach the
// file is decided outside: see package gitsettings.
type GitSettings struct {
	Path string `json:"path"`
	Copy string `json:"copy"` // its path inside
	Text []byte `json:"-"`    // the initial content
	// Identified reports whether the user's own configuration names an author.
	Identified bool `json:"-"`
}

// SettingsDir is the directory of the copies inside.
const SettingsDir = record.InsideDir + "/config"

// maxCopies bounds the configuration files that have a copy; the others are read-only.
const maxCopies = 32

// maxSettings bounds the size of a configuration file that is copied, in bytes.
const maxSettings = 256 << 10

// gitSettings finds the configuration files of which the command gets a copy, and adds the
// directory of the copies to the table.
func (b *builder) gitSettings(entries []Entry) []Entry {
	if b.inView() { // a view discards what changes in them
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

// ownText returns the content of a file that belongs to the caller alone, in a directory in
// which the caller can replace it. It is empty for a missing file, for which a placeholder
// stands.
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

// identified reports whether the user's own configuration names an author. A file that it
// includes is assumed to name one.
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

// copyOf returns the path of the copy of a configuration file, or "" if it has none.
func copyOf(list []GitSettings, path string) string {
	for _, g := range list {
		if g.Path == path {
			return g.Copy
		}
	}
	return ""
}

// Linked reports whether a path inside is a link to a copy.
func (p *Plan) Linked(path string) bool { return copyOf(p.GitSettings, path) != "" }
