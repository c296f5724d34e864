package requests

import (
	"fmt"

	"ethos/pkg/internal/faketree"
)

type tree = faketree.Tree

// authority has the form of a certificate and a key; a plan looks no further.
const authority = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\nb3BlbiB0byBhbGw=\n-----END CERTIFICATE-----\n"

// plain creates the file system of every request: a machine, a home directory
// with credentials and caches, and a git work tree.
func plain(t tree) {
	for _, name := range []string{"sh", "bash", "make", "git", "go", "env", "true"} {
		t.File("/usr/bin/"+name, "")
	}
	t.Link("/bin", "usr/bin")
	t.Link("/lib", "usr/lib")
	t.File("/usr/lib/libc.so", "")
	t.Dir("/usr/local/bin")
	t.File("/etc/passwd", "root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\n")
	t.Secret("/etc/shadow")
	t.File("/etc/ssl/private/key", "")
	t.File("/opt/ethos/ethos-git", "")
	t.File("/opt/ethos/ethos-decide", "")
	t.File("/opt/ethos/ethos-cel", "")
	t.File("/proc/keys", "")
	t.Secret("/proc/timer_list")
	t.Dir("/proc/fs/cifs")
	t.Dir("/proc/self")
	t.Dir("/dev/shm")
	t.Dir("/run/lock")
	t.Dir("/root")
	t.File(Home+"/.ssh/id", "")
	t.File(Home+"/.netrc", "")
	t.File(Home+"/.gitconfig", "[user]\n\tname = u\n")
	t.File(Home+"/.bashrc", "")
	t.File(Home+"/.cache/go-build/00/kept", "")
	t.File(Home+"/go/pkg/mod/cache/lock", "")
	t.File(Home+"/go/bin/gopls", "")
	t.File(Home+"/.npm/_cacache/x", "")
	t.File("/srv/data/in/deep/file", "")
	t.File("/srv/data/other", "")
	t.File("/srv/more/f", "")
	t.File(Work+"/Makefile", "")
	t.File(Work+"/src/main.go", "")
	t.File(Work+"/src/gen/out.go", "")
	t.File(Work+"/secret/key", "")
	t.File(Work+"/secret/public/cert", "")
	t.File(Work+"/docs/a/b/page", "")
	gitDir(t, Work+"/.git")
}

func gitDir(t tree, dir string) {
	t.File(dir+"/HEAD", "ref: refs/heads/main\n")
	t.File(dir+"/objects/pack/p", "")
	t.File(dir+"/refs/heads/main", "")
	t.File(dir+"/config", "[core]\n\tbare = false\n")
	t.File(dir+"/hooks/pre-commit.sample", "")
	t.Dir(dir + "/info")
}

func worktree(t tree, at, repository, name string) {
	t.Remove(at + "/.git")
	gitDir(t, repository)
	dir := repository + "/worktrees/" + name
	t.File(at+"/.git", "gitdir: "+dir+"\n")
	t.File(dir+"/gitdir", at+"/.git\n")
	t.File(dir+"/commondir", "../..\n")
	t.File(dir+"/HEAD", "ref: refs/heads/side\n")
}

// features lists what the file system may contain in addition.
var features = map[string]func(tree){
	"no-git":  func(t tree) { t.Remove(Work + "/.git") },
	"no-home": func(t tree) { t.Remove(Home + "/.gitconfig"); t.Remove(Home + "/.ssh") },

	"worktree":         func(t tree) { worktree(t, Work, Home+"/repo/.git", "w") },
	"worktree-of-bare": func(t tree) { worktree(t, Work, "/srv/more/repo.git", "w") },
	"worktree-inside":  func(t tree) { worktree(t, Work, Work+"/.bare", "main") },
	"worktree-not-named": func(t tree) {
		worktree(t, Work, Home+"/repo/.git", "w")
		t.File(Home+"/repo/.git/worktrees/w/gitdir", "/elsewhere/.git\n")
	},
	"worktree-beside": func(t tree) { worktree(t, Work+"/side", Work+"/.git2", "side") },
	"worktrees": func(t tree) {
		dir := Work + "/.git/worktrees/side"
		t.File(dir+"/gitdir", "/srv/side/.git\n")
		t.File(dir+"/commondir", "../..\n")
		t.File(dir+"/HEAD", "")
	},
	"submodule": func(t tree) {
		gitDir(t, Work+"/.git/modules/lib/one")
		t.File(Work+"/lib/one/.git", "gitdir: ../../.git/modules/lib/one\n")
	},
	"is-submodule": func(t tree) {
		t.Remove(Work + "/.git")
		gitDir(t, Home+"/super/.git/modules/w")
		t.File(Home+"/super/.git/modules/w/config", "[core]\n\tworktree = /home/u/w\n")
		t.File(Work+"/.git", "gitdir: ../super/.git/modules/w\n")
	},
	"is-submodule-of-another": func(t tree) {
		t.Remove(Work + "/.git")
		gitDir(t, Home+"/super/.git/modules/w")
		t.File(Home+"/super/.git/modules/w/config", "[core]\n\tworktree = ../../../other\n")
		t.File(Work+"/.git", "gitdir: ../super/.git/modules/w\n")
	},
	"separate-git": func(t tree) {
		t.Remove(Work + "/.git")
		gitDir(t, Home+"/gits/w.git")
		t.File(Work+"/.git", "gitdir: "+Home+"/gits/w.git\n")
	},
	"git-link": func(t tree) {
		t.Remove(Work + "/.git")
		gitDir(t, Work+"/real.git")
		t.Link(Work+"/.git", "real.git")
	},
	"git-broken":  func(t tree) { t.Remove(Work + "/.git"); t.File(Work+"/.git", "gitdir: nowhere\n") },
	"git-garbage": func(t tree) { t.Remove(Work + "/.git"); t.File(Work+"/.git", "hello\n") },
	"git-bare-bones": func(t tree) {
		t.Remove(Work + "/.git/hooks")
		t.Remove(Work + "/.git/info")
		t.Remove(Work + "/.git/config")
	},
	"git-config-worktree": func(t tree) {
		t.File(Work+"/.git/config.worktree", "[core]\n\tfsmonitor = src/watch\n")
		t.File(Work+"/src/watch", "")
	},
	"git-closed":  func(t tree) { t.Remove(Work + "/.git/info"); t.ClosedDir(Work + "/.git/info") },
	"is-bare":     func(t tree) { t.Remove(Work + "/.git"); gitDir(t, Work) },
	"bare-inside": func(t tree) { gitDir(t, Work+"/vendor/lib.git") },
	"hooks-link": func(t tree) {
		t.Remove(Work + "/.git/hooks")
		t.Link(Work+"/.git/hooks", "../githooks")
		t.File(Work+"/githooks/pre-commit", "")
	},
	"hooks-path": func(t tree) {
		t.File(Work+"/.git/config", "[core]\n\thooksPath = .husky\n[include]\n\tpath = ../extra\n[alias]\n\tx = !src/tool --flag\n[filter \"lfs\"]\n\tclean = /srv/data/other %f\n")
		t.File(Work+"/.husky/pre-commit", "")
		t.File(Work+"/src/tool", "")
	},
	"includes": func(t tree) {
		t.File(Work+"/.git/config", "[include]\n\tpath = ../a.inc\n")
		t.File(Work+"/a.inc", "[include]\n\tpath = b.inc\n[core]\n\tpager = src/main.go\n")
		t.File(Work+"/b.inc", "[include]\n\tpath = a.inc\n")
	},
	"too-many-includes": func(t tree) {
		for n := range 70 {
			t.File(fmt.Sprintf("%s/inc/%d", Work, n), fmt.Sprintf("[include]\n\tpath = %d\n", n+1))
		}
		t.File(Work+"/.git/config", "[include]\n\tpath = ../inc/0\n")
	},
	"user-git": func(t tree) {
		t.File(Home+"/.gitconfig", "[core]\n\tfsmonitor = src/watch\n[include]\n\tpath = ~/w/conf/git\n")
		t.File(Home+"/.config/git/config", "[core]\n\thooksPath = ~/w/hooks\n")
		t.File(Home+"/.config/git/credentials", "")
		t.File(Work+"/src/watch", "")
		t.File(Work+"/conf/git", "")
		t.Dir(Work + "/hooks")
	},

	"nested":              func(t tree) { gitDir(t, Work+"/sub/.git") },
	"nested-deep":         func(t tree) { gitDir(t, Work+"/a/b/c/d/.git"); gitDir(t, Work+"/a/b/e/.git") },
	"nested-too-deep":     func(t tree) { gitDir(t, Work+"/1/2/3/4/5/6/7/8/9/10/11/12/.git") },
	"nested-bare-bones":   func(t tree) { t.File(Work+"/sub/.git/HEAD", "") },
	"nested-node-modules": func(t tree) { gitDir(t, Work+"/node_modules/x/.git"); t.File(Work+"/node_modules/x/.mcp.json", "") },
	"nested-many": func(t tree) {
		for n := range 26 {
			t.File(fmt.Sprintf("%s/many/%02d/.git/HEAD", Work, n), "")
			t.File(fmt.Sprintf("%s/many/%02d/.vscode/tasks.json", Work, n), "")
		}
	},
	"nested-settings": func(t tree) {
		t.File(Work+"/a/.claude/settings.json", "")
		t.File(Work+"/a/b/coding_ethos.yml", "")
		t.File(Work+"/a/.idea/x", "")
	},
	"nested-loop":     func(t tree) { t.Link(Work+"/sub/.git", "other"); t.Link(Work+"/sub/other", ".git") },
	"nested-link":     func(t tree) { t.Link(Work+"/sub/.git", "../src"); t.Link(Work+"/sub/.claude", "../docs/a") },
	"nested-link-out": func(t tree) { t.Link(Work+"/sub/.claude", "/srv/data"); t.Link(Work+"/sub/.git", "/srv/more") },
	"nested-locked":   func(t tree) { t.LockedDir(Work + "/locked") },
	"work-locked":     func(t tree) { t.LockedDir("/srv/locked") },

	"claude":       func(t tree) { t.File(Work+"/.claude/settings.json", "") },
	"claude-link":  func(t tree) { t.Link(Work+"/.claude", "conf/claude"); t.File(Work+"/conf/claude/settings.json", "") },
	"mcp-dangling": func(t tree) { t.Link(Work+"/.mcp.json", "not/there") },
	"policy":       func(t tree) { t.File(Work+"/coding_ethos.yml", ""); t.File(Work+"/repo_config.yaml", "") },
	"github":       func(t tree) { t.File(Work+"/.github/workflows/ci.yml", "") },
	"github-hooks": func(t tree) { t.File(Work+"/.github/hooks/x.json", "") },
	"all-names": func(t tree) {
		for _, name := range []string{".mcp.json", ".codex/config.toml", ".gemini/settings.json", ".cursor/mcp.json", ".opencode/plugin/x", "opencode.json", "opencode.jsonc", ".agents/x", ".vscode/tasks.json", ".idea/x"} {
			t.File(Work+"/"+name, "")
		}
	},

	"own":            func(t tree) { t.File(Work+"/.coding-ethos/traces/1", "") },
	"own-file":       func(t tree) { t.File(Work+"/.coding-ethos", "") },
	"own-in-git":     func(t tree) { t.File(Work+"/.git/coding-ethos/placeholders", "") },
	"own-both":       func(t tree) { t.File(Work+"/.coding-ethos/x", ""); t.File(Work+"/.git/coding-ethos/placeholders", "") },
	"own-link":       func(t tree) { t.Link(Work+"/.coding-ethos", "/srv/more") },
	"own-of-another": func(t tree) { t.File(Work+"/.coding-ethos/x", ""); t.Own(Work+"/.coding-ethos", 7) },
	"git-of-another": func(t tree) { t.Own(Work+"/.git", 7) },
	"work-of-root":   func(t tree) { t.Own(Work, 0) },

	"work-closed":  func(t tree) { t.Remove(Work + "/.git"); t.Remove(Work + "/src"); t.Remove(Work); t.ClosedDir(Work) },
	"closed":       func(t tree) { t.ClosedDir(Work + "/shut") },
	"closed-other": func(t tree) { t.ClosedDir(Work + "/shut"); t.Own(Work+"/shut", 7) },
	"link-out":     func(t tree) { t.Link(Work+"/out", "/srv/data"); t.Link(Work+"/key", "/home/u/.ssh/id") },
	"link-in":      func(t tree) { t.Link("/srv/link", "/home/u/w/src"); t.Link(Work+"/s", "src") },
	"link-loop":    func(t tree) { t.Link(Work+"/x", "y"); t.Link(Work+"/y", "x") },
	"work-by-link": func(t tree) { t.Link("/srv/w", Work) },

	"resolver": func(t tree) {
		t.Link("/etc/resolv.conf", "../run/systemd/resolve/stub-resolv.conf")
		t.File("/run/systemd/resolve/stub-resolv.conf", "nameserver 10.0.0.53\nsearch corp.example lan\n")
		t.File("/etc/hosts", "127.0.0.1 localhost\n")
	},
	"authority": func(t tree) {
		t.File("/srv/authority.pem", authority)
		t.File(Work+"/own.pem", authority)
		t.Link(Work+"/link.pem", "/srv/authority.pem")
		t.File("/etc/ssl/certs/ca-certificates.crt", "the system's\n")
		t.Link("/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem")
		t.File("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "the system's as well")
	},
	"socket":        func(t tree) { t.Socket("/srv/run/db.sock") },
	"socket-docker": func(t tree) { t.Socket("/run/docker.sock"); t.Link("/var/run", "/run") },
	"socket-inside": func(t tree) { t.Socket(Work + "/tmp/app.sock"); t.Socket(Work + "/app.sock") },
	"socket-deep": func(t tree) {
		t.Socket("/srv/data/1/2/3/4/5/deep.sock")
		t.Socket("/srv/data/1/2/near.sock")
		t.Socket("/srv/data/node_modules/x.sock")
	},
	"sockets-many": func(t tree) {
		for n := range 600 {
			t.Dir(fmt.Sprintf("/srv/data/d%03d", n))
		}
		t.Socket("/srv/data/d599/x.sock")
	},
	"socket-link": func(t tree) { t.Socket("/srv/run/db.sock"); t.Link("/srv/run/current", "db.sock") },

	"caches": func(t tree) {
		for _, dir := range []string{".cache/golangci-lint", ".cache/staticcheck", ".cache/pip", ".cache/uv", ".cache/pre-commit", ".cache/pypoetry", ".cache/ruff", ".cache/yarn", ".cache/pnpm", ".cache/node",
			".bun/install/cache", ".cargo/registry", ".cargo/git", ".terraform-plugin-cache", ".gradle/caches", ".m2/repository", ".cache/ccache"} {
			t.File(Home+"/"+dir+"/x", "")
		}
	},
	"cache-elsewhere": func(t tree) { t.File("/srv/cache/go/00/x", "") },
	"cache-file":      func(t tree) { t.Remove(Home + "/.npm"); t.File(Home+"/.npm", "") },
	"cache-link":      func(t tree) { t.Remove(Home + "/.npm"); t.Link(Home+"/.npm", "/srv/more") },

	"state":      func(t tree) { t.File(Home+"/.local/state/ethos/trust/entry", "") },
	"state-link": func(t tree) { t.File("/srv/state/ethos/x", ""); t.Link(Home+"/.local/state/ethos", "/srv/state/ethos") },
	"state-file": func(t tree) { t.File(Home+"/.local/state/ethos", "") },
	"local":      func(t tree) { t.Dir(Home + "/.local/share") },
	"tools": func(t tree) {
		t.File(Home+"/.cargo/bin/cargo", "")
		t.Dir(Home + "/.rustup")
		t.File(Home+"/.pyenv/shims/python", "")
		t.File(Home+"/.local/bin/x", "")
		t.File("/srv/jdk/bin/java", "")
		t.File("/srv/jdk/lib/modules", "")
		t.File("/srv/tool/bin/t", "")
	},
	"seccomp": func(t tree) {
		t.File("/srv/filter.json", filter)
		t.File(Work+"/filter.json", filter)
		t.File("/srv/broken.json", "{")
	},
	"more-secrets": func(t tree) {
		for _, name := range []string{".aws/credentials", ".gnupg/x", ".kube/config", ".docker/config.json", ".npmrc", ".config/gh/hosts.yml", ".claude.json", ".claude/.credentials.json", ".codex/auth.json"} {
			t.File(Home+"/"+name, "")
		}
		for _, name := range []string{"/etc/sudoers", "/etc/ssh/ssh_host_rsa_key", "/etc/krb5.keytab"} {
			t.Secret(name)
		}
		t.File("/etc/docker/key.json", "")
		t.File("/proc/cmdline", "")
		t.Dir("/proc/acpi")
	},
}

// filter is a profile in the OCI form.
const filter = `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["ptrace", "personality"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}, {"names": ["socket"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 0, "value": 16, "op": "SCMP_CMP_EQ"}]}]}`
