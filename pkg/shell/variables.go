package shell

import (
	"slices"
	"strings"

	"ethos/pkg/snippet"
)

// programVariables are variables whose value build tools, and those that show text, run as a command
// or as the beginning of one: GNU make manual, "Variables Used by Implicit Rules"; go help
// environment; man(1); rsync(1); kubectl diff; The Cargo Book, "Environment Variables"; gh help
// environment; systemctl(1); borg and restic, "Environment Variables".
const programVariables = " CC CXX CPP AS AR LD NM RANLIB STRIP OBJCOPY OBJDUMP FC F77 LEX YACC GCCGO PKG_CONFIG MAKE HOSTCC HOSTCXX PAGER MANPAGER BROWSER RSYNC_RSH CVS_RSH SVN_SSH KUBECTL_EXTERNAL_DIFF " +
	"BORG_PASSCOMMAND BORG_RSH RESTIC_PASSWORD_COMMAND RUSTC RUSTDOC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC CARGO_BUILD_RUSTDOC CARGO_BUILD_RUSTC_WRAPPER CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER SSH_ASKPASS SUDO_ASKPASS FZF_DEFAULT_COMMAND " +
	"AWS_PAGER BAT_PAGER DELTA_PAGER GH_PAGER GLAB_PAGER PSQL_PAGER SYSTEMD_PAGER GH_BROWSER GH_EDITOR HGEDITOR HGMERGE KUBE_EDITOR PSQL_EDITOR SUDO_EDITOR SVN_EDITOR SYSTEMD_EDITOR "

// usualPrograms are what these variables name every day, behind a prefix for another machine and
// before a version: aarch64-linux-gnu-gcc-13.
const usualPrograms = " cc c++ gcc g++ clang clang++ tcc icc icx cpp gfortran as ld lld gold mold ar nm ranlib strip objcopy objdump lex flex yacc bison pkg-config make gmake "

// usualAlone are shells, a wrapper of compilers, pagers and editors that are usual without words of
// their own.
const usualAlone = " sh bash dash zsh ksh sccache cat less more most bat delta true vi vim nvim nano emacs "

// usual reports whether a value names a program of the system for what the variable is for. The
// variable then changes nothing that a person would want to know.
func usual(value string) bool {
	words := strings.Fields(value)
	if len(words) > 1 && slices.Contains([]string{"ccache", "sccache", "distcc", "icecc"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 || strings.ContainsAny(value, ";&|<>$`(){}\n\"'\\") {
		return false
	}
	name := words[0]
	for _, dir := range []string{"/usr/bin/", "/bin/", "/usr/local/bin/"} {
		name = strings.TrimPrefix(name, dir)
	}
	alone := len(words) == 1 && strings.Contains(usualAlone, " "+unversioned(name)+" ")
	return alone || usualProgram(name) != "" && !strings.Contains(name, "/")
}

// usualProgram returns the usual program that a name means, without its prefix and its version, or
// "".
func usualProgram(name string) string {
	name = unversioned(name)
	for i := range len(name) {
		if (i == 0 || name[i-1] == '-') && strings.Contains(usualPrograms, " "+name[i:]+" ") {
			return name[i:]
		}
	}
	return ""
}

// unversioned returns a name without the version at its end: gcc-13, clang++-18, python3.12.
func unversioned(name string) string {
	return strings.TrimRight(strings.TrimRight(name, "0123456789."), "-")
}

func namesProgram(name string) bool {
	if target, ok := strings.CutPrefix(name, "CARGO_TARGET_"); ok {
		return strings.HasSuffix(target, "_LINKER") || strings.HasSuffix(target, "_RUNNER")
	}
	return strings.Contains(programVariables, " "+name+" ")
}

// optionVariable returns the program for which a variable has more options, or "".
func optionVariable(name string) string {
	switch name {
	case "GOFLAGS":
		return "go"
	case "RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS":
		return "rustc"
	case "MANOPT":
		return "man"
	case "FZF_DEFAULT_OPTS":
		return "fzf"
	case "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS":
		return "java"
	}
	return ""
}

// codeVariable returns the language of the code that an interpreter or an editor runs at its start
// because of a variable: lua(1), vim ":help VIMINIT", perl perlrun(1).
func codeVariable(name string) snippet.Language {
	switch name {
	case "LUA_INIT", "LUA_INIT_5_2", "LUA_INIT_5_3", "LUA_INIT_5_4":
		return snippet.Lua
	case "VIMINIT", "EXINIT":
		return snippet.Console
	case "PERL5DB":
		return snippet.Perl
	}
	return snippet.None
}

// variables follows the programs that variables name: those in front of a command, and those that
// make gets as operands. A value that is not static is left out, because a path that comes from a
// variable is an everyday one.
func (do *doing) variables(inv invocation) {
	for _, a := range inv.env {
		switch {
		case !a.value.static():
		case namesProgram(a.name) && !usual(a.value.text):
			do.shellCode(a.value, a.name+"=", &positional{dyn: true}, inv)
		case codeVariable(a.name) != snippet.None:
			do.snippet(inv, a.name+"=", snippet.Read(codeVariable(a.name), a.value.text))
		case optionVariable(a.name) != "":
			do.moreOptions(optionVariable(a.name), a.value, inv)
		case do.by == "make" && (a.name == "MAKEFLAGS" || a.name == "GNUMAKEFLAGS"):
			do.makeText(a.value.text, a.name+"=", inv)
		}
	}
	if do.by != "make" && do.by != "gmake" {
		return
	}
	for _, f := range inv.fields[1:] {
		name, value, ok := strings.Cut(f.text, "=")
		if !ok || isOption(f) || !f.static() {
			continue
		}
		runs := strings.HasSuffix(name, "!")
		if name = strings.TrimRight(name, ":?+!"); runs || (namesProgram(name) || name == "SHELL") && !usual(value) {
			value = ":;" + value
		}
		do.makeText(value, "make "+name+"=", inv)
	}
}

// makeText follows what make runs because of a text in its language.
func (do *doing) makeText(text, label string, inv invocation) {
	if strings.ContainsAny(text, "$;") {
		do.snippet(inv, label, snippet.Read(snippet.Makefile, text))
	}
}
