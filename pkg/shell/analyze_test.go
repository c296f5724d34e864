package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/gitargs"
	"ethos/pkg/record"
)

// TestPositions: the line and column of each command, in the outermost script, however deep the code stands.
func TestPositions(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"rm x", "rm 1:1"},
		{"\n  rm x\n\tls", "rm 2:3 ls 3:2"},
		{"sudo -u root rm x", "rm 1:14"},
		{"é; rm x", "é 1:1 rm 1:5"},
		{`bash -c "cd /tmp && rm -rf x"`, "bash 1:1 cd 1:10 rm 1:21"},
		{`bash -c 'a; bash -c "b; c"'`, "bash 1:1 a 1:10 bash 1:13 b 1:22 c 1:25"},
		{"bash -c 'a\nb'", "bash 1:1 a 1:10 b 2:1"},
		{`bash -c "a \"x\"; b"`, "bash 1:1 a 1:10 b 1:19"},
		{`bash -c 'a'"'x';"' b'`, "bash 1:1 ax 1:10 b 1:20"},
		{"bash <<'E'\n  rm x\nE\nls", "bash 1:1 rm 2:3 ls 4:1"},
		{"bash <<-E\n\t\trm x\n\tls\n\tE", "bash 1:1 rm 2:3 ls 3:2"},
		{"echo 'a; b' | sh", "echo 1:1 a 1:7 b 1:10 sh 1:15"},
		{"eval ls 'a; b'", "eval 1:1 ls 1:6 b 1:13"},
		{"X='a; b'; eval \"$X\"", "eval 1:11 a 1:17 b 1:17"},
		{"trap 'rm x' EXIT", "trap 1:1 rm 1:7"},
		{"f() { rm x; }\nf", "rm 1:7"},
		{"find . -exec rm {} \\;", "find 1:1 rm 1:14"},
		{"env -S 'A=b rm x'", "rm 1:13"},
		{"echo $(a $(b))", "echo 1:1 a 1:8 b 1:12"},
		{"echo `a`", "echo 1:1 a 1:7"},
		{"git -c alias.x='!rm y' x", "git 1:1 rm 1:18"},
		{"$'\\x72m' x", "rm 1:3"},
		{"a \\\n  | b", "a 1:1 b 2:5"},
	} {
		var got []string
		for _, cmd := range Analyze(c.script, caseOptions).Shell.Commands {
			got = append(got, fmt.Sprintf("%s %d:%d", cmd.Name, cmd.Line, cmd.Column))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.script, s, c.want)
		}
	}
}

// TestPipes: what is upstream and downstream of each command.
func TestPipes(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"a | b | c", "a<>b,c b<a>c c<a,b>"},
		{"a", "a<>"},
		{"(a; b) | c", "a<>c b<>c c<a,b>"},
		{"a | { b | c; } | d", "a<>b,c,d b<a>c,d c<a,b>d d<a,b,c>"},
		{"a $(b) | c", "a<>c b<> c<a>"},
		{"a |& b", "a<>b b<a>"},
		{"a | sudo b", "a<>b b<a>"},
		{"a | sh -c 'b'", "a<>sh,b sh<a> b<a>"},
		{"a | xargs b", "a<>b b<a>"},
		{"$X | b", "<>b b<>"},
		{"a && b | c", "a<> b<>c c<b>"},
	} {
		var got []string
		for _, cmd := range Analyze(c.script, caseOptions).Shell.Commands {
			got = append(got, cmd.Name+"<"+strings.Join(cmd.PipedFrom, ",")+">"+strings.Join(cmd.PipedTo, ","))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.script, s, c.want)
		}
	}
}

// TestCwds: where each command runs; a dash where that is not known.
func TestCwds(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"a", "/w/src"},
		{"cd sub; a", "/w/src /w/src/sub"},
		{"(cd sub; a); b", "/w/src /w/src/sub /w/src"},
		{"cd /x && a", "/w/src /x"},
		{"cd \"$X\"; a", "/w/src -"},
		{"cd; a", "/w/src /home/u"},
		{"cd ~/x; a", "/w/src /home/u/x"},
		{"test -d x && cd x; a", "/w/src /w/src -"},
		{"env -C sub a", "/w/src/sub"},
		{"bash -c 'cd sub; a'; b", "/w/src /w/src /w/src/sub /w/src"},
		{"pushd x; a; popd; b", "/w/src /w/src/x /w/src/x /w/src"},
		{"f() { cd x; }; f; a", "/w/src /w/src/x"},
		{"chroot /r a", "-"},
		{"for d in a b; do (cd $d; x); done", "/w/src /w/src /w/src/a /w/src/b"},
	} {
		a := Analyze(c.script, caseOptions)
		got := slices.Clone(a.Cwds)
		for i := range got {
			if got[i] == "" {
				got[i] = "-"
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.script, s, c.want)
		}
	}
}

// TestAbsolute: the paths beside those shown keep their "..", and are empty when they are not known.
func TestAbsolute(t *testing.T) {
	for _, c := range []struct{ script, shown, absolute string }{
		{"rm x", "x", "/w/src/x"},
		{"rm link/../x", "x", "/w/src/link/../x"},
		{"rm /etc/../x", "/x", "/etc/../x"},
		{"rm ~/x", "~/x", "/home/u/x"},
		{"rm $X", "$X", ""},
		{"rm d/$X", "d/$X", ""},
		{"cd a/..; rm x", "x", "/w/src/x"},
		{"rm ~other/x", "~other/x", ""},
	} {
		a := Analyze(c.script, caseOptions)
		if a.Shell.Writes[0].Path != c.shown || a.Writes[0] != c.absolute {
			t.Errorf("%s: %q %q, want %q %q", c.script, a.Shell.Writes[0].Path, a.Writes[0], c.shown, c.absolute)
		}
	}
}

// TestUnknownPlaces: without options nothing is guessed.
func TestUnknownPlaces(t *testing.T) {
	a := Analyze("rm x ~/y /z; cd ~; rm w", Options{})
	var got []string
	for i, w := range a.Shell.Writes {
		got = append(got, fmt.Sprintf("%s %v %q", w.Path, w.Certain, a.Writes[i]))
	}
	want := []string{`x false ""`, `~/y true ""`, `/z true "/z"`, `~/w false ""`}
	if !slices.Equal(got, want) {
		t.Errorf("writes %q, want %q", got, want)
	}
}

func TestArgv(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want commandCase
	}{
		{[]string{"rm", "-rf", "a b", "$X", "*", "~"}, commandCase{Runs: []string{"rm -rf 'a b' '$X' '*' '~'"}, Writes: []string{"delete a b", "delete ./$X", "delete *", "delete ./~"}}},
		{[]string{"/usr/bin/sudo", "-u", "x", "bash", "-c", "cd s; rm 'x'"}, commandCase{Runs: []string{"[sudo] bash -c 'cd s; rm '\\''x'\\'''", "[sudo] cd s (bash -c)", "[sudo] rm x (bash -c)"}, Risks: []string{"cd", "operator"}, Writes: []string{"delete s/x"}}},
		{[]string{"find", ".", "-name", "*.o", "-exec", "rm", "{}", ";"}, commandCase{Runs: []string{"find . -name '*.o' -exec rm '{}' ';'", "[find] rm …"}, Writes: []string{"delete **/*.o ?"}}},
		{[]string{"env", "A=b", "git", "rm", "f"}, commandCase{Runs: []string{"[env] A=b git rm f"}, Risks: []string{"env_assignment"}, Writes: []string{"delete f"}}},
		{[]string{"echo", ";", "rm", "x"}, commandCase{Runs: []string{"echo ';' rm x"}}},
		{[]string{"f() { rm x; }"}, commandCase{Runs: []string{"'f() { rm x; }'"}}},
		{[]string{""}, commandCase{Runs: []string{"''"}}},
		{nil, commandCase{}},
		{[]string{"ls", "\xff"}, commandCase{Runs: []string{"ls …"}, Incomplete: []string{record.IncompleteNotUTF8}}},
	} {
		a := AnalyzeArgv(c.argv, caseOptions)
		got := describeAnalysis(a)
		compareCase(t, got, c.want)
		if !a.Shell.Parsed || a.Shell.IR != IR {
			t.Errorf("%q: parsed %v, IR %q", c.argv, a.Shell.Parsed, a.Shell.IR)
		}
	}
}

func TestArgvPositions(t *testing.T) {
	a := AnalyzeArgv([]string{"bash", "-c", "a 'x'; b"}, caseOptions)
	raw := a.Shell.Commands[0].Raw
	for _, cmd := range a.Shell.Commands[1:] {
		if !strings.HasPrefix(raw[cmd.Column-1:], cmd.Name) {
			t.Errorf("%s at %d of %s", cmd.Name, cmd.Column, raw)
		}
	}
}

// TestParse: what the parser says of a text that is none.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		script string
		parsed bool
		text   string
	}{
		{"ls", true, ""},
		{"", true, ""},
		{"echo 'unterminated", false, "1:6: "},
		{"ls\nif then fi", false, "2:"},
		{"sh -c 'if'", true, ""},
		{strings.Repeat("( ", 5000), false, ""},
	} {
		a := Analyze(c.script, caseOptions)
		if a.Shell.Parsed != c.parsed || !strings.HasPrefix(a.Shell.Error, c.text) || (a.Shell.Error == "") == !c.parsed {
			t.Errorf("%.20q: parsed %v, error %q", c.script, a.Shell.Parsed, a.Shell.Error)
		}
		if incomplete := slices.Contains(a.Incomplete, record.IncompleteParse); incomplete != (!c.parsed || strings.HasPrefix(c.script, "sh")) {
			t.Errorf("%.20q: incomplete %v", c.script, a.Incomplete)
		}
	}
}

// TestLists: a record holds no null in place of a list.
func TestLists(t *testing.T) {
	for _, a := range []Analysis{Analyze("", Options{}), Analyze("a $x", Options{}), AnalyzeArgv(nil, Options{}), Analyze(strings.Repeat("#", maxScript+1), Options{})} {
		if a.Shell.Commands == nil || a.Shell.Risks == nil || a.Shell.Reads == nil || a.Shell.Writes == nil || a.Incomplete == nil {
			t.Errorf("a list is nil: %+v", a)
		}
		for _, c := range a.Shell.Commands {
			if c.Argv == nil || c.Wrappers == nil || c.Within == nil || c.PipedFrom == nil || c.PipedTo == nil || c.Assignments == nil {
				t.Errorf("a list is nil: %+v", c)
			}
		}
	}
}

// TestRepositoryAliases: what the repository around the work space says of its aliases decides what git runs.
func TestRepositoryAliases(t *testing.T) {
	opt := caseOptions
	opt.Git = gitargs.Context{Repo: record.Repo{Aliases: map[string]string{"wipe": "!rm -rf build", "p": "push --force"}}}
	for _, c := range []struct{ script, want string }{
		{"git wipe", "git rm"},
		{"git p", "git"},
		{"cd sub && git wipe", "cd git"},
	} {
		var got []string
		for _, cmd := range Analyze(c.script, opt).Shell.Commands {
			got = append(got, cmd.Name)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.script, s, c.want)
		}
	}
}

// TestTables: the tables are searched by halves.
func TestTables(t *testing.T) {
	for i := 1; i < len(wrappers); i++ {
		if wrappers[i-1].name >= wrappers[i].name {
			t.Errorf("wrappers: %s stands before %s", wrappers[i-1].name, wrappers[i].name)
		}
	}
	for i := 1; i < len(utilities); i++ {
		if utilities[i-1].name >= utilities[i].name {
			t.Errorf("utilities: %s stands before %s", utilities[i-1].name, utilities[i].name)
		}
	}
	if !slices.IsSorted(riskNames[:]) || !slices.IsSorted(lackNames[:]) {
		t.Error("codes are not in order")
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct{ text, want string }{{"abc", "abc"}, {"abcd", "abc…"}, {"abé", "ab…"}, {"\x80\x80\x80\x80", "…"}} {
		if got := clip(c.text, 3); got != c.want {
			t.Errorf("clip(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// TestNearerRoot: a path in both the work space and the home directory is shown from the one that is deeper.
func TestNearerRoot(t *testing.T) {
	for _, c := range []struct{ workspace, home, path, shown string }{
		{"/w", "/w/home", "/w/home", "~"},
		{"/w", "/w/home", "/w/home/*", "~/*"},
		{"/w", "/w/home", "/w/home/.ssh/id", "~/.ssh/id"},
		{"/w", "/w/home", "/w/homes", "homes"},
		{"/w", "/w/home", "/w", "."},
		{"/w", "/w", "/w", "."},
		{"/w", "/w", "/w/x", "x"},
		{"/h/w", "/h", "/h", "~"},
		{"/h/w", "/h", "/h/w/x", "x"},
		{"/h/w", "/h", "/h/x", "~/x"},
		{"/h/w", "/h", "/x", "/x"},
		{"/w", "/", "/x", "/x"},
	} {
		a := Analyze("rm -rf "+c.path, Options{Cwd: c.workspace, Workspace: c.workspace, Home: c.home})
		if got := a.Shell.Writes[0].Path; got != c.shown {
			t.Errorf("work space %s, home %s: %s is shown as %s, want %s", c.workspace, c.home, c.path, got, c.shown)
		}
	}
}
