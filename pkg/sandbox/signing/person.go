package signing

import (
	"fmt"
	"path/filepath"
	"strings"

	"ethos/pkg/gitrepo"
)

// The formats of a signature, as gpg.format names them.
const (
	OpenPGP = "openpgp"
	SSH     = "ssh"
)

// Person is what a user's own git configuration says about signing.
type Person struct {
	Format  string
	Program string // as configured, or the default one
	Key     string // user.signingKey; "" means that gpg finds the key by the identity

	Author, Committer Identity // as git would set them there
}

// Read reads the git configuration that applies in a directory. It uses only the system's and the
// user's files, never the repository's, which a command can change. Of the conditions of includeIf
// only gitdir counts; a repository's remotes and branches do not select one of the user's keys.
// getenv reads the user's environment. writes reports whether the command can change a path: a
// user's file at such a path, or reached by a symbolic link there, is an error.
func Read(dir string, getenv func(string) string, writes func(string) bool) (Person, error) {
	options := gitrepo.FromEnviron(getenv)
	options.ByPlace = true
	repo, err := gitrepo.Open(dir, options)
	if repo == nil {
		return Person{}, err
	}
	p, file := Person{Format: OpenPGP}, ""
	var user Identity
	programs := map[string]string{OpenPGP: "gpg", SSH: "ssh-keygen"}
	for _, e := range repo.Config.Entries {
		if e.Scope != "system" && e.Scope != "global" {
			continue
		}
		if e.File != file {
			if _, err := settled(e.File, writes); err != nil {
				return p, fmt.Errorf("your git configuration: %w", err)
			}
			file = e.File
		}
		switch e.Key {
		case "gpg.format":
			p.Format = e.Value
		case "gpg.program", "gpg.openpgp.program":
			programs[OpenPGP] = e.Value
		case "gpg.ssh.program":
			programs[SSH] = e.Value
		case "user.signingkey":
			p.Key = e.Value
		case "user.name":
			user.Name = e.Value
		case "user.email":
			user.Email = e.Value
		case "author.name":
			p.Author.Name = e.Value
		case "author.email":
			p.Author.Email = e.Value
		case "committer.name":
			p.Committer.Name = e.Value
		case "committer.email":
			p.Committer.Email = e.Value
		}
	}
	p.Author, p.Committer = p.Author.or(user), p.Committer.or(user)
	p.Program = home(programs[p.Format], getenv)
	if p.Format == SSH && !literal(p.Key) {
		p.Key = home(p.Key, getenv)
	}
	return p, p.check()
}

// check says why nothing at all can be signed.
func (p *Person) check() error {
	switch {
	case p.Format != OpenPGP && p.Format != SSH:
		return fmt.Errorf("gpg.format of your git configuration is %q; only openpgp and ssh are supported", p.Format)
	case p.Author.Name == "" || p.Author.Email == "" || p.Committer.Name == "" || p.Committer.Email == "":
		return fmt.Errorf("your git configuration names no author; that of a repository does not count: git config --global user.name NAME, and user.email")
	case p.Format == SSH && p.Key == "":
		return fmt.Errorf("your git configuration names no key; that of a repository does not count: git config --global user.signingKey FILE")
	case p.Format == SSH && !literal(p.Key) && !filepath.IsAbs(p.Key):
		return fmt.Errorf("user.signingKey of your git configuration, %q, is not the absolute path of a key", p.Key)
	}
	return nil
}

// literal reports whether a key is written into the configuration itself: gpg-interface.c,
// is_literal_ssh_key.
func literal(key string) bool {
	return strings.HasPrefix(key, "key::") || strings.HasPrefix(key, "ssh-")
}

// home expands a leading "~/".
func home(path string, getenv func(string) string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(getenv("HOME"), rest)
	}
	return path
}

// Judge says why an object must not be signed, or returns nil if it may be. With anybody, a commit
// may have another author, as long as the user is its committer.
func (p *Person) Judge(o *Object, anybody bool) error {
	if !p.Committer.is(o.Committer) {
		return stranger("it is committed", o.Committer, p.Committer)
	}
	if o.Kind == Commit && !anybody && !p.Author.is(o.Author) {
		return stranger("it is written", o.Author, p.Author)
	}
	return nil
}

// Stranger is the error for an object of another person.
type Stranger struct{ text string }

func (s *Stranger) Error() string { return s.text }

func stranger(how string, is, want Identity) error {
	return &Stranger{fmt.Sprintf("%s by %.300q, but your own git configuration names %q", how, is.String(), want.String())}
}

// or fills in missing fields from other.
func (i Identity) or(other Identity) Identity {
	if i.Name == "" {
		i.Name = other.Name
	}
	if i.Email == "" {
		i.Email = other.Email
	}
	return i
}

// is reports whether git would write this identity as written: ident.c, strbuf_addstr_without_crud,
// which also strips a "." at both ends until git 2.44.
func (i Identity) is(written Identity) bool {
	for _, crud := range []string{`,:;<>"\'`, `.,:;<>"\'`} {
		if written == (Identity{clean(i.Name, crud), clean(i.Email, crud)}) {
			return true
		}
	}
	return false
}

// clean removes what git removes: at both ends the characters that are not part of a name, and
// everywhere those that would end one.
func clean(s, crud string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune(crud, r) })
	return strings.NewReplacer("\n", "", "<", "", ">", "").Replace(s)
}
