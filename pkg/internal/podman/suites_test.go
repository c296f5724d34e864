//go:build podman && linux

package podman

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/escapes"
)

// The users inside.
var users = []string{"root", "1000:1000"}

// commands are the programs of the image that tests need.
const commands = "command:bash,command:dash,command:curl,command:git,command:ip,command:setsid,command:busybox"

// unconfined are the options of a container whose engine neither covers /proc nor filters system calls.
var unconfined = []string{"--security-opt", "unmask=ALL", "--security-opt", "seccomp=unconfined"}

// suite runs tests of a package in a container and returns what they printed. A need of what the container is to have must be met.
func suite(t *testing.T, user, pkg, pattern string, options []string, require string) string {
	t.Helper()
	e := needPodman(t)
	options = slices.Concat(programs(t), options, []string{"--workdir", "/src/" + pkg, "--env", "ETHOS_REQUIRE=userns,seccomp,landlock," + commands + require,
		"--env", "ETHOS_TEST_PROGRAMS=/ethos", "--env", "ETHOS_TEST_CONTROLS=off"})
	out, err := output(t, e.container(options, user, "/src/"+pkg+"/test", "-test.v", "-test.timeout="+patience.String(), "-test.run="+pattern))
	passed := strings.Count(out, "--- PASS")
	t.Logf("%d passed, %d skipped", passed, strings.Count(out, "--- SKIP"))
	if err != nil || passed == 0 {
		t.Fatalf("%v\n%s", err, essence(out))
	}
	return out
}

// uninteresting is a line of what passed, and of progress.
var uninteresting = regexp.MustCompile(`(?m)^(=== .*| *--- PASS.*)\n`)

func essence(output string) string { return uninteresting.ReplaceAllString(output, "") }

// TestAttacks runs every attack: by the engine's defaults those that such a container leaves a meaning, and all where it covers and filters nothing.
// That each attack bites unconfined is shown outside.
func TestAttacks(t *testing.T) {
	for name, c := range map[string]struct {
		options []string
		lacks   []string
		require string
	}{
		"default":    {nil, []string{"proc", "unfiltered", "upper"}, ""},
		"unconfined": {unconfined, []string{"upper"}, ",proc,unfiltered"},
	} {
		for _, user := range users {
			t.Run(name+"/"+user, func(t *testing.T) {
				t.Parallel()
				who := map[bool]string{true: "root", false: "user"}[user == "root"]
				out := suite(t, user, "pkg/internal/escapes", "^TestEscapes$/^"+who+"$", c.options, c.require)
				for _, name := range attacks(t, who, c.lacks) {
					if !strings.Contains(out, "--- PASS: TestEscapes/"+who+"/"+name+" ") {
						t.Errorf("the attack %s did not run", name)
					}
				}
			})
		}
	}
}

// attacks are the names of those for root, or for an ordinary user, that need nothing a container lacks.
func attacks(t *testing.T, who string, lacks []string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "testdata/escapes/*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no attacks, %v", err)
	}
	lacking := func(need string) bool {
		other := strings.HasPrefix(need, "command:") && !slices.Contains(strings.Split(commands, ","), need)
		return other || strings.HasPrefix(need, "landlock-abi-") || slices.Contains(lacks, need)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := escapes.Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if (c.As == "" || c.As == who) && !slices.ContainsFunc(c.Needs, lacking) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// TestEgress runs real clients against real servers through the sandbox by name, in a container with the engine's defaults. A container beside it has
// given the network that both share its addresses.
func TestEgress(t *testing.T) {
	const pkg = "pkg/internal/egressclients"
	for _, user := range users {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			e := needPodman(t)
			world := t.TempDir()
			network := startNetwork(t, e, world, "/src/"+pkg+"/test")
			out := suite(t, user, pkg, ".", []string{
				"--network", "container:" + network,
				"--volume", filepath.Join(world, "resolv.conf") + ":/etc/resolv.conf:ro", "--volume", filepath.Join(world, "hosts") + ":/etc/hosts:ro",
				"--env", "ETHOS_TEST_WORLD_STAGE=inside", "--env", "ETHOS_TEST_WORLD_PROGRAM=/ethos/ethos-sandbox",
			}, "")
			for _, name := range []string{"TestClients/curl", "TestClients/git_https", "TestClients/static", "TestNothingElse", "TestRebinding"} {
				if !strings.Contains(out, "--- PASS: "+name+" ") {
					t.Errorf("%s did not run", name)
				}
			}
		})
	}
}

// startNetwork starts the container that has the network of the world, and returns its name. Its capability is what it takes to add addresses, which
// the tests beside it do not have.
func startNetwork(t *testing.T, e *engine, world, program string) string {
	t.Helper()
	options := slices.Concat(programs(t), []string{"--detach", "--cap-add", "NET_ADMIN", "--sysctl", "net.ipv4.ip_unprivileged_port_start=0", "--sysctl", "net.ipv4.ping_group_range=0 1000",
		"--volume", world + ":/world", "--env", "TMPDIR=/world", "--env", "ETHOS_TEST_WORLD_STAGE=network"})
	out, err := e.container(options, "root", program).Output()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	name := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := e.command("rm", "--force", "--time", "0", name).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(world, "ready")); err == nil {
			return name
		}
		if e.command("container", "exists", name).Run() != nil || time.Now().After(end) {
			t.Fatal("the network is not there")
		}
	}
}

// TestGateway runs the tests of the gateway, whose clients are in namespaces that the container lets them make.
func TestGateway(t *testing.T) {
	for _, user := range users {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			suite(t, user, "pkg/egress", "^Test", nil, "")
		})
	}
}
