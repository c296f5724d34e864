package signing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/shorttest"
)

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.Symlink(target, name)); err != nil {
		t.Fatal(err)
	}
}

// TestGnuPGsFiles: what lies in a directory of GnuPG, and what its files name, is not
// the command's to change; configuration that is kept elsewhere, by links, is the
// person's.
func TestGnuPGsFiles(t *testing.T) {
	shorttest.Long(t)
	good := func(a *ada, t *testing.T) {
		gnupg := filepath.Join(a.home, ".gnupg")
		write(t, filepath.Join(a.home, "dotfiles/gpg.conf"), "# no\nno-greeting\nagent-program /usr/bin/env\nkeyserver hkps://keys.example.org\n", 0o600)
		link(t, "../dotfiles/gpg.conf", filepath.Join(gnupg, "gpg.conf"))
		link(t, filepath.Join(a.home, "missing"), filepath.Join(gnupg, "dirmngr.conf"))
		write(t, filepath.Join(gnupg, "gpg-agent.conf"), "pinentry-program /usr/bin/no-such-pinentry\nscdaemon-program env\nlog-file ~/gpg.log\n", 0o600)
		write(t, filepath.Join(gnupg, "S.gpg-agent"), "%Assuan%\nsocket=${HOME}/agent\n", 0o600)
		write(t, filepath.Join(gnupg, "private-keys-v1.d/A.key"), "x", 0o600)
	}
	for name, attack := range map[string]func(a *ada, gnupg string){
		"none": nil,
		"a file by a link": func(a *ada, gnupg string) {
			write(t, filepath.Join(a.work, "gpg.conf"), "no-greeting\n", 0o600)
			_ = os.Remove(filepath.Join(gnupg, "gpg.conf"))
			link(t, filepath.Join(a.work, "gpg.conf"), filepath.Join(gnupg, "gpg.conf"))
		},
		"a link to a link": func(a *ada, gnupg string) {
			link(t, "/dev/null", filepath.Join(a.work, "hop"))
			link(t, filepath.Join(a.work, "hop"), filepath.Join(gnupg, "common.conf"))
		},
		"a file that is not there yet": func(a *ada, gnupg string) {
			link(t, filepath.Join(a.work, "later"), filepath.Join(gnupg, "common.conf"))
		},
		"a directory of keys": func(a *ada, gnupg string) {
			_ = os.RemoveAll(filepath.Join(gnupg, "private-keys-v1.d"))
			link(t, a.work, filepath.Join(gnupg, "private-keys-v1.d"))
		},
		"a key": func(a *ada, gnupg string) {
			link(t, filepath.Join(a.work, "B.key"), filepath.Join(gnupg, "private-keys-v1.d/B.key"))
		},
		"a program": func(a *ada, gnupg string) {
			write(t, filepath.Join(gnupg, "gpg-agent.conf-2"), "--pinentry-program\t\""+a.work+"/pinentry\"\n", 0o600)
		},
		"a program by a link": func(a *ada, gnupg string) {
			link(t, filepath.Join(a.work, "agent"), filepath.Join(a.home, "agent"))
			write(t, filepath.Join(gnupg, "common.conf"), "agent-program ~/agent\n", 0o600)
		},
		"a program by its name": func(a *ada, gnupg string) {
			write(t, filepath.Join(a.work, "agent"), "#!/bin/sh\n", 0o755)
			link(t, filepath.Join(a.work, "agent"), filepath.Join(a.home, "bin/ethos-test-agent"))
			a.environ["PATH"] = filepath.Join(a.home, "bin") + ":" + a.environ["PATH"]
			write(t, filepath.Join(gnupg, "common.conf"), "agent-program ethos-test-agent\n", 0o600)
		},
		"a program's interpreter": func(a *ada, gnupg string) {
			write(t, filepath.Join(a.home, "agent"), "#!"+a.work+"/sh\n", 0o755)
			write(t, filepath.Join(a.work, "sh"), "", 0o755)
			write(t, filepath.Join(gnupg, "common.conf"), "agent-program "+a.home+"/agent\n", 0o600)
		},
		"a library": func(a *ada, gnupg string) {
			write(t, filepath.Join(gnupg, "scdaemon.conf"), "pcsc-driver "+a.work+"/x.so\n", 0o600)
		},
		"a socket": func(a *ada, gnupg string) {
			write(t, filepath.Join(gnupg, "S.gpg-agent"), "%Assuan%\nsocket="+a.work+"/agent\n", 0o600)
		},
	} {
		for _, place := range []string{"HOME", "GNUPGHOME", "XDG_RUNTIME_DIR"} {
			t.Run(name+" "+place, func(t *testing.T) {
				a := newAda(t, "")
				good(a, t)
				if err := a.find(t); err != nil {
					t.Fatal(err)
				}
				gnupg := filepath.Join(a.home, ".gnupg")
				if place != "HOME" {
					other := filepath.Join(a.home, "other", "gnupg")
					if err := errors.Join(os.MkdirAll(filepath.Dir(other), 0o700), os.Rename(gnupg, other), os.Rename(filepath.Join(a.home, "dotfiles"), filepath.Join(a.home, "other", "dotfiles"))); err != nil {
						t.Fatal(err)
					}
					gnupg, a.environ[place] = other, other
					if place == "XDG_RUNTIME_DIR" {
						a.environ[place] = filepath.Dir(other)
					}
				}
				if attack != nil {
					attack(a, gnupg)
				}
				request := a.request(a.commit(adaHerself, adaHerself))
				got := a.ask(t, request) // looked at again
				if (got.Refused == "") != (attack == nil) || attack != nil && !strings.Contains(got.Refused, "the command can change "+a.work) {
					t.Errorf("before a signature: %+v", got)
				}
				if err := a.find(t); (err == nil) != (attack == nil) {
					t.Errorf("before the start: %v", err)
				}
			})
		}
	}
}

// TestInterpreters: what a script is run by is the person's as well.
func TestInterpreters(t *testing.T) {
	a := newAda(t, "")
	bin := filepath.Join(a.home, "bin")
	a.environ["PATH"] = bin + ":" + a.environ["PATH"]
	write(t, filepath.Join(a.work, "python"), "#!/bin/sh\n", 0o755)
	link(t, filepath.Join(a.work, "python"), filepath.Join(bin, "venv-python"))
	link(t, "/usr/bin/env", filepath.Join(bin, "run"))
	write(t, filepath.Join(bin, "0"), "#!/bin/sh\n", 0o755)
	for i := range 6 {
		write(t, filepath.Join(bin, fmt.Sprint(i+1)), "#!"+filepath.Join(bin, fmt.Sprint(i))+"\n", 0o755)
	}
	for first, good := range map[string]bool{
		"#!/bin/sh":                            true,
		"#! /bin/sh -e":                        true,
		"#!/usr/bin/env sh":                    true,
		"#!/usr/bin/env -S sh -e":              true,
		"#!" + bin + "/2":                      true,
		"#!" + bin + "/5":                      false,
		"#!" + a.work + "/python":              false,
		"#!" + a.work + "/not-there-yet":       false,
		"#! \t" + bin + "/venv-python -I":      false,
		"#!/usr/bin/env venv-python":           false,
		"#!" + bin + "/run venv-python":        false,
		"#!/usr/bin/env -S venv-python -I":     false,
		"#!/usr/bin/env -S PATH=/tmp sh":       false,
		"#!/usr/bin/env -i sh":                 false,
		"#!/bin/sh " + a.work + "/python":      false,
		"#!python":                             false,
		"#!":                                   false,
		"#!/bin/sh" + strings.Repeat(" ", 300): false,
	} {
		program := filepath.Join(a.home, "sign")
		write(t, program, first+"\nexit 1\n", 0o755)
		write(t, filepath.Join(a.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n\tsigningKey = ~/key.pub\n[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n\tprogram = ~/sign\n", 0o644)
		if err := a.find(t); (err == nil) != good {
			t.Errorf("%.80q: %v", first, err)
		}
	}
}
