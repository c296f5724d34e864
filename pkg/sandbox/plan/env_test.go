package plan

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/faketree"
)

// environmentOf is what a command gets of an environment.
func environmentOf(t *testing.T, environ []string, declared ...string) map[string]string {
	t.Helper()
	tree := faketree.Tree{}
	tree.File(fakeWork+"/f", "")
	spec := Spec{Argv: []string{"make"}, Dir: fakeWork, Workspace: fakeWork, Environ: append([]string{"HOME=" + fakeHome, "PATH=/usr/bin"}, environ...), Asked: capability.OnProfile("")}
	spec.Env.Pass = declared
	p, err := Build(spec, tree, faketree.User)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, entry := range p.Env {
		name, value, _ := strings.Cut(entry, "=")
		got[name] = value
	}
	return got
}

// TestToolsEnvironment: what an honest user sets for go, npm, cargo, python and make reaches them; what loads code or names another program does not.
func TestToolsEnvironment(t *testing.T) {
	passed := []string{"GOOS=plan9", "GOARCH=arm64", "CGO_ENABLED=0", "GOMAXPROCS=2", "NODE_ENV=production", "CARGO_TARGET_DIR=/w/t", "RUST_BACKTRACE=1", "PYTHONUNBUFFERED=1", "CI=true", "CMAKE_BUILD_TYPE=Debug",
		"npm_config_cache=/c", "LC_TIME=C", "SOURCE_DATE_EPOCH=0", "XDG_CACHE_HOME=/c", "GIT_AUTHOR_NAME=n", "GIT_COMMITTER_EMAIL=n@example.org"}
	kept := []string{"GOFLAGS=-toolexec=/evil", "GOENV=/evil", "CC=/evil", "CFLAGS=-fplugin=/evil.so", "RUSTFLAGS=-Clinker=/evil", "RUSTC_WRAPPER=/evil", "NODE_OPTIONS=--require=/evil", "npm_config_node_options=--require=/evil",
		"PYTHONPATH=/evil", "PYTEST_ADDOPTS=-p evil", "PIP_INDEX_URL=http://evil", "MAKEFLAGS=--eval=x", "LD_PRELOAD=/evil.so", "GIT_SSH_COMMAND=/evil", "GIT_DIR=/evil", "GIT_CONFIG_COUNT=1", "BASH_ENV=/evil", "AWS_SECRET_ACCESS_KEY=k", "GITHUB_TOKEN=k"}
	got := environmentOf(t, slices.Concat(passed, kept))
	for _, entry := range passed {
		if name, value, _ := strings.Cut(entry, "="); got[name] != value {
			t.Errorf("%s did not reach the command: %q", entry, got[name])
		}
	}
	for _, entry := range kept {
		if name, _, _ := strings.Cut(entry, "="); got[name] != "" {
			t.Errorf("%s reached the command", entry)
		}
	}
	if got := environmentOf(t, kept, "CC"); got["CC"] != "/evil" {
		t.Errorf("a declared variable is %q", got["CC"])
	}
	if got := environmentOf(t, passed, "npm_config_cache"); got["npm_config_cache"] != "/c" {
		t.Errorf("a variable of a tool that is declared, too, is %q", got["npm_config_cache"])
	}
}

// TestRecordPassesWhatItNames: a record gets the variables that it names, whether
// or not it says that it needs some; it does not get the caller's others.
func TestRecordPassesWhatItNames(t *testing.T) {
	environ := []string{"HOME=" + fakeHome, "GITHUB_TOKEN=a", "AWS_SECRET_ACCESS_KEY=b", "MY_FLAG=c", "MY_FLAG_TOKEN=d", "CI=true"}
	for _, c := range []struct {
		pass []string
		want string
	}{
		{nil, "CI=true GOPROXY=off HOME=" + fakeHome + " PATH=" + defaultPath},
		{[]string{"GITHUB_TOKEN", "MY_FLAG", "NOT_THERE"}, "CI=true GITHUB_TOKEN=a GOPROXY=off HOME=" + fakeHome + " MY_FLAG=c PATH=" + defaultPath},
	} {
		set := capability.Set{SandboxProfile: "workspace", WritePaths: []string{"."}, RequiresEnv: true}
		set.Env.Pass, set.Env.Set = c.pass, map[string]string{"GOPROXY": "off"}
		tree := faketree.Tree{}
		tree.File(fakeWork+"/f", "")
		spec := Spec{Argv: []string{"make"}, Dir: fakeWork, Workspace: fakeWork, Environ: environ, Asked: capability.Recorded(set)}
		p, err := Build(spec, tree, faketree.User)
		if err != nil {
			t.Fatal(err)
		}
		own := func(entry string) bool {
			return retryEnv.Get()[strings.SplitN(entry, "=", 2)[0]] != "" || slices.Contains(withoutRetries, entry)
		}
		if got := strings.Join(slices.DeleteFunc(p.Env, own), " "); got != c.want {
			t.Errorf("%v:\n have %s\n want %s", c.pass, got, c.want)
		}
	}
}

// TestProfilesNameNoSecretForAll: a variable that a profile lets tools name does
// not reach a command by the profile's name.
func TestProfilesNameNoSecretForAll(t *testing.T) {
	seen := 0
	for _, p := range capability.Profiles() {
		asked := capability.OnProfile(p.Name)
		seen += len(p.Set.Env.Pass)
		if whole := asked.Whole(); len(whole.Env.Pass) > 0 {
			t.Errorf("%s passes %v", p.Name, whole.Env.Pass)
		}
	}
	if seen == 0 {
		t.Error("no profile names a variable")
	}
}

// TestCachesAreFound: a variable that says where a cache is on the host says it to the tool as well, which would look elsewhere.
func TestCachesAreFound(t *testing.T) {
	variable := regexp.MustCompile(`\$\{(\w+)`)
	names := map[string]bool{}
	for _, p := range capability.Profiles() {
		for _, path := range p.Set.CachePaths {
			for _, match := range variable.FindAllStringSubmatch(path, -1) {
				names[match[1]] = true
			}
		}
	}
	if len(names) < 10 {
		t.Fatalf("only %v", names)
	}
	for name := range names {
		if got := environmentOf(t, []string{name + "=/somewhere"}); got[name] != "/somewhere" {
			t.Errorf("%s does not reach the command", name)
		}
	}
}

// TestTellingNamesWhatOthersDeclared: what the profile of the command sets tells nothing, with the value that it sets and where the command cannot
// write; what a declaration or a flag sets, or changes, does.
func TestTellingNamesWhatOthersDeclared(t *testing.T) {
	for _, c := range []struct {
		name, profile string
		set           map[string]string
		pass, write   []string
		want          string
	}{
		{name: "the profile alone", profile: "lint-offline"},
		{name: "a flag repeats it", profile: "lint-offline", set: map[string]string{"PYTEST_ADDOPTS": "-p no:cacheprovider"}},
		{name: "a flag changes a value", profile: "lint-offline", set: map[string]string{"PYTEST_ADDOPTS": "-k nothing"}, want: "PYTEST_ADDOPTS"},
		{name: "a flag moves the cache", profile: "lint-offline", set: map[string]string{"MYPY_CACHE_DIR": fakeWork}, want: "MYPY_CACHE_DIR"},
		{name: "a flag empties it", profile: "lint-offline", set: map[string]string{"RUFF_CACHE_DIR": ""}, want: "RUFF_CACHE_DIR"},
		{name: "the command can write the cache", profile: "lint-offline", write: []string{"/tmp"}, want: "MYPY_CACHE_DIR RUFF_CACHE_DIR"},
		{name: "of another profile", profile: "workspace", set: map[string]string{"PYTEST_ADDOPTS": "-p no:cacheprovider"}, want: "PYTEST_ADDOPTS"},
		{name: "one of its own", profile: "lint-offline", set: map[string]string{"CC": "/evil"}, want: "CC"},
		{name: "one of the caller", profile: "lint-offline", pass: []string{"MY_FLAG"}, want: "MY_FLAG"},
		{name: "one of the caller under its name", profile: "workspace", pass: []string{"PYTEST_ADDOPTS"}, want: "PYTEST_ADDOPTS"},
	} {
		tree := faketree.Tree{}
		tree.File(fakeWork+"/f", "")
		tree.File("/tmp/f", "")
		asked := capability.OnProfile(c.profile)
		asked.Env.Set, asked.Env.Pass, asked.WritePaths = c.set, c.pass, c.write
		environ := []string{"HOME=" + fakeHome, "PATH=/usr/bin", "MY_FLAG=x", "PYTEST_ADDOPTS=-x"}
		p, err := Build(Spec{Argv: []string{"make"}, Dir: fakeWork, Workspace: fakeWork, Environ: environ, Asked: asked}, tree, faketree.User)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := strings.Join(p.Telling(), " "); got != c.want {
			t.Errorf("%s: told %q, want %q", c.name, got, c.want)
		}
	}
}
