package signing

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/gitrepo"
)

// The formats of a signature, as gpg.format names them.
const (
	OpenPGP = "openpgp"
	SSH     = "ssh"
)

// Person is what a person's own configuration of git says of signing.
type Person struct {
	Format  string
	Program string // as it is configured, or the usual one
	Key     string // user.signingKey; "" is the one that gpg finds by the identity
	Names   []string
	Emails  []string
}

// Read reads the configuration of git that counts in a directory, and takes of it
// what the system's and the user's files say: never what the repository's do, which
// a command can change. getenv reads the person's environment. writes reports a path
// that the command can change: a file of the person's there, or that is reached by a
// link there, is an error.
func Read(dir string, getenv func(string) string, writes func(string) bool) (Person, error) {
	repo, err := gitrepo.Open(dir, gitrepo.FromEnviron(getenv))
	if repo == nil {
		return Person{}, err
	}
	p, file := Person{Format: OpenPGP}, ""
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
		case "user.name", "author.name", "committer.name":
			p.Names = append(p.Names, e.Value)
		case "user.email", "author.email", "committer.email":
			p.Emails = append(p.Emails, e.Value)
		}
	}
	p.Program = home(programs[p.Format], getenv)
	if p.Format == SSH && !literal(p.Key) {
		p.Key = home(p.Key, getenv)
	}
	return p, p.check()
}

// check says what keeps everything from being signed.
func (p *Person) check() error {
	switch {
	case p.Format != OpenPGP && p.Format != SSH:
		return fmt.Errorf("gpg.format of your git configuration is %q; openpgp and ssh are signed", p.Format)
	case len(p.Names) == 0 || len(p.Emails) == 0:
		return fmt.Errorf("your git configuration names no author; what a repository's says does not count: git config --global user.name NAME, and user.email")
	case p.Format == SSH && p.Key == "":
		return fmt.Errorf("your git configuration names no key; what a repository's says does not count: git config --global user.signingKey FILE")
	case p.Format == SSH && !literal(p.Key) && !filepath.IsAbs(p.Key):
		return fmt.Errorf("user.signingKey of your git configuration, %q, is no absolute path of a key", p.Key)
	}
	return nil
}

// literal reports a key that is written into the configuration: gpg-interface.c,
// is_literal_ssh_key.
func literal(key string) bool {
	return strings.HasPrefix(key, "key::") || strings.HasPrefix(key, "ssh-")
}

// home expands a "~/" at the beginning.
func home(path string, getenv func(string) string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(getenv("HOME"), rest)
	}
	return path
}

// Judge says why an object is not to be signed, nil when it is. With anybody, others
// than the person may have written a commit that the person commits.
func (p *Person) Judge(o *Object, anybody bool) error {
	if !p.is(o.Committer) {
		return p.stranger("it is committed", o.Committer)
	}
	if o.Kind == Commit && !anybody && !p.is(o.Author) {
		return p.stranger("it is written", o.Author)
	}
	return nil
}

func (p *Person) is(i Identity) bool {
	return slices.Contains(p.Names, i.Name) && slices.Contains(p.Emails, i.Email)
}

// Stranger is an object of somebody else.
type Stranger struct{ text string }

func (s *Stranger) Error() string { return s.text }

func (p *Person) stranger(how string, i Identity) error {
	return &Stranger{fmt.Sprintf("%s by %q, and your own configuration of git names %q", how, i.String(), Identity{p.Names[len(p.Names)-1], p.Emails[len(p.Emails)-1]}.String())}
}
