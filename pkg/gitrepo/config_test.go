package gitrepo

import (
	"strings"
	"testing"
)

// configTexts are configuration files whose reading must be git's.
var configTexts = []string{
	"",
	"[a]\n\tb = c\n",
	"\ufeff[a]\nb=c\n",
	"[a] b = c\n",
	"[A]\nBcD = e\n",
	"[a \"Sub.Section\"]\nb = c\n",
	"[a \"q\\\"u\\\\o\\te\"]\nb = c\n",
	"[a.Old.Style]\nb = c\n",
	"[a]\nb\n",
	"[a]\nb=\n",
	"[a]\nb = \n",
	"[a]\nb = \"x y\" z \"w  \"  \n",
	"[a]\nb = x   # comment\n",
	"[a]\nb = \"x # y\" ; comment\n",
	"[a]\nb = x\\\n  y\n",
	"[a]\nb = x\\ty\\nz\\\\ \\\"q\\\"\n",
	"[a]\nb = x\\\"y\n",
	"[a]\r\nb = c\r\n",
	"[a]\nb = c",
	"# comment\n; other\n[a]\n# x\nb = c\n",
	"[a]\nb = 1\nb = 2\n[a]\nb = 3\n",
	"[a-b.c]\nd-e = f\n",
	"[a]\nb = -1\n[c]d=e\n",
	"[a]\nb=x;y\n",
	"[a]\nb = \"\"\n",
	"[a]\nb = \"a\"\"b\"\n",
	"[a \"\"]\nb = c\n",
	"[a]\n  b   =   c d  \n",
	// errors
	"[a\nb = c\n",
	"[a \"b]\nc = d\n",
	"[a b]\nc = d\n",
	"[a]\nb = \"c\n",
	"[a]\nb = \\x\n",
	"[a]\n1b = c\n",
	"[a]\nb c\n",
	"[a]\nb_c = d\n",
	"[a \"b\" ]\nc = d\n",
	"nonsense\n",
	"[a_b]\nc = d\n",
	"b = c\n",
	"=\n",
}

func TestConfigAgreesWithGit(t *testing.T) {
	s := newSandbox(t)
	for _, text := range configTexts {
		s.write("file", text)
		out, err := s.try("", "config", "-f", "file", "--list", "-z")
		want := out
		if err != nil {
			want = "error"
		}
		got := ""
		if err := ParseConfig("file", []byte(text), func(e Entry) error {
			got += e.Key
			if !e.Bare {
				got += "\n" + e.Value
			}
			got += "\x00"
			return nil
		}); err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q\n  read %q\n  git  %q", text, got, want)
		}
	}
}

func TestIncludesAgreeWithGit(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	s.write("r/.git/config", strings.Join([]string{
		"[core]", "repositoryformatversion = 0", "bare = false",
		"[include]", "path = more", "path = ~/home.inc", "path = missing",
		"[includeIf \"gitdir:r/\"]", "path = byname",
		"[includeIf \"gitdir:~/r/.git\"]", "path = byhome",
		"[includeIf \"gitdir/i:~/R/.GIT\"]", "path = byfold",
		"[includeIf \"gitdir:~/other/\"]", "path = never",
		"[includeIf \"gitdir:./\"]", "path = bydot",
		"[includeIf \"onbranch:ma*\"]", "path = bybranch",
		"[includeIf \"onbranch:x/\"]", "path = never",
		"[includeIf \"hasconfig:remote.*.url:https://example.org/**\"]", "path = byurl",
		"[remote \"origin\"]", "url = https://example.org/a/b.git",
		"[a]", "last = 1", ""}, "\n"))
	for _, name := range []string{"more", "byname", "byhome", "byfold", "never", "bydot", "bybranch", "byurl"} {
		s.write("r/.git/"+name, "[from]\n\tfile = "+name+"\n")
	}
	s.write("home.inc", "[from]\n\tfile = home\n[alias]\n\tco = checkout\n")
	r := s.open("r")
	var got []string
	for _, e := range r.Config.Entries {
		got = append(got, e.Key+"="+e.Value)
	}
	if want := lines(s.git("r", "config", "--list")); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("read %q\ngit  %q", got, want)
	}
	if r.Record.Aliases["co"] != "checkout" {
		t.Errorf("aliases %q", r.Record.Aliases)
	}
}

func TestWorktreeConfig(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	s.git("r", "config", "extensions.worktreeConfig", "true")
	s.git("r", "config", "--worktree", "alias.wt", "status")
	if r := s.agree("r"); r.Record.Aliases["wt"] != "status" {
		t.Errorf("aliases %q", r.Record.Aliases)
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, text := range configTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		_ = ParseConfig("file", []byte(text), func(e Entry) error {
			if n++; n > len(text) {
				t.Fatal("more entries than bytes")
			}
			if e.Key == "" {
				t.Fatal("an entry without a key")
			}
			return nil
		})
	})
}
