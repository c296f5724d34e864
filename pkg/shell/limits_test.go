package shell

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// TestHostile gives the analysis texts that are made to be expensive. It must end, say the same twice, fit into a record
// line, and name what it left out.
func TestHostile(t *testing.T) {
	shorttest.Long(t)
	for _, s := range hostile(shorttest.Count(1<<15, 4)) {
		t.Run(s.name, func(t *testing.T) {
			a := Analyze(s.script, caseOptions)
			if b := Analyze(s.script, caseOptions); !reflect.DeepEqual(a, b) {
				t.Error("two analyses differ")
			}
			text, err := json.Marshal(a.Shell)
			if err != nil || len(text) > 1<<20 {
				t.Errorf("facts take %d bytes, %v", len(text), err)
			}
		})
	}
}

// TestDeep nests far beyond any stack: the parser must be stopped, not the process.
func TestDeep(t *testing.T) {
	for _, s := range hostile(1 << 20) {
		if !strings.HasPrefix(s.name, "deep ") {
			continue
		}
		a := Analyze(s.script, caseOptions)
		if !a.Shell.DepthExceeded && !slices.Contains(a.Incomplete, record.IncompleteParse) {
			t.Errorf("%s: incomplete %v", s.name, a.Incomplete)
		}
	}
}

func TestNesting(t *testing.T) {
	for _, c := range []struct {
		name, open, end string
	}{
		{"subshell", "( ", " )"}, {"substitution", "echo $(", ")"}, {"if", "if ", "; then :; fi"}, {"block", "{ ", "; }"}, {"eval", "eval ", ""},
	} {
		for _, n := range []int{10, 31, 40} {
			a := Analyze(strings.Repeat(c.open, n)+"rm x"+strings.Repeat(c.end, n), caseOptions)
			found := slices.ContainsFunc(a.Shell.Commands, func(cmd record.Command) bool { return cmd.Name == "rm" })
			if deep := n > maxDepth; found == deep || a.Shell.DepthExceeded != deep || slices.Contains(a.Incomplete, record.IncompleteDepth) != deep {
				t.Errorf("%s %d deep: rm found %v, depth exceeded %v", c.name, n, found, a.Shell.DepthExceeded)
			}
		}
	}
}

func TestSize(t *testing.T) {
	for name, script := range map[string]string{
		"script":   strings.Repeat("#", maxScript+1),
		"commands": strings.Repeat("a\n", maxCommands+1),
		"writes":   "rm {1..4000} a{1..4000}",
		"facts":    "echo " + strings.Repeat("x", maxFacts+1),
		"words":    "echo {1..4000}{1..4000}",
		"work":     exponentialCalls(),
	} {
		if a := Analyze(script, caseOptions); !slices.Contains(a.Incomplete, record.IncompleteSize) && !slices.Contains(a.Incomplete, record.IncompleteDepth) {
			t.Errorf("%s: incomplete %v", name, a.Incomplete)
		}
	}
}

type shape struct{ name, script string }

func hostile(size int) []shape {
	rep := func(name, pre, unit, post string) shape {
		return shape{name, pre + strings.Repeat(unit, max(1, (size-len(pre)-len(post))/len(unit))) + post}
	}
	nest := func(name, open, middle, end string) shape {
		n := (size - len(middle)) / (len(open) + len(end))
		return shape{name, strings.Repeat(open, n) + middle + strings.Repeat(end, n)}
	}
	return []shape{
		rep("semicolons", "", "a;", ""), rep("words", "", "a ", ""), rep("pipes", "", "a|", "a"), rep("ands", "", "a&&", "a"), rep("ors", "", "a||", "a"),
		rep("assigns", "", "a=1 ", ""), rep("assignments", "", "a=1;", ""), rep("backgrounds", "", "a&", ""), rep("heredoc openers", "cat ", "<<a ", "\n"),
		rep("heredocs", "", "cat <<a\na\n", ""), rep("empty quotes", "", "''", ""), rep("double quotes", "echo ", "\"$a\"", ""), rep("newlines", "", "\n", ""),
		rep("continuations", "a", "\\\n", ""), rep("elifs", "if a;then b;", "elif a;then b;", "fi"), rep("elif assigns", "if a;then b;", "elif a;then b=$c;", "fi"), rep("cases", "case x in ", "a)b;;", "esac"),
		rep("case through", "case x in ", "a)b=1;;&", "esac"), rep("comments", "", "#a\n", ""), rep("backquotes", "", "`a`", ""), rep("array", "x=(", "a ", ")"), rep("redirects", "", ">a ", ""),
		rep("escapes", "", "\\a", ""), rep("braces", "", "{a,b}", ""), rep("sums", "$((", "1+", "1))"), rep("sums2", "((", "a=1+", "1))"), rep("minus", "((", "- ", "1))"), rep("long word", "", "x", ""),
		rep("heredoc body", "cat <<X\n", "line of text\n", "X\n"), rep("heredoc body dyn", "cat <<X\n", "$x\n", "X\n"), rep("parameters", "", "${a}", ""),
		rep("deep parens", "", "(", ""), nest("deep subshells", "(", "a", ")"), nest("deep substitutions", "$(", "a", ")"), nest("deep quoted substitutions", "\"$(", "a", ")\""), nest("deep defaults", "${a:-", "b", "}"), nest("deep blocks", "{ ", "a;", "}; "),
		nest("deep ifs", "if a; then ", "b;", "fi; "), nest("deep whiles", "while a; do ", "b;", "done; "), nest("deep functions", "f() { ", "f;", "}; "), nest("deep cases nested", "case a in a) ", "b", ";; esac "), nest("deep process", "<(", "a", ")"),
		nest("deep tests", "[[ ( ", "a", " ) ]]"), rep("deep bangs", "[[ ", "! ", "a ]]"), rep("deep times", "", "time ", "a"), rep("deep coprocs", "", "coproc ", "a"), rep("negations", "", "! ", "a"), nest("deep arith parens", "(", "1", ")"), nest("deep arith", "$((", "1", "))"),
		rep("envs", "", "env ", "rm x"), rep("sudo assigns", "sudo ", "a=1 ", "rm x"), rep("evals", "", "eval ", "rm x"), rep("xargs", "", "xargs ", "rm x"), rep("finds", "", "find -exec ", "rm x"), rep("find roots", "find ", "a ", "-exec rm {} \\; -exec ls {} \\;"), rep("find execs", "find a b c d e f ", "-exec a {} \\; ", ""), rep("find deletes", "find ", "a ", "-delete"),
		rep("doubling", "X=ab;", "X=$X$X;", "echo $X"), rep("uses", "X="+strings.Repeat("x", 60000)+";", "echo $X$X$X$X;", ""), rep("many variables", "", "a$((i))=1;", ""), rep("alts", "for x in a b c d e f g h; do for y in a b c d e f g h; do ", "echo $x $y;", "done; done"),
		rep("evals2", "X='a;a;a;a;a;a;a;a';", "eval \"$X\";", ""), rep("aliases", "alias a='b b b b b b b';", "a;", ""), rep("traps", "", "trap a EXIT;", ""), rep("funcs", "", "f(){ a;};", ""), rep("func calls", "f(){ a $1;};", "f x;", ""),
		rep("rm", "rm ", "a ", ""), rep("cp", "cp ", "a ", "d"), rep("cd", "", "cd a;", ""), rep("subshell assign", "a=1;", "(a=2);", ""), rep("tilde", "", "~", ""), rep("colon tildes", "a=", ":~", ""), rep("splits", "X='"+strings.Repeat("a ", 20000)+"';", "echo $X;", ""),
		rep("sed", "sed '", "s/[a/]/b/;", "' f"), rep("sed brackets", "sed '", "[", "' f"), rep("sed slashes", "sed 's/", "[", "/x/' f"), rep("curl", "curl ", "-d @a ", ""), rep("parallel", "parallel rm {} ::: ", "a ", ""), rep("printf", "printf '", "%s", "' a | sh"), rep("echo sh", "echo '", "a;", "' | sh"),
		{"exponential calls", exponentialCalls()}, {"nested loops", nestedLoops()}, {"sh in sh", deepShell()}, {"brace bomb", "echo " + strings.Repeat("{a,b}", 40)}, {"sequence bomb", "echo {1..100000000}"}, {"many unique vars", uniqueVars(size)}, {"many functions", uniqueFunctions(size)}, {"backslashes", "echo " + strings.Repeat("`\\", size/4)},
		rep("loop assigns", "while :; do ", "a=b;", "done"), rep("arrays append", "a=();", "a+=(x);", ""), rep("array elems", "a=();", "a[0]=x;", ""), rep("strings", "", "<<<a ", ""), rep("cat pipes", "echo rm x ", "|cat", "|sh"), rep("dollar quotes", "", "$'\\x41'", ""), rep("export", "export ", "a=b ", ""), rep("herestring", "bash <<< '", "a;", "'"),
		rep("while cd", "", "while :; do cd a; ", ""), nest("deep while cd nested", "while :; do cd a; ", "b;", "done; "), rep("unterminated heredocs", "", "cat <<E\n", ""), rep("pushd", "", "pushd a;", ""), rep("set", "set -- ", "a ", "; echo $@ $@ $@"), rep("shift", "set -- a b c;", "shift;", ""),
		rep("files doubled", "echo rm a>f;", "cat f f>g;cat g g>f;", "sh f"), rep("files appended to", "", "echo 'rm a'>>f;", "sh f"), rep("files run", "", "echo 'rm a'>>f;sh f;", ""), rep("files copied", "echo rm a>f;", "cp f g;mv g f;", "sh f"),
		rep("links to links", "echo x>a;", "ln -s a b;ln -s b a;", "sh b"), rep("lines read", "", "read a<<<x;", ""), rep("names found", "rm ", "$(find a) ", ""), rep("programs somewhere", "", "$a/rm b;", ""),
	}
}

func exponentialCalls() string {
	var b strings.Builder
	b.WriteString("f0() { rm x; }\n")
	for i := 1; i < 30; i++ {
		n, p := string(rune('a'+i%26))+strings.Repeat("x", i), string(rune('a'+(i-1)%26))+strings.Repeat("x", i-1)
		if i == 1 {
			p = "f0"
		}
		b.WriteString(n + "() { " + p + " a; " + p + " b; }\n")
		if i == 29 {
			b.WriteString(n + "\n")
		}
	}
	return b.String()
}

func nestedLoops() string {
	return strings.Repeat("for x in a b c d; do cd $x; ", 25) + "rm x;" + strings.Repeat("done;", 25)
}

func deepShell() string {
	s := "rm x"
	for range 12 {
		s = "sh -c '" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		if len(s) > 1<<19 {
			break
		}
	}
	return s
}

func uniqueVars(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size-40; i++ {
		b.WriteString("(v" + strings.Repeat("a", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + "=1);v" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + "=2\n")
	}
	return b.String()
}

func uniqueFunctions(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size-40; i++ {
		n := string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26))
		b.WriteString("f" + n + "(){ :;};")
	}
	return b.String()
}
