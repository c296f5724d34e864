package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/capability"
)

// passedEnv are the variables that every command gets, as are LC_*. SUDO_UID names the user
// whose repositories git accepts when it runs as root: git-config(1), safe.directory.
var passedEnv = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "TZ", "TMPDIR", "SUDO_UID"}

// toolEnv are further variables that every command gets: where tools keep their files, what
// they build for, who commits, and how they print. None of them makes a program load code,
// run another program or trust another host. Variables that name a compiler, its flags or a registry
// are not included.
var toolEnv = []string{
	"GOPATH", "GOMODCACHE", "GOCACHE", "GOLANGCI_LINT_CACHE", "STATICCHECK_CACHE", "GOTOOLCHAIN", "GOOS", "GOARCH", "GOAMD64", "GOARM", "GOARM64", "GO386", "GOWASM", "CGO_ENABLED", "GO111MODULE", "GOWORK",
	"GOEXPERIMENT", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GOTRACEBACK",
	"npm_config_cache", "YARN_CACHE_FOLDER", "NVM_DIR", "NODE_ENV",
	"PYENV_ROOT", "PYENV_VERSION", "VIRTUAL_ENV", "PIP_CACHE_DIR", "UV_CACHE_DIR", "PRE_COMMIT_HOME", "POETRY_CACHE_DIR", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED",
	"PYTHONUTF8", "PYTHONIOENCODING", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_INPUT",
	"CARGO_HOME", "RUSTUP_HOME", "CARGO_TARGET_DIR", "CARGO_INCREMENTAL", "CARGO_NET_OFFLINE", "CARGO_TERM_COLOR", "CARGO_TERM_VERBOSE", "RUST_BACKTRACE", "RUST_LOG",
	"JAVA_HOME", "GRADLE_USER_HOME", "TF_PLUGIN_CACHE_DIR", "CCACHE_DIR", "XDG_CACHE_HOME",
	"CMAKE_BUILD_TYPE", "CMAKE_BUILD_PARALLEL_LEVEL", "CTEST_OUTPUT_ON_FAILURE", "CTEST_PARALLEL_LEVEL", "NINJA_STATUS",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"CI", "DEBIAN_FRONTEND", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "SOURCE_DATE_EPOCH",
}

// injecting are the variables that make a loader, shell, interpreter or tool run code or
// read configuration of the setter's choice. They are never passed on, whatever is
// declared.
var injecting = []string{
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "RESOLV_HOST_CONF", "RES_OPTIONS", "MALLOC_*",
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "BASH_FUNC_*", "IFS", "CDPATH", "ZDOTDIR",
	"GIT_*", "SSH_ASKPASS", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_*", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DOCKER_HOST",
	"PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONEXECUTABLE", "PYTHONUSERBASE", "PYTHONWARNINGS",
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NPM_CONFIG_*", "npm_config_*",
	"PERL5LIB", "PERL5OPT", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "GEM_PATH", "GEM_HOME", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH",
	"LUA_PATH*", "LUA_CPATH*", "LUA_INIT*", "GOFLAGS", "GOENV", "CARGO_BUILD_*", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "RUSTDOCFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES",
	"EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "BROWSER", "ETHOS_*",
}

// harmless are exceptions to [injecting]: they may be set, but not passed on.
var harmless = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS",
	"PYTHONWARNINGS", "GOFLAGS", "MAKEFLAGS", "RUSTFLAGS", "CDPATH",
	"npm_config_audit", "npm_config_color", "npm_config_engine_strict", "npm_config_fetch_retries", "npm_config_fetch_retry_maxtimeout", "npm_config_fetch_retry_mintimeout",
	"npm_config_fetch_timeout", "npm_config_force", "npm_config_foreground_scripts", "npm_config_fund", "npm_config_ignore_scripts", "npm_config_include", "npm_config_install_links",
	"npm_config_jobs", "npm_config_legacy_peer_deps", "npm_config_loglevel", "npm_config_maxsockets", "npm_config_offline", "npm_config_omit", "npm_config_package_lock",
	"npm_config_prefer_offline", "npm_config_production", "npm_config_progress", "npm_config_save", "npm_config_save_exact", "npm_config_strict_peer_deps",
	"npm_config_update_notifier", "npm_config_workspaces", "npm_config_yes",
}

// services are variables that lead to a service of the host, which acts for whoever
// connects: an ssh-agent signs with every key that it holds.
var services = []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_*", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DOCKER_HOST"}

// withoutNetwork and withoutRetries make tools report at once that there is no network, as
// their manuals describe: npm-config(7) offline and fetch-retries, pip's --retries, cargo's
// net.offline and net.retry, GOPROXY of go help module-proxy-protocol, uv's UV_OFFLINE.
// Caches still work.
var (
	withoutNetwork = []string{"CARGO_NET_OFFLINE=true", "GOPROXY=off", "GOTOOLCHAIN=local", "UV_OFFLINE=1", "npm_config_offline=true"}
	withoutRetries = []string{"CARGO_NET_RETRY=0", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_RETRIES=0", "npm_config_fetch_retries=0", "npm_config_update_notifier=false"}
)

// offline sets these variables if nothing leaves the network namespace. With a loopback
// interface, a registry may run inside, so only retries are turned off. Values of the
// caller or a declaration take precedence.
func (b *builder) offline(values map[string]string) {
	var settings []string
	switch b.set.Network.Mode {
	case "", "none":
		settings = slices.Concat(withoutNetwork, withoutRetries)
	case "loopback":
		settings = withoutRetries
	}
	for _, setting := range settings {
		if name, value, _ := strings.Cut(setting, "="); values[name] == "" {
			values[name] = value
		}
	}
}

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, wild := strings.CutSuffix(p, "*")
		return wild && strings.HasPrefix(name, prefix) || p == name
	})
}

// environment returns the command's environment: the allowed variables of the caller and
// the declared ones, sorted by name.
func (b *builder) environment() ([]string, error) {
	values := map[string]string{}
	for _, entry := range b.spec.Environ {
		name, value, ok := strings.Cut(entry, "=")
		if ok && b.passes(name) {
			values[name] = value
		}
	}
	for _, declared := range slices.Concat(b.set.Env.Pass, capability.Assignments(b.set.Env.Set)) {
		name, value, set := strings.Cut(declared, "=")
		switch {
		case name == "" || strings.ContainsRune(declared, 0):
			return nil, Refuse(CodeDeclaration, "write it as NAME or NAME=VALUE", "environment variable %q has no valid name", declared)
		case matches(name, services):
			return nil, Refuse(CodeDeclaration, "run what needs its keys or rights outside; --git-signing own has commits and tags signed outside",
				"environment variable %s never reaches a confined command: it names a service of the host that acts for anyone who connects", name)
		case !set && matches(name, toolEnv): // every command gets it
		case !set && matches(name, harmless):
			return nil, Refuse(CodeDeclaration, "give its value too: --env "+name+"=VALUE", "the outside value of environment variable %s is not passed on", name)
		case matches(name, injecting) && !(set && matches(name, harmless)):
			return nil, Refuse(CodeDeclaration, "it can make programs load code of its choice; give the command what it needs as an argument instead",
				"environment variable %s never reaches a confined command", name)
		case set:
			values[name] = value
		}
	}
	b.fixEnv(values)
	b.flatEnv(values)
	b.offline(values)
	b.proxyEnv(values)
	b.signingEnv(values)
	if err := b.openEnv(values); err != nil {
		return nil, err
	}
	return sortedEnv(values), nil
}

// Telling lists the variables that can make a command differ from the same words elsewhere:
// those that were declared, those whose value names a path that the command can write, and
// PATH if it has a relative entry. What the profile of the command sets needs no declaration,
// as long as the value is the profile's.
func (p *Plan) Telling() []string {
	list := []string{}
	profile, _ := capability.Profile(p.Profile)
	for _, entry := range p.Env {
		name, value, _ := strings.Cut(entry, "=")
		of, set := profile.Env.Set[name]
		if !(set && of == value) && !usual(entry, name) || p.leads(name, value) {
			list = append(list, name)
		}
	}
	return list
}

// usual reports whether a variable needed no declaration.
func usual(entry, name string) bool {
	own := slices.Concat(passedEnv, toolEnv, proxyVariables, trustVariables)
	if slices.Contains(own, name) || strings.HasPrefix(name, "LC_") || slices.Contains(withoutNetwork, entry) || slices.Contains(withoutRetries, entry) {
		return true
	}
	if strings.HasPrefix(name, "GIT_CONFIG_") { // nobody can declare one: see signingEnv
		return true
	}
	value, set := retryEnv.Get()[name]
	return set && entry == name+"="+value
}

// leads reports whether a list of paths has one that the command can write, outside of its
// private directories. HOME and TMPDIR are exempt.
func (p *Plan) leads(name, value string) bool {
	for path := range strings.SplitSeq(value, ":") {
		switch {
		case strings.HasPrefix(path, "/"):
			at := Covering(p.Paths, filepath.Clean(path))
			if name != "HOME" && name != "TMPDIR" && at.Access == ReadWrite {
				return true
			}
		case name == "PATH":
			return true
		}
	}
	return false
}

func sortedEnv(values map[string]string) []string {
	list := make([]string, 0, len(values))
	for name, value := range values {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func (b *builder) passes(name string) bool {
	if slices.Contains(toolEnv, name) { // some match a pattern of injecting
		return true
	}
	if matches(name, injecting) {
		return false
	}
	if slices.Contains(passedEnv, name) || strings.HasPrefix(name, "LC_") {
		return true
	}
	return slices.Contains(b.set.Env.Pass, name)
}

// defaultPath is the PATH for a caller without one: that of confstr(3), preceded by the
// local directories.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// fixEnv adapts variables to the file system inside.
func (b *builder) fixEnv(values map[string]string) {
	if values["PATH"] == "" {
		values["PATH"] = defaultPath
	}
	values["HOME"] = b.home
	if _, ok := values["TMPDIR"]; ok {
		values["TMPDIR"] = "/tmp"
	}
}

// getenv reads a variable of the caller's environment.
func (b *builder) getenv(name string) string { return Lookup(b.spec.Environ, name) }
