package gitrepo

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/shorttest"
)

// everything asks for all that a command can throw away.
var everything = Question{Modified: true, Staged: true, Untracked: true, Dirs: true,
	Ignored: func(name string) bool { return path.Base(name) == ".env" }}

// worked makes a repository with files in several directories, an ignored one among them.
func worked(s sandbox, init ...string) {
	s.git("", append(append([]string{"init", "-q"}, init...), "r")...)
	s.write("r/.gitignore", "*.log\n/out/\n!keep.log\n.env\n")
	s.write("r/a.txt", strings.Repeat("a line of the file\n", 200))
	s.write("r/dir/b.txt", "b\n")
	s.write("r/dir/deep/c.txt", "c\n")
	s.git("r", "add", ".")
	s.git("r", "commit", "-qm", "first")
}

func TestUncommitted(t *testing.T) {
	pass := func(s sandbox) {}
	for name, c := range shorttest.SampleMap(map[string]struct {
		change func(s sandbox)
		ask    Question
		want   []string
	}{
		"clean":            {pass, everything, nil},
		"modified":         {func(s sandbox) { s.write("r/a.txt", "other\n") }, everything, []string{WorkModified}},
		"same size":        {func(s sandbox) { s.write("r/dir/b.txt", "x\n") }, everything, []string{WorkModified}},
		"written the same": {func(s sandbox) { s.write("r/dir/b.txt", "b\n") }, everything, nil},
		"other line ends":  {func(s sandbox) { s.write("r/dir/b.txt", "b\r\n") }, everything, nil},
		"removed":          {func(s sandbox) { _ = os.Remove(s.path("r/dir/b.txt")) }, everything, nil},
		"staged":           {func(s sandbox) { s.write("r/a.txt", "x\n"); s.git("r", "add", "a.txt") }, everything, []string{WorkStaged}},
		"staged new":       {func(s sandbox) { s.write("r/dir/n", "x\n"); s.git("r", "add", ".") }, everything, []string{WorkStaged}},
		"staged back": {func(s sandbox) {
			s.write("r/n", "x\n")
			s.git("r", "add", ".")
			s.git("r", "rm", "-q", "--cached", "n")
			_ = os.Remove(s.path("r/n"))
		}, everything, nil},
		"staged removal":   {func(s sandbox) { s.git("r", "rm", "-q", "a.txt") }, everything, nil},
		"intent to add":    {func(s sandbox) { s.write("r/n", "x\n"); s.git("r", "add", "-N", "n") }, Question{Modified: true}, []string{WorkModified}},
		"untracked":        {func(s sandbox) { s.write("r/new/n", "x\n") }, everything, []string{WorkUntracked}},
		"untracked, no -d": {func(s sandbox) { s.write("r/new/n", "x\n") }, Question{Untracked: true}, nil},
		"untracked, tidy":  {func(s sandbox) { s.write("r/dir/n", "x\n") }, Question{Untracked: true}, []string{WorkUntracked}},
		"excepted":         {func(s sandbox) { s.write("r/n.tmp", "x\n") }, Question{Untracked: true, Except: []string{"*.tmp"}}, nil},
		"ignored":          {func(s sandbox) { s.write("r/x.log", "x\n"); s.write("r/out/n", "x\n") }, everything, nil},
		"ignored, secret":  {func(s sandbox) { s.write("r/.env", "A=b\n") }, everything, []string{WorkIgnored}},
		"not ignored":      {func(s sandbox) { s.write("r/keep.log", "x\n") }, everything, []string{WorkUntracked}},
		"info/exclude":     {func(s sandbox) { s.write("r/.git/info/exclude", "n\n"); s.write("r/n", "x\n") }, everything, nil},
		"core.excludesFile": {func(s sandbox) {
			s.write("ign", "n\n")
			s.git("r", "config", "core.excludesFile", "~/ign")
			s.write("r/n", "x\n")
		}, everything, nil},
		"user's ignore":     {func(s sandbox) { s.write(".config/git/ignore", "n\n"); s.write("r/n", "x\n") }, everything, nil},
		"nested repository": {func(s sandbox) { s.git("r", "init", "-q", "sub"); s.write("r/sub/n", "x\n") }, everything, nil},
		"and -ff":           {func(s sandbox) { s.git("r", "init", "-q", "sub"); s.write("r/sub/n", "x\n") }, Question{Untracked: true, Dirs: true, Nested: true}, []string{WorkUntracked}},
		"another path":      {func(s sandbox) { s.write("r/a.txt", "x\n") }, Question{Modified: true, Paths: []string{"dir"}}, nil},
		"this path":         {func(s sandbox) { s.write("r/dir/deep/c.txt", "x\n") }, Question{Modified: true, Paths: []string{"dir"}}, []string{WorkModified}},
		"a glob":            {func(s sandbox) { s.write("r/dir/deep/c.txt", "x\n") }, Question{Modified: true, Paths: []string{"*.txt"}}, []string{WorkModified}},
		"another glob":      {func(s sandbox) { s.write("r/dir/deep/c.txt", "x\n") }, Question{Modified: true, Paths: []string{"*.go"}}, nil},
		"magic":             {func(s sandbox) { s.write("r/a.txt", "x\n") }, Question{Modified: true, Paths: []string{":(top)dir"}}, []string{WorkModified}},
		"packed":            {func(s sandbox) { s.git("r", "gc", "-q"); s.git("r", "reset", "-q", "--soft", "HEAD") }, everything, nil},
		"a link":            {func(s sandbox) { _ = os.Remove(s.path("r/a.txt")); _ = os.Symlink("x", s.path("r/a.txt")) }, everything, []string{WorkModified}},
		"conflict": {func(s sandbox) {
			s.git("r", "switch", "-qc", "other")
			s.write("r/dir/b.txt", "1\n")
			s.git("r", "commit", "-qam", "1")
			s.git("r", "switch", "-q", "main")
			s.write("r/dir/b.txt", "2\n")
			s.git("r", "commit", "-qam", "2")
			_, _ = s.try("r", "merge", "other")
		}, Question{Modified: true}, []string{WorkModified}},
		"soft reset": {func(s sandbox) {
			s.write("r/dir/b.txt", "1\n")
			s.git("r", "commit", "-qam", "1")
			s.git("r", "reset", "-q", "--soft", "HEAD~1")
		}, everything, []string{WorkStaged}},
		"deltas": {func(s sandbox) {
			for i := range 12 {
				s.write("r/a.txt", strings.Repeat("a line of the file\n", 200+i))
				s.write("r/dir/f"+strings.Repeat("x", i), "x\n")
				s.git("r", "add", ".")
				s.git("r", "commit", "-qm", "more")
			}
			s.git("r", "gc", "-q", "--aggressive")
			s.git("r", "update-index", "--index-version", "4")
			s.write("r/dir/n", "x\n")
			s.git("r", "add", ".")
		}, everything, []string{WorkStaged}},
	}, 6) {
		formats := []string{"sha1"}
		if name == "deltas" || name == "staged" || name == "same size" {
			formats = append(formats, "sha256")
		}
		for _, format := range formats {
			t.Run(name+" "+format, func(t *testing.T) {
				s := newSandbox(t)
				worked(s, "--object-format="+format)
				c.change(s)
				ask := c.ask
				ask.Dir = s.path("r")
				got, err := s.open("r").Uncommitted(ask, s.options())
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("%q, %v; want %q; git status:\n%s", got, err, c.want, s.git("r", "status", "--short"))
				}
			})
		}
	}
}

// TestUncommittedTouched has a file of the right size and content, or of the wrong one, under the times of the index.
func TestUncommittedTouched(t *testing.T) {
	s := newSandbox(t)
	worked(s)
	info, err := os.Stat(s.path("r/dir/b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s.write("r/dir/b.txt", "x\n")
	if err := os.Chtimes(s.path("r/dir/b.txt"), time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	got, err := s.open("r").Uncommitted(everything, s.options())
	if err != nil || !slices.Equal(got, []string{WorkModified}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestUncommittedRunsNothing has a repository that makes git run programs whenever it looks at its work tree.
func TestUncommittedRunsNothing(t *testing.T) {
	s := newSandbox(t)
	worked(s)
	plant := "touch " + s.path("ran")
	s.write("r/.gitattributes", "* filter=x\n")
	for _, key := range []string{"filter.x.clean", "filter.x.smudge", "filter.x.process", "core.fsmonitor", "diff.external", "core.pager", "core.sshCommand"} {
		s.write("r/.git/config", readText(t, s.path("r/.git/config"))+"["+strings.ReplaceAll(key[:strings.LastIndex(key, ".")], ".", " \"")+
			map[bool]string{true: "\"", false: ""}[strings.Count(key, ".") > 1]+"]\n\t"+key[strings.LastIndex(key, ".")+1:]+" = "+plant+"\n")
	}
	s.write("r/dir/b.txt", "x\n")
	got, err := s.open("r").Uncommitted(everything, s.options())
	if err != nil || !slices.Contains(got, WorkModified) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Stat(s.path("ran")); err == nil {
		t.Error("a program of the repository ran")
	}
	_, _ = s.try("r", "status")
	if _, err := os.Stat(s.path("ran")); err != nil {
		t.Error("the test proves nothing: git runs none of the programs either")
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestUncommittedUnreadable says that it cannot tell, and not that nothing is there.
func TestUncommittedUnreadable(t *testing.T) {
	for name, damage := range map[string]func(s sandbox){
		"split index": func(s sandbox) { s.git("r", "update-index", "--split-index") },
		"no index":    func(s sandbox) { s.write("r/.git/index", "DIRCrubbish") },
		"missing objects": func(s sandbox) {
			_ = os.RemoveAll(s.path("r/.git/objects"))
			_ = os.Mkdir(s.path("r/.git/objects"), 0o755)
		},
		"bomb": func(s sandbox) {
			commit := strings.TrimSpace(s.git("r", "rev-parse", "HEAD"))
			name := s.path("r/.git/objects/" + commit[:2] + "/" + commit[2:])
			_ = os.Remove(name)
			_ = os.WriteFile(name, []byte("\x78\x9cnot deflated"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			worked(s)
			damage(s)
			if got, err := s.open("r").Uncommitted(everything, s.options()); err == nil {
				t.Errorf("%q and no error", got)
			}
		})
	}
}

func TestUnmerged(t *testing.T) {
	commit := func(s sandbox, branch string) {
		s.git("r", "switch", "-qc", branch)
		s.write("r/"+branch, "x\n")
		s.git("r", "add", ".")
		s.git("r", "commit", "-qm", branch)
		s.git("r", "switch", "-q", "main")
	}
	for name, c := range shorttest.SampleMap(map[string]struct {
		change   func(s sandbox)
		branches []string
		want     bool
	}{
		"the same commit": {func(s sandbox) { s.git("r", "branch", "topic") }, []string{"topic"}, false},
		"no such branch":  {func(s sandbox) {}, []string{"topic"}, false},
		"its own commit":  {func(s sandbox) { commit(s, "topic") }, []string{"topic"}, true},
		"merged":          {func(s sandbox) { commit(s, "topic"); s.git("r", "merge", "-q", "--no-ff", "-m", "m", "topic") }, []string{"topic"}, false},
		"merged, packed":  {func(s sandbox) { commit(s, "topic"); s.git("r", "merge", "-q", "topic"); s.git("r", "gc", "-q") }, []string{"topic"}, false},
		"tagged":          {func(s sandbox) { commit(s, "topic"); s.git("r", "tag", "-am", "x", "v1", "topic") }, []string{"topic"}, false},
		"pushed":          {func(s sandbox) { commit(s, "topic"); s.git("r", "update-ref", "refs/remotes/origin/topic", "topic") }, []string{"topic"}, false},
		"a copy":          {func(s sandbox) { commit(s, "topic"); s.git("r", "branch", "copy", "topic") }, []string{"topic"}, false},
		"copy and all":    {func(s sandbox) { commit(s, "topic"); s.git("r", "branch", "copy", "topic") }, []string{"topic", "copy"}, true},
		"only in a stash": {func(s sandbox) { commit(s, "topic"); s.git("r", "update-ref", "refs/stash", "topic") }, []string{"topic"}, true},
	}, 6) {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			worked(s)
			c.change(s)
			if got, err := s.open("r").Unmerged(c.branches); err != nil || got != c.want {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestHasStash(t *testing.T) {
	s := newSandbox(t)
	worked(s)
	if has, err := s.open("r").HasStash(); has || err != nil {
		t.Error(has, err)
	}
	s.write("r/a.txt", "x\n")
	s.git("r", "stash", "-q")
	if has, err := s.open("r").HasStash(); !has || err != nil {
		t.Error(has, err)
	}
}

// TestAlternates has the commit in another repository's objects.
func TestAlternates(t *testing.T) {
	s := newSandbox(t)
	worked(s)
	s.git("", "clone", "-q", "--shared", "r", "other")
	s.write("other/dir/b.txt", "x\n")
	s.git("other", "add", ".")
	if got, err := s.open("other").Uncommitted(everything, s.options()); err != nil || !slices.Equal(got, []string{WorkStaged}) {
		t.Errorf("%q, %v", got, err)
	}
}
