package shell

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes random scripts that are safe to run: every program they name is a recorder, every path is relative.
type generator struct {
	r     *rand.Rand
	depth int
	posix int // inside code for sh, which has no brace expansion and no $''
	vars  []string
	funcs []string
}

func generate(seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 7))}
	var b strings.Builder
	for range 1 + g.r.IntN(5) {
		b.WriteString(g.statement())
		b.WriteString(g.pick("\n", "\n", "; ", "\n\n"))
	}
	return b.String()
}

func (g *generator) pick(of ...string) string { return of[g.r.IntN(len(of))] }

// recorders are the programs that the tests put on PATH.
var recorders = []string{"rm", "git", "ls", "foo", "bar", "mv", "curl", "make"}

func (g *generator) program() string { return recorders[g.r.IntN(len(recorders))] }

func (g *generator) statement() string {
	if g.depth > 3 || g.posix > 0 && g.r.IntN(2) == 0 {
		return g.simple()
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.r.IntN(28) {
	case 26, 27:
		if g.posix == 0 {
			return g.rarer()
		}
		return g.simple()
	case 0:
		return fmt.Sprintf("if %s; then %s; else %s; fi", g.condition(), g.statement(), g.statement())
	case 1:
		return fmt.Sprintf("for %s in %s; do %s; done", g.newVar(), g.words(3), g.statement())
	case 2:
		return fmt.Sprintf("case %s in %s) %s;; *) %s;; esac", g.word(), g.pick("a", "b*", "x|y"), g.statement(), g.statement())
	case 3:
		return fmt.Sprintf("( %s; %s )", g.statement(), g.statement())
	case 4:
		return fmt.Sprintf("{ %s; %s; }", g.statement(), g.statement())
	case 5:
		return fmt.Sprintf("%s | %s", g.simple(), g.simple())
	case 6:
		return fmt.Sprintf("%s %s %s", g.statement(), g.pick("&&", "||"), g.simple())
	case 7:
		return g.function()
	case 8:
		return fmt.Sprintf("%s=%s; $%s %s", g.newVar(), g.program(), g.vars[len(g.vars)-1], g.words(2))
	case 9:
		return fmt.Sprintf("eval %s", g.quoted(g.simple()))
	case 10:
		shell := g.pick("bash", "sh", "bash -e", "env bash")
		return fmt.Sprintf("%s -c %s %s", shell, g.quoted(g.in(shell, g.statement)), g.pick("", "", "_ a b"))
	case 11:
		shell := g.pick("bash", "sh", "bash -s")
		return fmt.Sprintf("%s <<%s\n%s\nEOF\n:", shell, g.pick("EOF", "'EOF'"), g.in(shell, g.simple))
	case 12:
		shell := g.pick("bash", "sh")
		return fmt.Sprintf("echo %s | %s", g.quoted(g.in(shell, g.simple)), shell)
	case 13:
		return fmt.Sprintf("%s=(%s); \"${%s[@]}\"", g.newVar(), g.program()+" "+g.words(2), g.vars[len(g.vars)-1])
	case 14:
		return fmt.Sprintf("trap %s EXIT", g.quoted(g.simple()))
	case 15:
		return fmt.Sprintf("%s %s", g.wrapper(), g.simpleProgram())
	case 16:
		return fmt.Sprintf("while %s; do %s; break; done", g.condition(), g.statement())
	case 17:
		return fmt.Sprintf("set -- %s; %s \"$@\"; %s $1", g.words(3), g.program(), g.program())
	case 18:
		return fmt.Sprintf("%s=%s; %s", g.newVar(), g.word(), g.statement())
	case 19:
		return fmt.Sprintf("i=0; while [ $i -lt 2 ]; do %s=%s; %s $%s; %s=%s; i=$((i+1)); done", g.newVar(), g.word(), g.program(), g.vars[len(g.vars)-1], g.vars[len(g.vars)-1], g.program())
	case 20:
		return fmt.Sprintf("%s & wait", g.simple())
	case 21:
		return fmt.Sprintf("echo %s | xargs %s%s", g.words(2), g.pick("", "-n1 ", "-I{} "), g.simpleProgram()+g.pick("", " {}"))
	case 22:
		return fmt.Sprintf("local_%s() { local %s=%s; $%s; }; local_%s", "f", g.newVar(), g.program(), g.vars[len(g.vars)-1], "f")
	default:
		return g.simple()
	}
}

// in writes code for a shell.
func (g *generator) in(shell string, code func() string) string {
	if shell == "sh" {
		g.posix++
		defer func() { g.posix-- }()
	}
	return code()
}

// rarer is what scripts hold now and then.
func (g *generator) rarer() string {
	v, w := g.newVar(), g.newVar()
	switch g.r.IntN(34) {
	case 0:
		return fmt.Sprintf("source <(echo %s)", g.quoted(g.simple()))
	case 1:
		return fmt.Sprintf("bash <(printf '%%s' %s)", g.quoted(g.simple()))
	case 2:
		return fmt.Sprintf("bash <<< %s", g.quoted(g.statement()))
	case 3:
		return fmt.Sprintf("%s < <(%s)", g.simpleProgram(), g.simple())
	case 4:
		return fmt.Sprintf("read %s <<< %s; $%s x; %s $%s", v, g.program(), v, g.program(), v)
	case 5:
		return fmt.Sprintf("printf -v %s %%s %s; $%s x", v, g.program(), v)
	case 6:
		return fmt.Sprintf("%s=(%s); %s+=(%s); \"${%s[@]}\"; ${%s[0]}; \"${%s[@]:1}\"", v, g.program(), v, g.words(2), v, v, v)
	case 7:
		return fmt.Sprintf("%s=%s; %s=%s; ${!%s} x", v, g.program(), w, v, w)
	case 8:
		return fmt.Sprintf("declare -n ref=%s; ref=%s; $%s x", v, g.program(), v)
	case 9:
		return fmt.Sprintf("IFS=,; %s=%s,a,b; $%s; unset IFS", v, g.program(), v)
	case 10:
		return fmt.Sprintf("shopt -s expand_aliases\nalias al='%s -x'\nal a; unalias al\nal b", g.program())
	case 11:
		return fmt.Sprintf("for ((i=0; i<2; i++)); do %s $i; done", g.program())
	case 12:
		return fmt.Sprintf("until %s; do %s; break; done", g.condition(), g.statement())
	case 13:
		return fmt.Sprintf("case x in x) %s;& y) %s;; esac", g.statement(), g.statement())
	case 14:
		return fmt.Sprintf("rec() { %s \"$1\"; if [ \"$1\" != aaa ]; then rec \"a$1\"; fi; }; rec a", g.program())
	case 15:
		return fmt.Sprintf("out() { echo %s; }; $(out) a; %s \"$(out)\"", g.program(), g.program())
	case 16:
		return fmt.Sprintf("{ %s; } > grp; ( %s ) 2>&1 | { %s; }", g.simple(), g.simple(), g.simple())
	case 17:
		return fmt.Sprintf("(( i = 1 )) && %s; [[ a == a ]] || %s", g.simple(), g.simple())
	case 18:
		return fmt.Sprintf("%s=a; %s=b; %s %s $%s", v, v, v+"="+g.word(), g.program(), v)
	case 19:
		return fmt.Sprintf("set -- a b c; while [ $# -gt 0 ]; do %s $1; shift; done", g.program())
	case 20:
		return fmt.Sprintf("trap '$%s trapped' EXIT; %s=%s", v, v, g.program())
	case 21:
		return fmt.Sprintf("trap '%s dbg' DEBUG; %s; trap - DEBUG", g.program(), g.simple())
	case 22:
		return fmt.Sprintf("export %s=%s; bash -c '$%s exported'", v, g.program(), v)
	case 23:
		return fmt.Sprintf("ef() { %s ef; }; export -f ef; bash -c ef", g.program())
	case 24:
		return fmt.Sprintf("%s=%s bash -c '$%s prefixed'", v, g.program(), v)
	case 25:
		return fmt.Sprintf("env %s=%s sh -c '$%s prefixed'", v, g.program(), v)
	case 26:
		return fmt.Sprintf("env -S '%s -a \"b c\"' d", g.program())
	case 27:
		return fmt.Sprintf("bash -ec %s name one two", g.quoted(g.program()+` "$0" "$2" "$@"`))
	case 28:
		return fmt.Sprintf("cat <<E | bash\n%s $%s\nE\n:", g.program(), v)
	case 29:
		return fmt.Sprintf("%s=${%s:-%s}; $%s", v, w, g.program(), v)
	case 30:
		return fmt.Sprintf("if false; then %s=%s; fi; $%s a", v, g.program(), v)
	case 31:
		return fmt.Sprintf("coproc { %s; }; wait", g.simple())
	case 32:
		return fmt.Sprintf("f2() { set -- %s; %s \"$@\"; }; f2 z; %s \"$@\"", g.words(2), g.program(), g.program())
	}
	return fmt.Sprintf("command_not_found_handle() { %s nf; }; no_such_program", g.program())
}

func (g *generator) function() string {
	name := fmt.Sprintf("fn%d", len(g.funcs))
	body := g.statement()
	call := name + " " + g.words(2)
	g.funcs = append(g.funcs, name)
	return fmt.Sprintf("%s() { %s; %s \"$1\"; }; %s", name, body, g.program(), call)
}

func (g *generator) wrapper() string {
	return g.pick("env", "env A=b", "env -i PATH=\"$PATH\" LOG=\"$LOG\"", "nice", "nice -n 3", "nohup", "timeout 5", "timeout -s KILL 5", "command", "exec", "time", "setsid -w", "stdbuf -oL", "env -u X nice", "builtin command", "! ", "timeout --signal=TERM --kill-after 3 5")
}

func (g *generator) condition() string {
	return g.pick("true", "false", "[ a = a ]", "[[ -n x ]]", g.simple(), "! true", "test -f a")
}

func (g *generator) newVar() string {
	v := fmt.Sprintf("v%d", g.r.IntN(4))
	g.vars = append(g.vars, v)
	return v
}

func (g *generator) simple() string {
	switch g.r.IntN(10) {
	case 0:
		return fmt.Sprintf("A=%s %s", g.word(), g.simpleProgram())
	case 1:
		return g.simpleProgram() + " " + g.pick("> out", ">> out", "2>&1", "< a", "2> err", "&> all", "> \"o u t\"")
	case 2:
		return g.pick("echo", "printf '%s\\n'") + " " + g.words(2)
	case 3:
		return g.pick("cd sub", "cd .", ":", "true", "pushd sub")
	case 4:
		if len(g.funcs) > 0 {
			return g.funcs[g.r.IntN(len(g.funcs))] + " " + g.words(1)
		}
	case 5:
		if len(g.vars) > 0 {
			return g.pick("export ", "unset ", "readonly_=", "declare ", "") + g.vars[g.r.IntN(len(g.vars))] + g.pick("=", "=", "+=") + g.word()
		}
	}
	return g.simpleProgram()
}

func (g *generator) simpleProgram() string {
	return g.disguise(g.program()) + " " + g.words(3)
}

// disguise writes a program's name in one of the ways that a shell takes as the same.
func (g *generator) disguise(name string) string {
	n := g.r.IntN(12)
	if g.posix > 0 && (n == 3 || n == 6) {
		n = 0
	}
	switch n {
	case 0:
		return `\` + name
	case 1:
		return `"` + name + `"`
	case 2:
		return name[:1] + `""` + name[1:]
	case 3:
		return "$'" + fmt.Sprintf("\\x%02x", name[0]) + name[1:] + "'"
	case 4:
		return "'" + name[:1] + "'" + name[1:]
	case 5:
		return name[:1] + "\\\n" + name[1:]
	case 6:
		return "{" + name + ",-x}"
	case 7:
		return "$(echo " + name + ")"
	case 8:
		return "${undefined:-" + name + "}"
	}
	return name
}

func (g *generator) words(most int) string {
	var out []string
	for range g.r.IntN(most + 1) {
		out = append(out, g.word())
	}
	return strings.Join(out, " ")
}

func (g *generator) word() string {
	n := g.r.IntN(22)
	if g.posix > 0 && (n == 3 || n == 5 || n == 18 || n >= 10 && n <= 12) {
		n = 0
	}
	switch n {
	case 0:
		return `"a b"`
	case 1:
		return `'x  y'`
	case 2:
		return `c\ d`
	case 3:
		return `$'t\tab'`
	case 4:
		return `*`
	case 5:
		return `{p,q}r`
	case 6:
		return `"$(` + g.program() + ` in)"`
	case 7:
		return `$(` + g.pick("echo sub", "printf %s sub", g.program()+" in", "echo one two") + `)`
	case 8:
		return "`" + g.program() + " bq`"
	case 9:
		return `$((1 + 2))`
	case 10, 11, 12:
		if len(g.vars) > 0 {
			return g.param(g.vars[g.r.IntN(len(g.vars))])
		}
	case 13:
		return `~`
	case 14:
		return `-` + g.pick("r", "f", "rf", "n")
	case 15:
		return `"${1:-none}"`
	case 16:
		return `""`
	case 17:
		return `"q\"uote$"`
	case 18:
		return `{1..3}`
	}
	return g.pick("a", "b", "sub", "x", "file.txt", "--opt=val")
}

func (g *generator) param(v string) string {
	return fmt.Sprintf(g.pick(`$%s`, `"$%s"`, `${%s}`, `"${%s:-def}"`, `${%s:+alt}`, `${%s%%.*}`, `"${%s#a}"`, `${#%s}`, `${%s:1}`, `${%s^^}`, `${%s/a/Z}`, `"${%s}x"`, `${%s:=dflt}`, `${%s[0]}`, `"${%s[@]}"`), v)
}

// quoted is text as one word.
func (g *generator) quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// soup is a random sequence of tokens: mostly nonsense, of which a shell may make something that nobody would write.
func soup(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 11))
	tokens := []string{
		"rm", "ls", "foo", "git", "a", "b", "x1", "'", "'", `"`, `"`, `\`, "$'", "$", "$(", ")", "(", "`", "{", "}", ";", ";;", "&", "&&", "|", "||", "\n", "\n",
		" ", " ", " ", " ", " ", "#", "<<E\n", "\nE\n", "<<'E'\n", "<<-E\n\t", "((", "))", "[[", "]]", "case", "in", "esac", "if", "then", "fi", "else", "!", "=", "v=", "$v", "${v", "${v:-", "}", "~", "*",
		"eval", "echo", "<", ">", ">&", "2>", "<<<", "-", "--", "function", "f()", "f", "[", "]", "@", "$@", "\\\n", "\t", "{a,", ",b}", "$((", "time", "coproc", "\r", "é", "^", "%", "+", ":", "true", "false", "bash -c", "sh -c", "command", "exec", "trap", "EXIT",
	}
	var b strings.Builder
	for range 2 + r.IntN(14) {
		b.WriteString(tokens[r.IntN(len(tokens))])
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// mutate changes a script in a few places, so that it stays close to one that means something.
func mutate(script string, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 13))
	pieces := []string{"'", `"`, `\`, "$", "(", ")", "`", "{", "}", ";", "&", "|", "\n", " ", "#", "<<E", "((", "$'", "$(", "rm", "=", "!", "\\\n", "*", "\t"}
	for range 1 + r.IntN(3) {
		at := r.IntN(len(script) + 1)
		end := min(len(script), at+r.IntN(3))
		script = script[:at] + pieces[r.IntN(len(pieces))] + script[end:]
	}
	return script
}
