package gitsettings

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

const base = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
	"[remote \"other\"]\n\turl = ../other.git\n[submodule \"sub\"]\n\turl = ../sub.git\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tsigningKey = mine\n"

// TestTakenOver has what is refused, each with a twin that is taken over. A line
// is what a command adds to the configuration, and the word before it what comes
// of that.
func TestTakenOver(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(`
taken	remote "up" | url = https://example.org/b.git
runs?	remote "up" | url = ext::sh -c touch% x
value	remote "up" | url = --upload-pack=touch
value	remote "up" | url = ssh://-oProxyCommand=x/y
value	remote "up" | url = "a b"
taken	remote "up" | url = ../b.git
taken	remote "up" | url = git@example.org:a/b.git
value	remote "-up" | url = https://example.org/b.git
value	remote "https://example.org/a.git" | url = https://example.com/b.git
value	remote "../b" | url = https://example.com/b.git
runs	remote "up" | uploadpack = touch x
runs	remote "up" | receivepack = touch x
runs	remote "up" | vcs = ext
decides	remote "up" | proxy = http://example.com
decides	remote "up" | mirror = true
decides	remote "up" | push = refs/heads/*:refs/heads/*
taken	remote "up" | fetch = +refs/heads/*:refs/remotes/up/*
value	remote "up" | fetch = +refs/heads/*:refs/heads/*
value	remote "up" | fetch = +refs/*:refs/*
value	remote "up" | fetch = refs/heads/x:refs/remotes/up/../../heads/main
yours	remote "origin" | url = https://example.com/b.git
yours	remote "origin" | pushurl = https://example.com/b.git
yours	remote "origin" | fetch = refs/heads/x:refs/remotes/origin/x
decides	remote | pushDefault = up
taken	branch "main" | rebase = true
yours	branch "main" | remote = other
yours	branch "main" | remote = .
yours	branch "main" | merge = refs/heads/other
taken	branch "main" | pushRemote = origin
upstream	branch "main" | pushRemote = other
upstream	branch "topic" | remote = other
upstream	branch "topic" | remote = nowhere
upstream	branch "topic" | pushRemote = other
taken	branch "topic" | remote = .
taken	branch "topic" | remote = origin
taken	branch "topic" | github-pr-owner-number = owner#name#1
decides	push | default = matching
decides	push | autoSetupRemote = true
yours	submodule "sub" | url = https://example.org/other.git
value	branch "topic" | remote = https://example.com/b.git
value	branch "topic" | remote = ext::sh
taken	branch "topic" | merge = refs/heads/main
value	branch "topic" | merge = ../x
taken	branch "topic" | description = what it is for
taken	branch "topic" | pushRemote = origin
runs	branch "topic" | mergeOptions = --strategy=touch
runs	include | path = ../evil
runs	includeIf "gitdir:/" | path = ../evil
runs	alias | st = !touch x
decides	alias | st = status
runs	core | fsmonitor = ./x
decides	core | fsmonitor = true
runs	core | hooksPath = .githooks
runs	core | sshCommand = ./x
runs	core | editor = ./x
runs	core | pager = ./x
runs	core | askPass = ./x
runs	core | gitProxy = ./x
decides	core | worktree = /
decides	core | bare = true
decides	core | excludesFile = /etc/passwd
decides	core | attributesFile = x
taken	core | quotePath = false
taken	core | autocrlf = input
value	core | autocrlf = ../x
taken	core | sparseCheckout = true
taken	core | sparseCheckoutCone = true
taken	extensions | worktreeConfig = true
value	extensions | worktreeConfig = false
decides	extensions | partialClone = up
decides	core | repositoryFormatVersion = 1
runs	credential | helper = !touch x
decides	credential | username = x
runs	credential "https://example.org" | helper = ./x
runs	filter "x" | clean = ./x
runs	filter "lfs" | process = git-lfs filter-process
runs	diff "x" | command = ./x
runs	diff "x" | textconv = ./x
runs	diff | external = ./x
runs	merge "x" | driver = ./x
runs	gpg | program = ./x
runs	gpg "ssh" | program = ./x
runs	gpg "ssh" | defaultKeyCommand = ./x
decides	commit | gpgSign = false
decides	user | signingKey = other
decides	url "https://example.com/" | insteadOf = https://example.org/
decides	http | proxy = http://example.com
decides	http | sslVerify = false
runs	protocol "ext" | allow = always
runs	uploadpack | packObjectsHook = ./x
runs	sequence | editor = ./x
runs	pager | log = ./x
runs	interactive | diffFilter = ./x
runs	difftool "x" | cmd = ./x
runs	mergetool "x" | path = ./x
runs	man "x" | cmd = ./x
runs	browser "x" | path = ./x
runs	trailer "x" | cmd = ./x
runs	tar "x" | command = ./x
decides	receive | denyCurrentBranch = ignore
decides	gc | pruneExpire = now
decides	transfer | fsckObjects = false
decides	status | showUntrackedFiles = no
taken	status | short = true
taken	color | ui = always
decides	color "x" | y = z
taken	submodule "lib" | url = https://example.org/lib.git
taken	submodule "libs/x" | active = true
value	submodule "../../x" | url = https://example.org/lib.git
value	submodule "lib" | url = ext::sh
value	submodule "lib" | update = !touch x
taken	submodule "lib" | update = rebase
decides	submodule "lib" | ignore = all
taken	user | name = A B
author	user | name = A B
taken	user | email = a@example.org
value	user | name = "a\nb"
decides	author | name = A
decides	safe | directory = *
runs	init | templateDir = x
taken	init | defaultBranch = trunk
decides	unheard | of = x
decides	unheard "of" | x = y
`), "\n") {
		want, rest, _ := strings.Cut(line, "\t")
		section, variable, _ := strings.Cut(rest, " | ")
		s, err := New([]byte(base), About{Identified: want == "author"})
		if err != nil {
			t.Fatal(err)
		}
		made := base + "[" + section + "]\n\t" + variable + "\n"
		c, err := s.Compare([]byte(made), []byte(base))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got := "taken"
		if c.Text == nil && len(c.Refused) == 1 {
			got = map[string]string{whyRuns: "runs", whyDecides: "decides", whyValue: "value", whyYours: "yours", whyIdentity: "author", whyUpstream: "upstream"}[c.Refused[0].Why]
		}
		if (want == "runs" || want == "runs?") && got != "taken" { // what it is refused for is less than that it is
			continue
		}
		if got != want || got == "taken" && c.Text == nil {
			t.Errorf("%s: %s %+v\n%s", line, got, c.Refused, c.Text)
		}
	}
}

// TestSections: what commands of git do to several settings at once, and what
// comes of it.
func TestSections(t *testing.T) {
	up := "[remote \"up\"]\n\turl = ../b.git\n\tfetch = +refs/heads/*:refs/remotes/up/*\n"
	for _, c := range []struct{ name, made, now, want string }{
		{"remote add", base + up, base, base + up},
		{"half of a remote is none", base + up + "\tuploadpack = touch\n", base, ""},
		{"branch -d", base[:strings.Index(base, "[branch")] + "[user]\n\tsigningKey = mine\n", base, base[:strings.Index(base, "[branch")] + "[user]\n\tsigningKey = mine\n"},
		{"remote remove", strings.Replace(base, "https://example.org/a.git", "x", 1), base, ""},
		{"what changed outside stays", base + up, base + "[user]\n\tname = B\n", base + "[user]\n\tname = B\n" + up},
		{"the same outside", base + up, base + "[remote \"up\"]\n\turl = ../c.git\n", ""},
		{"nothing", base, base, ""},
		{"another order is nothing", up + base, up + base, ""},
	} {
		before := base
		if c.name == "another order is nothing" {
			before = base + up
		}
		s, _ := New([]byte(before), About{})
		got, err := s.Compare([]byte(c.made), []byte(c.now))
		if err != nil || string(got.Text) != c.want {
			t.Errorf("%s: %v %+v\n%s", c.name, err, got.Refused, got.Text)
		}
	}
	s, _ := New([]byte(base), About{Worktree: true})
	if c, err := s.Compare([]byte(base+up), []byte(base)); err != nil || c.Text != nil || len(c.Refused) != 2 {
		t.Errorf("a remote of one work tree: %v %+v", err, c)
	}
	for _, made := range []string{"", "[color]\n\tui = always\n", "[core", "[a]\nb = \"c\n", strings.Repeat("[a \"x\"]\n", 3) + "\x00"} {
		s, _ := New([]byte(base), About{})
		if c, err := s.Compare([]byte(made), []byte(base)); err == nil || c.Text != nil {
			t.Errorf("%q: %+v", made, c)
		}
		if _, err := s.Compare([]byte(made), []byte(base)); err != nil {
			t.Errorf("%q is told twice: %v", made, err)
		}
	}
}

// TestSession: a later command of a session takes away what an earlier one added,
// and nothing else; what was refused is told once.
func TestSession(t *testing.T) {
	s, _ := New([]byte(base), About{})
	up := "[remote \"up\"]\n\turl = ../b.git\n"
	now := base
	compare := func(made string) Comparison {
		t.Helper()
		c, err := s.Compare([]byte(made), []byte(now))
		if err != nil {
			t.Fatal(err)
		}
		if c.Text != nil {
			now = string(c.Text)
			s.Done(c)
		}
		return c
	}
	if compare(base + up); now != base+up {
		t.Fatalf("added:\n%s", now)
	}
	if c := compare(base + up + "[core]\n\tpager = x\n"); len(c.Refused) != 1 {
		t.Errorf("refused: %+v", c)
	}
	if c := compare(base + "[core]\n\tpager = x\n"); len(c.Refused) != 0 || now != base {
		t.Errorf("taken away: %+v\n%s", c, now)
	}
	if c := compare(strings.Replace(base, "a.git", "b.git", 1)); len(c.Refused) != 1 || now != base {
		t.Errorf("another's remote: %+v\n%s", c, now)
	}
}

// hostile are pieces of a copy that two programs could read in two ways.
var hostile = []string{
	"[remote \"up\"]\n", "\turl = ../b\n", "\turl = a\\\n\tb\n", "\turl = \"x\ty\"\n", "\turl = x # y\n", "[branch \"x\\\ny\"]\n", "[branch \"a\\\"b\"] ", "[branch.Main]\n",
	"\tremote = up\n", "\tmerge = \"refs/heads/a\\n[core]\\n\\tpager = ./x\"\n", "\tmerge = refs/heads/[core]\n", "\tdescription = \"] [core] pager=x\\\\\"\n", "[core]\n",
	"\tpager = ./x\n", "\tquotePath\n", "\tquotePath = no\r\n", "[include]\n", "\tpath = x\n", "\r\n", "\x00", "\ufeff", "[core]quotePath=off [core]\n", "\tdescription = é\u2028x\n",
	"[branch \"b]\"]\n", "\tdescription = \\\n[core]\n", "\tdescription = 'a;b'\n", "[submodule \"a/b\"]\n", "\tactive\n", "#\\\n", "\\\n", "[USER]\n", "\tname = \"x \"\n",
}

// TestNothingElseIsWritten: whatever the copy looks like, git reads in the text
// that is written what stood there, and what the rules let pass.
func TestNothingElseIsWritten(t *testing.T) {
	probetest.Need(t, "command:git")
	dir := t.TempDir()
	list := func(text []byte) map[string][]string {
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "config", "--no-includes", "-z", "--list", "-f", file)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git cannot read %q: %v", text, err)
		}
		values := map[string][]string{}
		for entry := range bytes.SplitSeq(out, []byte{0}) {
			key, value, has := strings.Cut(string(entry), "\n")
			if key != "" && !has {
				value = "true"
			}
			values[key] = append(values[key], value)
		}
		return values
	}
	before := list([]byte(base))
	random := rand.New(rand.NewPCG(7, 1))
	written := 0
	for range 1500 {
		made := base
		for range 1 + random.IntN(7) {
			made += hostile[random.IntN(len(hostile))]
		}
		s, _ := New([]byte(base), About{})
		c, err := s.Compare([]byte(made), []byte(base))
		if err != nil || c.Text == nil {
			continue
		}
		if written++; written > 40 {
			break
		}
		for key, values := range list(c.Text) {
			if slices.Equal(values, before[key]) {
				continue
			}
			if why := judge(key, before[key], values, !has(before, group(key)), before, About{}); why != "" || !slices.Contains(c.Keys, key) {
				t.Errorf("%q became %q: git reads %s = %q: %s", made, c.Text, key, values, why)
			}
		}
	}
	if written < 40 {
		t.Errorf("%d texts were written", written)
	}
}
