package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
	"ethos/pkg/sandbox/kernel/mount"
)

// cacheless are programs that use no package cache. They start without cache mounts.
var cacheless = []string{
	"awk", "base64", "basename", "cat", "chmod", "cmp", "comm", "cp", "cut", "date", "df", "diff", "dirname", "du", "echo", "expr", "false", "file", "find", "fold", "git",
	"grep", "egrep", "fgrep", "gzip", "head", "hostname", "id", "jq", "less", "ln", "ls", "md5sum", "mkdir", "mktemp", "mv", "nl", "nproc", "od", "paste", "patch", "printf", "ps",
	"pwd", "readlink", "realpath", "rg", "rm", "rmdir", "sed", "seq", "sha256sum", "sleep", "sort", "split", "stat", "tail", "tar", "tee", "test", "touch", "tr", "tree", "true",
	"uname", "uniq", "wc", "which", "whoami", "xz", "yes", "zstd",
}

// caches returns the copy-on-write mounts of the package caches: those that exist on the
// host and that the command cannot already write.
func (b *builder) caches(entries []Entry) ([]mount.Mount, error) {
	if b.spec.Backend == Bwrap { // see cacheRules
		return nil, nil
	}
	if len(b.spec.Argv) > 0 && slices.Contains(cacheless, filepath.Base(b.spec.Argv[0])) {
		return nil, nil
	}
	group := b.cacheGroup(entries)
	var list []mount.Mount
	for i, path := range b.set.CachePaths {
		more, err := b.cache(path, group, i < len(b.spec.CachePaths), entries)
		if err != nil {
			return nil, err
		}
		list = beside(list, more)
	}
	return list, nil
}

// beside appends the mounts whose targets are not yet in the list.
func beside(list, more []mount.Mount) []mount.Mount {
	for _, m := range more {
		if !slices.ContainsFunc(list, func(other mount.Mount) bool { return other.Target == m.Target }) {
			list = append(list, m)
		}
	}
	return list
}

// cache returns the mount of one cache and those that enforce the denies in it, or nil if
// there is nothing to mount. A cache that is both requested and denied is an error; one
// from the base set is left out instead. group is that of [builder.cacheGroup].
func (b *builder) cache(path, group string, asked bool, entries []Entry) ([]mount.Mount, error) {
	named, err := b.expand(path)
	if err != nil {
		return nil, Refuse(CodeDeclaration, "", "cache: %w", err)
	}
	p, err := b.files.resolve(named.Name)
	switch {
	case err != nil && asked:
		return nil, Refuse(CodeDeclaration, "name a directory that you can reach", "cache: %w", err)
	case err != nil: // as in a home that is not the caller's
		b.note(named.Name, "no cache: %v", err)
		return nil, nil
	case !p.exists && len(p.links) == 0:
		return b.newCache(p, group, entries), nil
	case !p.dir: // a file, or a link that leads nowhere
		return nil, nil
	}
	if err := b.declarable(p, grantWrite, "cache"); err != nil {
		return nil, err
	}
	if err := b.symlinkEscape(p, "cache", entries); err != nil {
		return nil, err
	}
	if b.showsState(p.path) { // an overlay shows everything below it
		return nil, Refuse(CodeDeclaration, stateHint, "cache path %s shows the state folder of ethos", p.path)
	}
	if Covering(entries, p.path).Access == ReadWrite {
		return nil, nil
	}
	if why, denied := b.denied(p.path); denied && asked {
		return nil, Refuse(CodeDeclaration, "remove one of the two", "cache path %s is also denied%s", p.path, source(why))
	} else if denied {
		b.note(p.path, "no cache: it is denied%s", source(why))
		return nil, nil
	}
	if len(b.denials([]rule{{p, grantRead, "cache"}})) > 0 {
		b.note(p.path, "no cache: it is denied (%s)", ceiling.Dir)
		return nil, nil
	}
	over := b.overCache(p.path, group)
	over.Source = p.path
	return append([]mount.Mount{over}, b.deniedIn(p)...), nil
}

// overCache returns the mount of a cache without its lower directory.
func (b *builder) overCache(path, group string) mount.Mount {
	dir := CacheDir(b.own, group, path)
	return mount.Mount{Kind: mount.Overlay, Target: path, Upper: dir + "/upper", Work: dir + "/work", Writable: true, Why: "cache"}
}

// computed are the names of the caches that tools fill without network.
var computed = []string{"go-build", "golangci-lint", "staticcheck", "ruff", "ccache"}

// newCache returns the mount of a cache that does not exist on the host, where nothing is created.
// Its lower directory is empty. It needs a place where the command could create the cache anyway: a
// private directory, in which ethos makes the mount point. A cache of what is downloaded needs a
// network, without which it would stay empty: each mount takes time.
func (b *builder) newCache(p resolvedPath, group string, entries []Entry) []mount.Mount {
	at := Covering(entries, p.path)
	_, denied := b.denied(p.path)
	reaches := b.set.Network.Mode == "proxy" || b.set.Network.Mode == "host"
	switch {
	case !reaches && !slices.Contains(computed, filepath.Base(p.path)):
	case denied || at.Access == ReadWrite:
	case !mount.Within(b.own, filepath.Join(b.spec.Workspace, ".git")) && !b.exists(b.own): // what is added would be a new directory in the work tree
		b.note(p.path, "no cache: create it, and later runs see what is added to it")
	case at.Access != Private || at.Path != b.home && !mount.Within(at.Path, b.home):
		b.note(p.path, "no cache: create it, and later runs see what is added to it")
	case b.showsState(p.path) || b.declarable(p, grantWrite, "cache") != nil || len(b.denials([]rule{{p, grantRead, "cache"}})) > 0:
	default:
		return []mount.Mount{b.overCache(p.path, group)}
	}
	return nil
}

// denied reports whether read access to a path is denied by a rule that no deeper grant
// overrides, and why.
func (b *builder) denied(path string) (why string, denied bool) {
	deepest := -1
	for _, r := range b.rules {
		depth, deny := mount.Depth(r.path), r.class == denyRead || r.class == blank
		if depth < deepest || r.class == denyWrite || r.class == allowWithinDeny || !mount.Within(path, r.path) {
			continue
		}
		if deny {
			why = r.why
		}
		denied, deepest = deny || denied && depth == deepest, depth
	}
	return why, denied
}

// deniedIn returns the mounts that enforce the denies inside a cache, over its overlay,
// which would show everything. A denied path that does not exist needs no mount, because
// what the command makes there does not reach the host.
func (b *builder) deniedIn(cache resolvedPath) (list []mount.Mount) {
	rules := []rule{{cache, grantWrite, "cache"}}
	for _, r := range b.rules {
		info, _ := b.files.lstat(r.path)
		link := info != nil && info.Mode()&fs.ModeSymlink != 0
		if (r.class == denyRead || r.class == denyWrite) && r.exists && !link && r.path != cache.path && mount.Within(r.path, cache.path) {
			rules = append(rules, r)
		}
	}
	entries := table(rules)
	for i := 1; i < len(entries); i++ {
		below := func(d Entry) bool { return mount.Within(d.Path, entries[i].Path) }
		if m := b.mountOf(entries[i], Covering(entries[:i], entries[i].Path), slices.ContainsFunc(entries[i+1:], below)); m != nil {
			list = append(list, *m)
		}
	}
	return list
}

// SharedCaches is the cache group of all commands that write the whole work space, reach no
// network and have nothing beyond their profile. They share what they add to caches,
// whatever their profile is.
const SharedCaches = "shared"

// cacheGroup returns the name of the group of commands that share what they add to caches.
// Tools run what a cache holds without checking it, so commands that share a cache can make
// each other run code. Therefore only commands with the same rights share one.
//
// A command that writes the whole work space can already do that through its sources, build
// files and tests. All such commands that have no further rights form the group
// [SharedCaches], whatever their profile is. A command that can write less, or only read,
// must not use what such a command wrote, nor the other way round: it would gain write
// access that way. Anything that a command has beyond its profile puts it in a group of its
// own.
func (b *builder) cacheGroup(entries []Entry) string {
	group := b.set.SandboxProfile
	whole := Covering(entries, b.spec.Workspace).Access == ReadWrite && len(b.set.DenyWritePaths) == 0
	if mode := b.set.Network.Mode; whole && len(b.agent) == 0 && (mode == "none" || mode == "loopback") {
		group = SharedCaches
	}
	has := b.beyondProfile()
	if b.owner != nil { // the owner's commands have caches of their own
		has = append(has, "uid=0")
	}
	if len(has) == 0 {
		return group
	}
	sum := sha256.Sum256([]byte(strings.Join(has, "\x00")))
	return group + "-" + hex.EncodeToString(sum[:16]) // long enough that an agent that starts runs cannot find a second set with this sum
}

// unapart are the fields of a set that give a command no further access, or that follow
// from other fields. All other fields are part of [builder.cacheGroup].
var unapart = []string{
	"sandbox_profile", "tags", "requires_network", "requires_git", "requires_env", "granted_by",
	"enforce", "timeout_seconds", "memory_mb", "cpu_quota_percent", "pids", "open_files", "output_bytes",
}

// beyondProfile lists, as NAME=JSON, how a command differs from one that has only its
// profile.
func (b *builder) beyondProfile() (has []string) {
	add := func(name string, value any) {
		text, _ := json.Marshal(value) // cannot fail: words, lists and maps of strings
		has = append(has, name+"="+string(text))
	}
	profile := capability.OnProfile(b.set.SandboxProfile)
	plain := profile.Whole()
	given := maps.Collect(capability.Values(&plain))
	for name, value := range capability.Values(&b.set) {
		if was := given[name]; !slices.Contains(unapart, name) && !reflect.DeepEqual(value, was) {
			add(name, value)
		}
	}
	spec := reflect.ValueOf(aside(b.spec))
	for i := range spec.NumField() {
		if is := spec.Field(i); !is.IsZero() && (is.Kind() != reflect.Slice || is.Len() > 0) {
			add(spec.Type().Field(i).Name, is.Interface())
		}
	}
	return has
}

// aside returns a copy of a spec without the fields that say what is run, where, how it is
// reported and by which programs of ethos. It also clears the capability set, whose fields
// are compared one by one.
func aside(s Spec) Spec {
	s.Asked, s.Argv, s.Dir, s.Workspace, s.Placed, s.Environ = capability.Asked{}, nil, "", "", false, nil
	s.KeepsStore, s.Require, s.Managed, s.Program, s.Signer = false, nil, ManagedGit{}, "", ""
	s.ProxyEnv, s.CloseStdin, s.Explain, s.NewSession, s.Recovered = false, false, false, false, nil
	return s
}

// CacheDir returns the directory of the upper layer of a cache. own is the directory of
// ethos, group is that of [builder.cacheGroup], and lower is the cache on the host.
func CacheDir(own, group, lower string) string {
	sum := sha256.Sum256([]byte(lower))
	return filepath.Join(own, "cache", group+"-"+filepath.Base(lower)+"-"+hex.EncodeToString(sum[:6]))
}
