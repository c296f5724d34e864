package ethosargs

import "strings"

// Steers reports whether a variable controls ethos's own programs: the location of their defaults,
// their memory and their programs.
func Steers(name string) bool {
	switch name {
	case "HOME", "PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR":
		return true
	}
	return strings.HasPrefix(name, "ETHOS_") || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

// Loads reports whether a variable makes a program load or run other code: a variable of the
// dynamic linker (ld.so(8)), a shell's start-up file, or an interpreter's options.
func Loads(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "NODE_OPTIONS", "PERL5OPT", "PERL5LIB", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "RUBYOPT", "RUBYLIB",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "GCONV_PATH", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND":
		return true
	}
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "GIT_SSH", "GIT_EXEC", "GIT_EXTERNAL", "GIT_PROXY"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
