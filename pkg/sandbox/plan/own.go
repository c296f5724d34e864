package plan

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
)

// ownInGit is the directory that ethos uses instead of EthosDir, below a git directory: see
// [builder.findOwn].
const ownInGit = ".git/coding-ethos"

// findOwn decides where ethos keeps the data of the work space: the journal of placeholders
// and their pool, caches, and traces of managed git. That is EthosDir if it exists or if
// there is no git directory. Otherwise the work tree is left unchanged, and the data,
// including a store of traces, goes into the git directory, which is rarely listed. Once
// the journal is there, it stays there.
func (b *builder) findOwn() {
	ws := b.spec.Workspace
	b.own = filepath.Join(ws, EthosDir)
	inGit := filepath.Join(ws, ownInGit)
	if !b.ownedDir(filepath.Dir(inGit)) {
		return
	}
	if b.ownedDir(inGit) && b.exists(filepath.Join(inGit, JournalName)) {
		b.own = inGit
	}
	if !b.exists(b.own) && b.files.files.Writable(filepath.Dir(inGit)) {
		b.own = inGit
	}
}

func (b *builder) exists(path string) bool {
	info, err := b.files.lstat(path)
	return err != nil || info != nil
}

// ownedDir reports whether a path is a directory, not a link, that belongs to the caller or
// the [Owner].
func (b *builder) ownedDir(path string) bool {
	info, err := b.files.lstat(path)
	return err == nil && info != nil && info.IsDir() && b.mine(info)
}

// isOwn reports whether a path is one of the two directories in which ethos keeps the data
// of a work space.
func isOwn(path string) bool {
	return filepath.Base(path) == EthosDir || strings.HasSuffix(path, "/"+ownInGit)
}

const whyOwn = "kept by ethos"

// keepOwn hides ethos's directory: traces are evidence, and overlays leave directories in
// the caches that nobody may read. If the directory does not exist, the command must not
// create it either.
func (b *builder) keepOwn(root string) error {
	path := filepath.Join(root, EthosDir)
	inGit := filepath.Join(root, ownInGit)
	if root != b.spec.Workspace && !(b.spec.Backend == Bwrap && !b.exists(path)) || b.spec.KeepsStore && b.own == path || b.exists(path) {
		if err := b.hideOwn(path); err != nil {
			return err
		}
	} else {
		b.names = append(b.names, ProtectedNames{Dir: root, Names: []string{EthosDir}})
	}
	if info, err := b.files.lstat(inGit); err == nil && info != nil {
		return b.hideOwn(inGit)
	}
	if b.own != inGit && b.ownedDir(filepath.Dir(inGit)) && !b.exists(filepath.Join(path, "traces")) {
		return b.hideOwn(inGit) // ethos may create a store there while the command runs; the command must not
	}
	return nil
}

func (b *builder) hideOwn(path string) error {
	err := b.protectPath(path, blank, whyOwn)
	if errors.Is(err, errLoop) {
		return Refuse(CodeSetup, OwnHint, "%w", err)
	}
	return err
}

// withOwn adds ethos's directory to a table that needs it and lacks it. It is created
// before the mounts are made.
func (b *builder) withOwn(entries []Entry, needed bool) []Entry {
	needed = needed || len(b.placeholders) > 0
	if b.inView() || b.spec.Backend == Bwrap || !needed && !slices.ContainsFunc(entries, func(e Entry) bool { return Protective(entries, e) }) {
		return entries
	}
	if slices.ContainsFunc(entries, func(e Entry) bool { return e.Path == b.own }) {
		return entries
	}
	above := Covering(entries, b.own)
	if above.Access == Hidden {
		return entries
	}
	b.put(Placeholder{Path: b.own, Dir: true})
	entries = append(slices.Clone(entries), Entry{Path: b.own, Access: Hidden, Exists: true, Dir: true, Empty: true, Why: whyOwn})
	slices.SortStableFunc(entries, func(x, y Entry) int { return mount.Depth(x.Path) - mount.Depth(y.Path) })
	return entries
}
