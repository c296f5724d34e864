package escapes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/kernel/landlock"
)

// bare is a spec in a work space of its own.
func bare(t *testing.T, profile string, argv ...string) sandbox.Spec {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"w/.git/objects", "w/.git/refs", "home"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return sandbox.Spec{Asked: capability.OnProfile(profile), Argv: argv, Dir: base + "/w", Workspace: base + "/w", Environ: []string{"HOME=" + base + "/home", "PATH=/usr/bin:/bin"}, NewSession: true, CloseStdin: true}
}

// TestEveryLayerIsAskedFor writes out what a run has, so that nothing goes away unnoticed where another layer holds the same.
func TestEveryLayerIsAskedFor(t *testing.T) {
	twice(t, func(t *testing.T) {
		t.Run("session", func(t *testing.T) {
			plan, err := sandbox.Build(bare(t, capability.DefaultProfile, "sh", "-c", "cut -d ' ' -f 6 /proc/self/stat"), sandbox.HostFiles{}, os.Geteuid())
			if err != nil {
				t.Fatal(err)
			}
			if _, got, err := sandbox.RunCaptured(context.Background(), plan, nil); err != nil || got.Stdout.Text != "2\n" {
				t.Errorf("the command is in session %q, not in its own: %v", got.Stdout.Text, err)
			}
		})
		t.Run("layers", func(t *testing.T) {
			files := "fs.execute fs.write_file fs.read_file fs.read_dir fs.remove_dir fs.remove_file fs.make_char fs.make_dir fs.make_reg fs.make_sock fs.make_fifo fs.make_block fs.make_sym fs.refer fs.truncate fs.ioctl_dev"
			if kernel, err := landlock.Probe(); err == nil && kernel.ABI >= 9 {
				files += " fs.resolve_unix" // below, connect(2) is judged otherwise
			}
			for profile, rights := range map[string]string{
				capability.DefaultProfile: files + " scope.abstract_unix_socket scope.signal",
				"lint-offline":            files + " net.bind_tcp net.connect_tcp scope.abstract_unix_socket scope.signal",
			} {
				plan, err := sandbox.Build(bare(t, profile, "true"), sandbox.HostFiles{}, os.Geteuid())
				if err != nil {
					t.Fatal(err)
				}
				out, _, err := sandbox.RunCaptured(context.Background(), plan, nil)
				if err != nil || out.Status != record.StatusExited {
					t.Fatalf("%v %s", err, out.Status)
				}
				for _, name := range []string{"userns", "mount", "pid", "ipc", "uts", "cgroupns", "network", "seccomp", "unix_sockets", "privileges", "timeout", "environment"} {
					if got := control(out.Evidence, name).State; got != "enforced" && !(name == "privileges" && strings.Contains(control(out.Evidence, name).Reason, "keyring")) {
						t.Errorf("%s: %s is %s", profile, name, got)
					}
				}
				if got := control(out.Evidence, "landlock").Requested; got != rights {
					t.Errorf("%s: Landlock is asked for\n%s, not\n%s", profile, got, rights)
				}
				limits := control(out.Evidence, "rlimits").Requested
				for _, want := range []string{"CORE=0", "CPU=", "NPROC=", "NOFILE="} {
					if !strings.Contains(limits, want) {
						t.Errorf("%s: no limit %s in %s", profile, want, limits)
					}
				}
			}
		})
	})
}

func control(e record.Sandbox, name string) record.Control {
	i := slices.IndexFunc(e.Controls, func(c record.Control) bool { return c.Name == name })
	if i < 0 {
		return record.Control{}
	}
	return e.Controls[i]
}

// injecting is written out once more: a variable of each rule.
var injecting = strings.Fields(`LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH HOSTALIASES RESOLV_HOST_CONF RES_OPTIONS MALLOC_CHECK_
	BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND BASH_FUNC_ls%% IFS CDPATH ZDOTDIR GIT_SSH_COMMAND GIT_CONFIG_COUNT SSH_ASKPASS SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS
	XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY XAUTHORITY DOCKER_HOST PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONEXECUTABLE PYTHONUSERBASE PYTHONWARNINGS NODE_OPTIONS NODE_PATH
	NODE_REPL_EXTERNAL_MODULE NPM_CONFIG_PREFIX npm_config_prefix PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYOPT RUBYLIB GEM_PATH GEM_HOME JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH LUA_PATH LUA_CPATH_5_4
	LUA_INIT GOFLAGS GOENV CARGO_BUILD_RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTFLAGS RUSTDOCFLAGS MAKEFLAGS GNUMAKEFLAGS MAKEFILES EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER ETHOS_STORE`)

// TestInjectingVariables: none of them reaches a command, not even one that says
// that it needs variables or asks for it by name.
func TestInjectingVariables(t *testing.T) {
	for _, name := range injecting {
		spec := bare(t, capability.DefaultProfile, "true")
		spec.RequiresEnv, spec.Env.Pass = true, []string{"HARMLESS"}
		spec.Environ = append(spec.Environ, name+"=evil", "HARMLESS=yes")
		plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(plan.Env, name+"=evil") || !slices.Contains(plan.Env, "HARMLESS=yes") {
			t.Errorf("%s: %v", name, plan.Env)
		}
		spec.Env.Pass = []string{name}
		var refusal *sandbox.Refusal
		if _, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid()); !errors.As(err, &refusal) || refusal.Hint == "" {
			t.Errorf("%s, asked for: %v", name, err)
		}
	}
}

// TestProtectedByName: each of them is kept out of force in a work space that is
// writable, and every part of git that runs something is read-only in it.
func TestProtectedByName(t *testing.T) {
	spec := bare(t, capability.DefaultProfile, "true")
	build := func() *sandbox.Plan {
		plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	readOnly := func(plan *sandbox.Plan, name string) bool {
		path := filepath.Join(spec.Workspace, name)
		i := slices.IndexFunc(plan.Paths, func(e sandbox.Entry) bool { return e.Path == path })
		return i >= 0 && plan.Paths[i].Access == sandbox.ReadOnly
	}
	plan := build()
	for _, name := range strings.Fields(".git/hooks .git/config .git/config.worktree .git/info/attributes .git/commondir") {
		if !readOnly(plan, name) {
			t.Errorf("%s is not read-only", name)
		}
	}
	const names = `coding_ethos.yml repo_config.yaml .claude .codex .gemini .cursor .opencode .mcp.json opencode.json opencode.jsonc .agents .vscode .idea .github/hooks`
	for _, name := range strings.Fields(names) {
		if !slices.ContainsFunc(plan.ProtectedNames, func(w sandbox.ProtectedNames) bool { return w.Dir == spec.Workspace && slices.Contains(w.Names, name) }) {
			t.Errorf("%s is not watched", name)
		}
		if err := os.MkdirAll(filepath.Join(spec.Workspace, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	plan = build()
	for _, name := range strings.Fields(names) {
		if !readOnly(plan, name) {
			t.Errorf("%s exists and is not read-only", name)
		}
	}
}
