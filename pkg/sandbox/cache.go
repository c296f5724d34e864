package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"ethos/pkg/sandbox/mount"
)

// cacheless are programs that keep no package cache: they start without the mounts for one.
var cacheless = []string{
	"awk", "base64", "basename", "cat", "chmod", "cmp", "comm", "cp", "cut", "date", "df", "diff", "dirname", "du", "echo", "expr", "false", "file", "find", "fold", "git",
	"grep", "egrep", "fgrep", "gzip", "head", "hostname", "id", "jq", "less", "ln", "ls", "md5sum", "mkdir", "mktemp", "mv", "nl", "nproc", "od", "paste", "patch", "printf", "ps",
	"pwd", "readlink", "realpath", "rg", "rm", "rmdir", "sed", "seq", "sha256sum", "sleep", "sort", "split", "stat", "tail", "tar", "tee", "test", "touch", "tr", "tree", "true",
	"uname", "uniq", "wc", "which", "whoami", "xz", "yes", "zstd",
}

// caches are the copy-on-write mounts: the caches that exist on the host, where the command cannot already write.
func (b *builder) caches(entries []Entry) ([]mount.Mount, error) {
	declared := b.spec.Cache
	if !b.spec.Declared {
		declared = append(slices.Clone(b.profile.Caches), b.spec.Cache...)
	}
	if len(b.spec.Argv) > 0 && slices.Contains(cacheless, filepath.Base(b.spec.Argv[0])) {
		return nil, nil
	}
	var list []mount.Mount
	for _, path := range declared {
		m, err := b.cache(path, entries)
		if err != nil {
			return nil, err
		}
		taken := func(other mount.Mount) bool { return other.Target == m.Target }
		if m != nil && !slices.ContainsFunc(list, taken) {
			list = append(list, *m)
		}
	}
	return list, nil
}

// cache is the mount of one declared cache, nil when there is nothing to mount.
func (b *builder) cache(path string, entries []Entry) (*mount.Mount, error) {
	named, err := b.expand(path)
	if err != nil {
		return nil, refuse(CodeDeclaration, "", "cache: %w", err)
	}
	p, err := b.files.resolve(named.Name)
	if err != nil || !p.dir {
		return nil, err
	}
	if err := b.declarable(p, grantWrite, "cache"); err != nil {
		return nil, err
	}
	above := covering(entries, p.path)
	switch {
	case above.Access == ReadWrite:
		return nil, nil
	case above.Access == Hidden && above.Why != "":
		return nil, refuse(CodeDeclaration, "take one of the two out", "cache path %s is denied as well (%s)", p.path, above.Why)
	}
	dir := b.cacheDir(p.path)
	return &mount.Mount{Kind: mount.Overlay, Target: p.path, Source: p.path, Upper: dir + "/upper", Work: dir + "/work", Writable: true, Why: "cache"}, nil
}

// cacheDir is where the command's own part of a cache is kept: apart for each profile, so that what a looser one wrote is not what a stricter one reads.
func (b *builder) cacheDir(lower string) string {
	sum := sha256.Sum256([]byte(lower))
	name := b.profile.Name + "-" + filepath.Base(lower) + "-" + hex.EncodeToString(sum[:6])
	return filepath.Join(b.spec.Workspace, ethosDir, "cache", name)
}

// ethosDir is the directory of a work space that belongs to ethos.
const ethosDir = ".coding-ethos"
