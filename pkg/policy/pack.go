package policy

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed packs
var packFiles embed.FS

// sharedFile has the principles of the shipped packs, and macros for all of their files.
const sharedFile = "shared.yaml"

// readShipped compiles the shipped packs from their text: packs/NAME/*.yaml, core first. The
// embedded form is generated from this. Only the text has the examples.
func readShipped(files fs.FS) (*Set, error) {
	l := &loader{set: &Set{bounds: Bounds{}.orDefault()}}
	text, err := fs.ReadFile(files, sharedFile)
	if err != nil {
		return nil, err
	}
	shared := parseFile(Source{Name: shippedName("", sharedFile), Text: text})
	shared.expandMacros(nil)
	l.principlesOf(shared)
	names, err := packNames(files)
	if err != nil {
		return nil, err
	}
	var faults Faults
	for _, name := range names {
		found, err := l.packText(files, name, shared.macros)
		if err != nil {
			return nil, err
		}
		faults = append(faults, found...)
	}
	shared.unusedMacros()
	return l.set.seal(), append(shared.faults, faults...).orNil()
}

func packNames(files fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	names := []string{Core}
	for _, e := range entries {
		if e.IsDir() && e.Name() != Core {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (l *loader) packText(files fs.FS, pack string, shared []*macro) (Faults, error) {
	l.set.packs = append(l.set.packs, pack)
	names, err := fs.Glob(files, path.Join(pack, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var faults Faults
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		f := parseFile(Source{Name: shippedName("", name), Text: text})
		f.expandMacros(shared)
		f.unusedMacros()
		l.packPolicies(f, pack)
		faults = append(faults, f.faults...)
	}
	return faults, nil
}

// packPolicies checks shipped policies more strictly than a consumer's: each must have all its
// parts and two examples of either kind.
func (l *loader) packPolicies(f *file, pack string) {
	for _, w := range f.policies {
		if l.find(w.ID) != nil {
			f.fault(w.given["id"], "policy %q is already defined", w.ID)
		}
		for _, name := range []string{"principle", "effect", "when", "message", "remedy", "examples"} {
			if w.given[name] == nil {
				f.fault(w.at, "policy %q has no %q", w.ID, name)
			}
		}
		if w.Pack != pack {
			f.fault(w.at, "policy %q must say pack: %s", w.ID, pack)
		}
		if len(w.Examples.Deny) < 2 || len(w.Examples.Allow) < 2 {
			f.fault(w.at, "policy %q has fewer than two examples of a kind", w.ID)
		}
		if strings.Contains(w.Message, "!") || strings.Contains(w.Message, "\n\n") {
			f.fault(w.given["message"], "a message is one calm sentence")
		}
		l.checkPrinciple(f, w)
		if r := f.rule(w); r != nil {
			l.set.rules = append(l.set.rules, r)
		}
	}
}
