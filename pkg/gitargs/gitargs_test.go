package gitargs

import (
	"slices"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// entries is a Config of "key=value" lines.
type entries []string

func (e entries) Each(f func(key, value string)) {
	for _, line := range e {
		key, value, _ := strings.Cut(line, "=")
		f(key, value)
	}
}

func (e entries) All(key string) []string {
	var out []string
	e.Each(func(k, v string) {
		if k == key {
			out = append(out, v)
		}
	})
	return out
}

// without leaves out the keys that others set.
func (e entries) without(others []string) entries {
	return slices.DeleteFunc(e, func(line string) bool {
		key, _, _ := strings.Cut(line, "=")
		return slices.ContainsFunc(others, func(o string) bool { return strings.HasPrefix(o, key+"=") })
	})
}

// work is a repository on the branch feature, which follows origin/feature.
func work(config ...string) Context {
	base := entries{"remote.origin.url=/srv/origin.git", "branch.feature.remote=origin", "branch.feature.merge=refs/heads/feature",
		"branch.main.remote=origin", "branch.main.merge=refs/heads/main"}
	return Context{
		Repo: record.Repo{Root: "/w", GitDir: "/w/.git", CommonDir: "/w/.git", Branch: "feature", Upstream: "origin/feature",
			Remotes: []string{"origin"}, ProtectedBranches: []string{"main", "master", "release/*"}},
		Config: append(base.without(config), config...),
		Refs:   &Refs{Branches: []string{"feature", "main", "topic"}, Tags: []string{"v1"}, Remote: []string{"origin/main", "origin/feature", "origin/elsewhere"}},
	}
}

// line splits a command as an alias body is split.
func line(t testing.TB, s string) []*string {
	t.Helper()
	split, err := splitAlias(s)
	if err != "" {
		t.Fatalf("%s: %s", s, err)
	}
	return Words(split...)
}

func list(items []string) string { return strings.Join(items, " ") }

func TestDangers(t *testing.T) {
	for _, tt := range dangerCases {
		got := Read(line(t, tt.line), work(tt.config...)).Git
		want := strings.Fields(tt.dangers)
		slices.Sort(want)
		if list(got.Dangers) != list(want) {
			t.Errorf("%s\n  dangers %q\n  want    %q", tt.line, list(got.Dangers), list(want))
		}
	}
}

func TestClass(t *testing.T) {
	for _, tt := range classCases {
		if got := Read(line(t, tt.line), work()).Git; list(got.Class) != tt.class {
			t.Errorf("%s\n  class %q\n  want  %q", tt.line, list(got.Class), tt.class)
		}
	}
}

func TestTargets(t *testing.T) {
	for _, tt := range targetCases {
		ctx := work(tt.config...)
		if tt.detached {
			ctx.Repo.Branch, ctx.Repo.Upstream, ctx.Repo.Detached = "", "", true
		}
		got := Read(line(t, tt.line), ctx)
		if list(got.Git.BranchTargets) != tt.targets || list(got.Incomplete) != tt.incomplete {
			t.Errorf("%s %v\n  targets %q incomplete %q\n  want    %q incomplete %q", tt.line, tt.config,
				list(got.Git.BranchTargets), list(got.Incomplete), tt.targets, tt.incomplete)
		}
	}
}

func TestWrites(t *testing.T) {
	for _, tt := range writeCases {
		var got []string
		for _, w := range Read(line(t, tt.line), work()).Writes {
			got = append(got, w.Op+":"+w.Path)
		}
		if list(got) != tt.writes {
			t.Errorf("%s\n  writes %q\n  want   %q", tt.line, list(got), tt.writes)
		}
	}
}

func TestRuns(t *testing.T) {
	for _, tt := range runCases {
		var got []string
		for _, r := range Read(line(t, tt.line), work(tt.config...)).Runs {
			s := r.Script
			for _, w := range r.Argv {
				s += "|" + text(w)
			}
			got = append(got, s)
		}
		if list(got) != tt.runs {
			t.Errorf("%s %v\n  runs %q\n  want %q", tt.line, tt.config, list(got), tt.runs)
		}
	}
}

func assign(entry string) record.Assignment {
	name, value, ok := strings.Cut(entry, "=")
	if !ok {
		return record.Assignment{Name: name}
	}
	return record.Assignment{Name: name, Value: &value}
}

func TestEnvironment(t *testing.T) {
	for _, tt := range envCases {
		ctx := work()
		ctx.Env = []record.Assignment{assign(tt.env)}
		if got := Read(line(t, tt.line), ctx).Git; list(got.Dangers) != tt.dangers {
			t.Errorf("%s %s\n  dangers %q\n  want    %q", tt.env, tt.line, list(got.Dangers), tt.dangers)
		}
	}
}

func TestConfigCount(t *testing.T) {
	ctx := work()
	for _, e := range []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/x", "GIT_CONFIG_KEY_1=push.default", "GIT_CONFIG_VALUE_1=matching"} {
		ctx.Env = append(ctx.Env, assign(e))
	}
	got := Read(line(t, "git push"), ctx).Git
	if list(got.Dangers) != "config_hooks_path hook_bypass push_protected_branch" || list(got.BranchTargets) != "feature main topic" {
		t.Errorf("dangers %q targets %q", got.Dangers, got.BranchTargets)
	}
}

// TestDynamic reads commands in which a word is not static.
func TestDynamic(t *testing.T) {
	static := func(s string) *string { return &s }
	for _, tt := range []struct {
		argv                []*string
		dangers, incomplete string
	}{
		{[]*string{static("git"), nil}, "", "unresolved_command"},
		{[]*string{static("git"), static("push"), static("origin"), nil}, "", "git_target_unresolved"},
		{[]*string{static("git"), static("push"), static("-f"), static("origin"), nil}, "force_push force_push_protected", "git_target_unresolved"},
		{[]*string{static("git"), static("commit"), static("-m"), nil}, "", ""},
		{[]*string{static("git"), static("-c"), nil, static("status")}, "config_exec inline_alias", "unresolved_command"},
		{[]*string{static("git"), static("-C"), nil, static("status")}, "change_dir", ""},
		{[]*string{static("git"), static("config"), static("core.hooksPath"), nil}, "config_hooks_path hook_bypass", ""},
		{[]*string{static("git"), static("stash"), nil}, "", "unresolved_command"},
		{[]*string{static("git"), static("--config-env=remote.origin.push=V"), static("push")}, "", "unresolved_command"},
		{[]*string{static("git"), static("--config-env=http.extraHeader=V"), static("push")}, "", ""},
	} {
		r := Read(tt.argv, work())
		if list(r.Git.Dangers) != tt.dangers || list(r.Incomplete) != tt.incomplete {
			t.Errorf("%v: dangers %q incomplete %q, want %q %q", tt.argv, r.Git.Dangers, r.Incomplete, tt.dangers, tt.incomplete)
		}
	}
}

// TestAfter reads two commands in a row: the second in the state that the first leaves.
func TestAfter(t *testing.T) {
	for _, tt := range []struct{ first, second, dangers string }{
		{"git checkout main", "git push -f", "force_push force_push_protected push_protected_branch"},
		{"git switch -c main", "git push -f", "force_push force_push_protected push_protected_branch"},
		{"git branch -m main", "git push -f", "force_push force_push_protected push_protected_branch"},
		{"git checkout topic", "git push -f", "force_push"},
		{"git checkout -", "git push -f", "force_push force_push_protected"},
		{"git config alias.p 'push -f origin main'", "git p", "force_push force_push_protected push_protected_branch"},
		{"git config remote.origin.push +HEAD:main", "git push", "force_push force_push_protected push_protected_branch"},
		{"git status", "git push -f", "force_push"},
	} {
		ctx := work()
		ctx = Read(line(t, tt.first), ctx).After(ctx)
		if got := Read(line(t, tt.second), ctx).Git; list(got.Dangers) != tt.dangers {
			t.Errorf("%s; %s\n  dangers %q\n  want    %q", tt.first, tt.second, list(got.Dangers), tt.dangers)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"*", "main", true}, {"main", "*", true}, {"release/*", "rel*", true}, {"topic/*", "main", false}, {"a*b", "ac*b", true},
		{"a*c", "b*c", false}, {"?ain", "main", true}, {"*x", "y*", true}, {"a", "b", false}, {"*", "", true},
		{"main", "maint", false}, {"release/*", "release/1/2", true}, {"v?", "v1", true}, {"v?", "v", false}, {"*-stable", "x-stable", true}, {"", "", true},
	} {
		if got := overlap(tt.a, tt.b); got != tt.want {
			t.Errorf("overlap(%q, %q) = %v", tt.a, tt.b, got)
		}
	}
}

// TestTablesHaveNoDuplicates keeps the tables free of duplicates, which lookup would hide.
func TestTablesHaveNoDuplicates(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range tables() {
		for _, c := range table {
			if seen[c.name] {
				t.Errorf("%q stands twice", c.name)
			}
			seen[c.name] = true
			if c.class == "" {
				t.Errorf("%q has no class", c.name)
			}
			if c.subs != "" && c.subs != "-" && lookup(c.name+" "+c.subs) == nil {
				t.Errorf("%q: no entry for its default %q", c.name, c.subs)
			}
		}
	}
}

// FuzzRead holds that any words are read without a panic, in bounded time, and that lists are never nil.
func FuzzRead(f *testing.F) {
	for _, tt := range dangerCases {
		f.Add(tt.line)
	}
	for _, tt := range targetCases {
		f.Add(tt.line)
	}
	f.Add("git commit -\x81n")
	f.Fuzz(func(t *testing.T, s string) {
		split, err := splitAlias(s)
		if err != "" || len(split) == 0 {
			return
		}
		r := Read(Words(split...), work("alias.x="+s))
		if r.Git.Args == nil || r.Git.Class == nil || r.Git.Dangers == nil || r.Writes == nil || r.Runs == nil {
			t.Fatal("a list is nil")
		}
	})
}
