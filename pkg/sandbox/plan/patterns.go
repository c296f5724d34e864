package plan

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ethos/pkg/sandbox/kernel/mount"
)

// maxMatches bounds the files that one pattern denies: each takes a mount.
const maxMatches = 256

// isPattern reports whether a denied path is a pattern, that is, contains a "*". A file
// whose name contains "*" is matched by the pattern too.
func isPattern(path string) bool { return strings.Contains(path, "*") }

// denyPatterns denies the files that match a pattern when the plan is made, in everything
// that the rules show. All other rules must exist already.
func (b *builder) denyPatterns() error {
	for _, l := range []struct {
		paths []string
		class class
	}{{b.set.DenyReadPaths, denyRead}, {b.set.DenyWritePaths, denyWrite}} {
		for _, text := range l.paths {
			if !isPattern(text) {
				continue
			}
			if err := b.denyPattern(text, l.class); err != nil {
				return err
			}
		}
	}
	return nil
}

// pattern is a pattern that is being searched for.
type pattern struct {
	b       *builder
	text    string // as written
	base    string // the directory that rest is relative to, without links
	rest    string
	class   class
	matches int
}

func (b *builder) denyPattern(text string, c class) error {
	words := strings.Split(strings.TrimSuffix(text, "?"), "/")
	first := slices.IndexFunc(words, isPattern)
	base, rest := strings.Join(words[:first], "/"), strings.Join(words[first:], "/")
	if base == "" && first > 0 {
		base = "/"
	} else if base == "" {
		base = "."
	}
	if !doublestar.ValidatePattern(rest) {
		return Refuse(CodeDeclaration, `write it as "**/*.pem"`, "%s: %q is not a valid pattern", denied, text)
	}
	named, err := b.expand(base)
	if err != nil {
		return Refuse(CodeDeclaration, "", "%s: %w", denied, err)
	}
	at, err := b.files.resolve(named.Name)
	if err != nil {
		return Refuse(CodeDeclaration, "", "%s path %s: %w", denied, named.Name, err)
	}
	p := &pattern{b: b, text: text, base: at.path, rest: rest, class: c}
	for _, root := range b.shownBelow(at.path) {
		if err := p.search(root); err != nil {
			return err
		}
	}
	return nil
}

// shownBelow returns the outermost directories at or below base that a rule or a package
// cache shows.
func (b *builder) shownBelow(base string) (roots []string) {
	var shown []string
	for _, r := range b.rules {
		if r.class == grantRead || r.class == grantWrite {
			shown = append(shown, r.path)
		}
	}
	for _, cache := range b.set.CachePaths {
		if named, err := b.expand(cache); err == nil {
			if p, err := b.files.resolve(named.Name); err == nil {
				shown = append(shown, p.path)
			}
		}
	}
	for _, dir := range shown {
		if mount.Within(base, dir) {
			return []string{base}
		}
		if mount.Within(dir, base) {
			roots = append(roots, dir)
		}
	}
	slices.Sort(roots)
	roots = slices.Compact(roots)
	return slices.DeleteFunc(slices.Clone(roots), func(dir string) bool {
		return slices.ContainsFunc(roots, func(other string) bool { return other != dir && mount.Within(dir, other) })
	})
}

// search denies the matches at a path and below. It follows no links, because their targets
// are searched where they are.
func (p *pattern) search(path string) error {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, p.base), "/")
	if rel != "" && doublestar.MatchUnvalidated(p.rest, rel) {
		return p.deny(path)
	}
	info, err := p.b.files.lstat(path)
	if err != nil || info == nil || !info.IsDir() {
		return nil // a link, or removed meanwhile
	}
	entries, err := p.b.files.files.Entries(path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil // the command cannot list it either
	}
	if err != nil {
		return Refuse(CodeSetup, "check it, and start again", "directory cannot be searched for %s: %w", p.text, err)
	}
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		below := strings.TrimPrefix(strings.TrimPrefix(name, p.base), "/")
		switch {
		case doublestar.MatchUnvalidated(p.rest, below):
			err = p.deny(name)
		case e.IsDir():
			err = p.search(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// deny denies one match and its target.
func (p *pattern) deny(path string) error {
	to, err := p.b.files.resolve(path)
	if err != nil || !to.exists {
		return nil // a dangling link
	}
	if p.matches++; p.matches > maxMatches || len(path) >= mountPath {
		return Refuse(CodeDeclaration, "deny the directories that contain them", "%s path %s matches more than %d files, or one that lies too deep", denied, p.text, maxMatches)
	}
	why := denied + " by " + p.text
	p.b.rules = append(p.b.rules, rule{to, p.class, why})
	for _, r := range slices.Clone(p.b.rules) { // the depth of a pattern's matches is unknown when sets are composed, so no grant may open a match
		if opens := r.class == grantRead || r.class == grantWrite || r.class == allowWithinDeny; opens && mount.Within(r.path, to.path) {
			p.b.rules = append(p.b.rules, rule{r.resolvedPath, p.class, why})
		}
	}
	for _, link := range to.links {
		p.b.rules = append(p.b.rules, rule{resolvedPath{path: link, exists: true}, denyWrite, why + ", a link"})
	}
	return nil
}
