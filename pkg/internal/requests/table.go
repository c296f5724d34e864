package requests

import (
	"fmt"
	"strings"
)

// All returns the table. The requests named "plain" of the topic "profiles"
// serve as the basis of comparison for others.
func All() []Request {
	var all []Request
	add := func(topic string, list ...Request) {
		for _, r := range list {
			r.Topic = topic
			all = append(all, r)
		}
	}
	add("profiles", profiles()...)
	add("paths", paths()...)
	for _, t := range topics {
		add(t.name, t.list...)
	}
	add("trees", trees()...)
	add("limits", limits()...)
	return all
}

// profileNames lists all profiles, except that of a whole agent, which needs an
// agent.
var profileNames = []string{"workspace", "lint-offline", "build", "test-loopback", "agent-shell", "agent-network"}

func profiles() (list []Request) {
	for _, name := range profileNames {
		flags := "--profile " + name
		if name == "workspace" {
			flags = ""
		}
		list = append(list,
			Request{Name: name, Profile: name, Flags: flags + " make"},
			Request{Name: name + " without network", Profile: name, Flags: flags + " --net none make"},
			Request{Name: name, Profile: name, Record: `{}`},
			Request{Name: name + " without network", Profile: name, Record: `{"network": {"mode": "none", "allow_domains": []}}`},
		)
	}
	return list
}

// pathLists declares paths for both entrances: r readable, w writable, R not
// readable, W not writable, L allowed within a denied one.
var pathLists = []string{
	"r:/srv/data", "w:/srv/data", "r:/srv/data w:/srv/data", "r:/srv/data w:/srv/data/in", "w:/srv/data r:/srv/data/in", "w:/srv/data r:/srv/data/in w:/srv/data/in/deep",
	"R:secret", "R:secret L:secret/public", "R:secret L:secret/public R:secret/public/cert", "W:src", "W:src w:src/gen", "R:docs r:docs/a R:docs/a/b w:docs/a/b/page", "W:Makefile", "R:Makefile", "R:none", "W:none.d/x",
	"r:/srv/data R:/srv/data/in", "r:/srv/data R:/srv/data/in L:/srv/data/in/deep", "R:/srv/data r:/srv/data/in", "r:/srv", "r:/home/u", "w:/srv R:/srv/more W:/srv/data", "r:~ R:~/.cache L:~/.cache/go-build",
	"r:/srv/none?", "r:none?", "w:none?", "r:/srv/none", "w:out/new", "R:/srv/data", "L:secret", "w:src r:src", "r:.", "W:.", "R:.", "w:.. ", "W:.git", "R:.git", "W:.git/index.lock",
	"r:${DATA:-/srv/data}", "r:${DATA}", "r:/srv/data/../more", "r:./src", "r:/etc/passwd", "R:/etc/passwd", "R:/usr/bin/make", "r:/home/u/.ssh", "R:src W:src", "r:/srv/data r:/srv/data/", "R:new/",
}

// paths returns the lists above as flags and as records; flags cannot express
// "allowed".
func paths() (list []Request) {
	for i, text := range pathLists {
		profile := []string{"workspace", "lint-offline"}[i%2]
		if strings.ContainsAny(text, "w") {
			profile = "workspace"
		}
		if !strings.Contains(text, "L:") {
			list = append(list, Request{Name: text, Profile: profile, Flags: "--profile " + profile + " " + flagsOf(text) + "make"})
		}
		list = append(list, Request{Name: text, Profile: profile, Record: recordOf(text)})
	}
	return list
}

func flagsOf(text string) string {
	names := map[string]string{"r": "--ro", "w": "--rw", "R": "--deny-read", "W": "--deny-write"}
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		kind, path, _ := strings.Cut(word, ":")
		fmt.Fprintf(&b, "%s %s ", names[kind], path)
	}
	return b.String()
}

func recordOf(text string) string {
	names := []struct{ kind, name string }{{"r", "read_paths"}, {"w", "write_paths"}, {"R", "deny_read_paths"}, {"W", "deny_write_paths"}, {"L", "allow_read_within_deny"}}
	var members []string
	for _, n := range names {
		var paths []string
		if n.kind == "w" && strings.Contains(text, "w:") {
			paths = append(paths, `"."`)
		}
		for word := range strings.FieldsSeq(text) {
			if kind, path, _ := strings.Cut(word, ":"); kind == n.kind {
				paths = append(paths, fmt.Sprintf("%q", path))
			}
		}
		if len(paths) > 0 {
			members = append(members, fmt.Sprintf("%q: [%s]", n.name, strings.Join(paths, ", ")))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// trees returns the features that are significant by themselves. Each is
// combined with a command in the workspace, by the entrance and the profile for
// which it matters most.
func trees() (list []Request) {
	for _, name := range []string{
		"no-git", "worktree", "worktree-of-bare", "worktree-inside", "worktree-not-named", "worktree-beside", "worktrees", "submodule", "is-submodule", "is-submodule-of-another", "separate-git", "git-link",
		"git-broken", "git-garbage", "git-bare-bones", "git-config-worktree", "git-closed", "is-bare", "bare-inside", "hooks-link", "hooks-path", "includes", "too-many-includes", "user-git",
		"nested", "nested-deep", "nested-too-deep", "nested-bare-bones", "nested-node-modules", "nested-many", "nested-settings", "nested-loop", "nested-link", "nested-link-out", "nested-locked",
		"claude", "claude-link", "mcp-dangling", "policy", "github", "github-hooks", "all-names",
		"own", "own-file", "own-in-git", "own-both", "own-link", "own-of-another", "git-of-another", "work-of-root", "closed", "closed-other", "no-home", "more-secrets", "socket-inside", "caches",
	} {
		list = append(list, Request{Name: name, Profile: "workspace", Tree: name, Flags: "make"})
		switch {
		case name == "nested-many", name == "nested-deep", name == "nested-node-modules", strings.HasPrefix(name, "git-"):
		case strings.HasPrefix(name, "own"), strings.HasPrefix(name, "all"):
			list = append(list, Request{Name: name, Profile: "workspace", Tree: name, Record: `{}`})
		case strings.Contains(name, "git"), strings.Contains(name, "worktree"), strings.Contains(name, "module"), strings.Contains(name, "nested"):
			list = append(list, Request{Name: name, Profile: "build", Tree: name, Record: `{}`})
		case strings.Contains(name, "bare"), strings.Contains(name, "hooks"):
			list = append(list, Request{Name: name, Profile: "agent-shell", Tree: name, Record: `{}`})
		}
	}
	return list
}

func limits() (list []Request) {
	for _, flags := range []string{"--timeout 90s", "--timeout 10m", "--timeout 0", "--memory 512M", "--memory 2G", "--cpu 50", "--cpu 250", "--pids 7", "--memory 1G --cpu 100 --pids 64 --timeout 5s"} {
		list = append(list, Request{Name: flags, Profile: "workspace", Flags: flags + " make"})
	}
	for _, flags := range []string{"--timeout soon", "--memory much", "--cpu -1", "--pids -1", "--timeout -1s", "--memory 1X --cpu x --pids 3"} {
		list = append(list, Request{Name: flags, Profile: "workspace", Flags: strings.ReplaceAll(strings.ReplaceAll(flags, " -1", "=-1"), " =-", "=-") + " make"})
	}
	for _, member := range []string{`"timeout_seconds": 5`, `"timeout_seconds": 0`, `"memory_mb": 64`, `"cpu_quota_percent": 150`, `"pids": 9`, `"open_files": 99`, `"output_bytes": 4096`, `"memory_mb": 0, "pids": 0, "open_files": 0, "output_bytes": 0`} {
		list = append(list, Request{Name: member, Profile: "workspace", Record: "{" + member + "}"})
	}
	return append(list,
		Request{Name: "in a cgroup", Profile: "workspace", Flags: "--memory 1G --pids 5 make", Machine: "cgroup"},
		Request{Name: "in a cgroup", Profile: "lint-offline", Record: `{"enforce": "cgroup"}`, Machine: "cgroup"},
		Request{Name: "a profile's in a cgroup", Profile: "workspace", Record: `{}`, Machine: "cgroup"})
}
