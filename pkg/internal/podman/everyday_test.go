//go:build podman && linux

package podman

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// everyday is what a person does; it prints a line for each thing: "ok NAME", or "failed NAME: " and what was said.
//
//go:embed testdata/everyday.sh
var everyday string

// withoutProc is what no command has where the engine covers parts of /proc.
var withoutProc = map[string]string{"processes": "", "whole": "systempaths=unconfined"}

// covered adds to what fails where parts of /proc are covered.
func covered(more ...string) map[string]string {
	fails := map[string]string{"view": "--volume /var/tmp"}
	for name, said := range withoutProc {
		fails[name] = said
	}
	for pair := range slices.Chunk(more, 2) {
		fails[pair[0]] = pair[1]
	}
	return fails
}

// scenes are containers, and what fails in each, with a part of what is said. Everything else must succeed.
var scenes = []struct {
	name    string
	options []string
	users   []string
	need    string
	fails   map[string]string
}{
	{"default", nil, users, "", covered()},
	{"unmask", []string{"--security-opt", "unmask=ALL"}, users, "", map[string]string{"view": "--volume /var/tmp"}},
	{"privileged", []string{"--privileged"}, users, "", map[string]string{"view": "--volume /var/tmp"}},
	{"volume", []string{"--volume", "/var/tmp"}, users, "", withoutProc},
	{"read-only", []string{"--read-only"}, users, "", covered("session", "XDG_STATE_HOME", "view", "XDG_STATE_HOME")},
	{"read-only with a state folder", []string{"--read-only", "--env", "XDG_STATE_HOME=/tmp/state"}, users, "", withoutProc},
	{"no capability", []string{"--cap-drop=all", "--security-opt", "no-new-privileges"}, users[1:], "", covered()},
	{"one capability", []string{"--cap-drop=all", "--cap-add=SETFCAP"}, users[:1], "", covered("landlock", "--cap-add=SETPCAP")},
	{"two capabilities", []string{"--cap-drop=all", "--cap-add=SETFCAP", "--cap-add=SETPCAP"}, users[:1], "", covered()},
	{"network of the host", []string{"--network", "host"}, users, "", covered()},
	{"keep-id", []string{"--userns", "keep-id"}, users, probetest.User, covered()},
}

// TestEveryday does in each container what a person does there.
func TestEveryday(t *testing.T) {
	for _, s := range scenes {
		for _, user := range s.users {
			t.Run(s.name+"/"+user, func(t *testing.T) {
				t.Parallel()
				if s.need != "" {
					probetest.Need(t, s.need)
				}
				said := lived(t, s.options, user)
				for name, text := range said {
					want, fails := s.fails[name]
					if fails == (text == "ok") || fails && !strings.Contains(text, want) {
						t.Errorf("%s: %s, want %q", name, text, want)
					}
				}
			})
		}
	}
}

// TestRootWithoutCapabilities: root that cannot map itself is told what to do, nothing runs, and the backend without namespaces runs.
func TestRootWithoutCapabilities(t *testing.T) {
	for name, text := range lived(t, []string{"--cap-drop=all"}, "root") {
		switch {
		case name == "landlock" && text != "ok":
			t.Errorf("%s: %s", name, text)
		case slices.Contains([]string{"run", "session", "shell", "pipe"}, name) && !strings.Contains(text, "--cap-add=SETFCAP"):
			t.Errorf("%s: %s", name, text)
		}
	}
}

// lived is what everyday said in a container: by name, "ok" or why not.
func lived(t *testing.T, options []string, user string) map[string]string {
	t.Helper()
	e := needPodman(t)
	cmd := e.container(slices.Concat(programs(t), options), user, "sh", "-c", everyday)
	out, err := output(t, cmd)
	said := map[string]string{}
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name, text, _ := strings.Cut(rest, ":"); word {
		case "ok":
			said[name] = "ok"
		case "failed":
			said[name] = text
		}
	}
	if err != nil || len(said) != strings.Count(everyday, "\ntry ") {
		t.Fatalf("%v: it did not come to its end: %s", err, out)
	}
	return said
}
