package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
)

const whyMasked = "masked"

// masked is a file whose content is replaced for the command.
type masked struct {
	resolvedPath
	fake string // the file that has the replacement; "" for an empty one
	text string
}

// masks hides the files whose content is masked. [builder.fakes] adds the mounts over them
// once the table is complete.
func (b *builder) masks() error {
	for _, text := range b.set.Masks {
		file, fake, err := capability.Mask(text)
		if err != nil {
			return Refuse(CodeDeclaration, "write it as --mask .env=.env.example", "mask: %w", err)
		}
		p, err := b.maskedFile(file)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		m := masked{resolvedPath: *p}
		if fake != "" {
			named, err := b.expand(fake)
			if err != nil {
				return Refuse(CodeDeclaration, "", "mask: %w", err)
			}
			m.fake = named.Name
		}
		same := func(o masked) bool { return o.path == m.path }
		if i := slices.IndexFunc(b.masked, same); i >= 0 {
			if b.masked[i].fake != m.fake {
				return Refuse(CodeDeclaration, "remove one of the two", "mask: %s has two replacements, %s and %s", m.path, b.masked[i].fake, m.fake)
			}
			continue
		}
		b.masked = append(b.masked, m)
		b.rules = append(b.rules, rule{*p, denyRead, whyMasked})
		for _, link := range p.links {
			b.rules = append(b.rules, rule{resolvedPath{path: link, exists: true}, denyWrite, whyMasked + ", a link"})
		}
	}
	return nil
}

// maskedFile resolves a file to be masked; nil if it is missing and optional.
func (b *builder) maskedFile(text string) (*resolvedPath, error) {
	named, err := b.expand(text)
	if err != nil {
		return nil, Refuse(CodeDeclaration, "", "mask: %w", err)
	}
	p, err := b.files.resolve(named.Name)
	switch {
	case err != nil:
		return nil, Refuse(CodeDeclaration, "", "mask: %s: %w", named.Name, err)
	case !p.exists && named.Optional:
		b.note(text, "missing; it is optional")
		return nil, nil
	case !p.exists:
		return nil, Refuse(CodeDeclaration, "create it, or mark it optional with a ? at the end of its name", "mask: %s does not exist", named.Name)
	case !p.mode.IsRegular():
		return nil, Refuse(CodeDeclaration, "deny a directory with --deny-read; mask files only", "mask: %s is not a file", p.path)
	}
	if info, err := b.files.lstat(p.path); err == nil && linksTo(info) > 1 {
		return nil, Refuse(CodeDeclaration, "replace the link by a copy: cp -p "+p.path+" NEW && mv NEW "+p.path, "mask: %s has another hard link, through which the command may read it", p.path)
	}
	return &p, nil
}

// fakes returns the mounts of the replacements. The command must already be able to read a
// replacement under its own name, so that a mask gives no further access.
func (b *builder) fakes(entries []Entry) (list []mount.Mount, err error) {
	for i := range b.masked {
		m := &b.masked[i]
		if m.fake != "" {
			p, err := b.files.resolve(m.fake)
			if err != nil || !p.exists || !p.mode.IsRegular() {
				return nil, Refuse(CodeDeclaration, "name an existing file, or none: --mask FILE=", "mask: the replacement %s is not a file", m.fake)
			}
			if at := Covering(entries, p.path).Access; at != ReadOnly && at != ReadWrite {
				return nil, Refuse(CodeDeclaration, "declare it with --ro, or name a file of the work space", "mask: the command may not read the replacement %s", p.path)
			}
			if err := b.symlinkEscape(p, whyMasked, entries); err != nil {
				return nil, err
			}
			text, err := b.files.files.ReadResolved(p.path)
			if err != nil {
				return nil, Refuse(CodeDeclaration, "name a file that you can read, of 1 MiB at most", "mask: %w", err)
			}
			m.text = string(text)
		}
		if Covering(entries, m.path).Access != Hidden {
			return nil, Refuse(CodeDeclaration, "remove one of the two", "mask: %s is also declared readable", m.path)
		}
		list = append(list, mount.Mount{Kind: mount.Text, Target: m.path, File: true, Text: m.text, Why: whyMasked})
	}
	return list, nil
}

// isMasked reports whether a path is masked.
func (b *builder) isMasked(path string) bool {
	return slices.ContainsFunc(b.masked, func(m masked) bool { return m.path == path })
}

// maskEvidence lists the masked files with the digest of the content that was shown.
func (b *builder) maskEvidence() (list []record.Mask) {
	for _, m := range b.masked {
		sum := sha256.Sum256([]byte(m.text))
		list = append(list, record.Mask{Path: m.path, With: m.fake, SHA256: hex.EncodeToString(sum[:])})
	}
	return list
}
