package facts

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/ethosargs"
	"ethos/pkg/record"
)

// spellings are command lines, and what their calls of ethos's own programs
// widen: the options by name, what else with how it widens, "…" where the
// command line cannot be read. ~~ stands for a directory beside the work space.
var spellings = []struct{ script, widens string }{
	// Options of a boundary, however they are written.
	{"ethos-sandbox run --rw / -- make", "rw"},
	{"ethos-sandbox run --rw=/ -- make", "rw"},
	{"ethos-sandbox run --rw=/ make", "rw"},
	{"ethos-sandbox run '--rw=/' make", "rw"},
	{`ethos-sandbox run --r""w / make`, "rw"},
	{`ethos-sandbox run $'--rw' / make`, "rw"},
	{`ethos-sandbox run --{rw,net}=/ make`, "rw net"},
	{"ethos-sandbox run --net none --rw / -- make", "rw"},
	{"ethos-sandbox run -- make --rw /", ""},
	{"ethos-sandbox run make --rw /", ""},
	{"ethos-sandbox run make -- --rw /", ""},
	{"ethos-sandbox run -- --rw / make", ""},
	{"ethos-sandbox --rw / run -- make", "input:pipe --rw / run make"}, // no option of the pipe form: refused by the program
	{"ethos-sandbox -- run --rw / make", ""},                           // behind "--" there are no options
	{"ethos-sandbox run --r / -- make", ""},                            // no abbreviations: a command named --r
	{"ethos-sandbox run --rw", "--rw"},
	{"ethos-sandbox run --rw -- make", "--rw"},
	{"ethos-sandbox run --rw . -- make", ""},
	{"ethos-sandbox run --rw src -- make", ""},
	{"ethos-sandbox run --rw src/../.. -- make", "rw"},
	{"ethos-sandbox run --rw link -- make", "rw"}, // leads out of the work space
	{"ethos-sandbox run --rw link/x -- make", "rw"},
	{"ethos-sandbox run --rw .git -- make", "rw"},
	{"ethos-sandbox run --rw repo_config.yaml -- make", "rw"},
	{"ethos-sandbox run --rw ~ -- make", "rw"},
	{"ethos-sandbox run --rw '~/x?' -- make", "rw"},
	{"cd src && ethos-sandbox run --rw . -- make", ""},
	{"cd src && ethos-sandbox run --rw .. -- make", ""},
	{"cd src && ethos-sandbox run --rw ../.. -- make", "rw"},
	{"cd $X && ethos-sandbox run --rw src -- make", "rw"}, // relative to an unknown directory
	{"ethos-sandbox run --rw given/tree/x -- make", ""},   // in the work space
	{"ethos-sandbox run --rw ~/given -- make", ""},        // granted
	{"ethos-sandbox run --rw ~/given/x -- make", ""},
	{"ethos-sandbox run --ro ~/given -- make", ""},
	{"ethos-sandbox run --ro ~/other -- make", "ro"},
	{"ethos-sandbox run --ro . -- make", ""},
	{"ethos-sandbox run --ro=/etc/shadow -- make", "ro"},
	{"ethos-sandbox run --ro .env -- make", "ro"},
	{"ethos-sandbox run --deny-read . --deny-write / -- make", ""},
	{"ethos-sandbox run --net none -- make", ""},
	{"ethos-sandbox run --net loopback -- make", ""},
	{"ethos-sandbox run --net proxy -- make", "net"},
	{"ethos-sandbox run --net=host -- make", "net"},
	{`ethos-sandbox run --net="" -- make`, ""},
	{"ethos-sandbox run --allow-domain example.com -- make", "allow-domain"},
	{"ethos-sandbox run --sni allow -- make", "sni"},
	{"ethos-sandbox run --sni=require -- make", ""},
	{"ethos-sandbox run --env-files read -- make", "env-files"},
	{"ethos-sandbox run --env-files hidden -- make", ""},
	{"ethos-sandbox run --allow-nested-userns -- make", "allow-nested-userns"},
	{"ethos-sandbox run --allow-nested-userns=mounts -- make", "allow-nested-userns"},
	{"ethos-sandbox run --allow-nested-userns=none -- make", ""},
	{`ethos-sandbox run --allow-nested-userns="$X" -- make`, "allow-nested-userns"},
	{"ethos-facts --grant env-files=read -- make", "grant"},
	{"ethos-sandbox run --inject 'example.com X=TOKEN' -- make", "inject"},
	{"ethos-sandbox shell --inject \"$X\" -- make", "inject"},
	{"ethos-sandbox run --net proxy --ca-bundle ca.pem -- make", "net"}, // without a proxy nothing is opened
	{"ethos-sandbox run --allow-request 'example.com GET' -- make", ""},
	{"ethos-facts --grant sni=allow -- make", "grant"},
	{"ethos-facts --grant 'inject=example.com X=TOKEN' -- make", "grant"},
	{"ethos-sandbox run --allow-domain localhost:5432 -- make", "allow-domain"},
	{"ethos-sandbox run --allow-domain localhost -- make", "allow-domain"},
	{"ethos-sandbox run --deny-domain example.com -- make", ""},
	{"ethos-sandbox run --unix-socket /run/x -- make", "unix-socket"},
	{"ethos-sandbox run --env CI=1 -- make", ""},
	{"ethos-sandbox run --env TOKEN -- make", "env"},
	{"ethos-sandbox run --env LD_PRELOAD=x -- make", "env"},
	{"ethos-sandbox run --env=BASH_ENV=x -- make", "env"},
	{"ethos-sandbox run --session work -- make", "session"}, // what somebody else gave it
	{"ethos-sandbox shell --session auto:work -c make", "session"},
	{"ethos-sandbox shell --session=auto:claude-s-0123456789abcdef -c make", "session"}, // of no agent that is known here
	{"ethos-sandbox session start --rw / --name x", "rw"},
	{"ethos-sandbox session start --name x", ""},
	{"ethos-sandbox session end --all", ""},
	{"ethos-sandbox run --timeout 10 -- make", ""},
	{"ethos-sandbox run --timeout 30m -- make", ""},
	{"ethos-sandbox run --timeout 31m -- make", "timeout"},
	{"ethos-sandbox run --timeout 0 -- make", "timeout"},
	{"ethos-sandbox run --timeout 0s -- make", "timeout"},
	{"ethos-sandbox run --memory 512M -- make", ""},
	{"ethos-sandbox run --memory 8G -- make", ""},
	{"ethos-sandbox run --memory 9g -- make", "memory"},
	{"ethos-sandbox run --memory x -- make", "memory"},
	{"ethos-sandbox run --cpu 50 -- make", ""},
	{"ethos-sandbox run --cpu 400% -- make", ""}, // no limit is in force
	{"ethos-sandbox run --pids 64 -- make", ""},
	{"ethos-sandbox run --pids 8193 -- make", "pids"},
	{"ethos-sandbox run --require landlock -- make", ""},
	{"ethos-sandbox run --profile lint-offline -- make", ""},
	{"ethos-sandbox run --profile workspace -- make", ""},
	{"ethos-sandbox run --profile build -- make", ""},
	{"ethos-sandbox run --profile agent-shell -- make", ""},
	{"ethos-sandbox run --profile agent-network -- make", "profile"},
	{"ethos-sandbox run --profile none -- make", "profile"},
	{"ethos-sandbox run --profile agent-shell --profile=agent-network -- make", "profile"},
	{"ethos-sandbox run --plain-git -- make", ""}, // no option of run
	{"ethos-sandbox shell --plain-git -c make", "plain-git"},
	{"ethos-sandbox shell --plain-git=true -c make", "plain-git"},
	{"ethos-sandbox shell --plain-git=$X -c make", "plain-git …"},
	{"ethos-sandbox shell --plain-git=no -c make", ""},
	{"ethos-sandbox shell -c make --rw /", "rw"},
	{"ethos-sandbox shell -cmake --rw /", "rw"},
	{"ethos-sandbox shell --command make --rw /", "rw"},
	{"ethos-sandbox shell -c 'make --rw /'", ""},
	{"ethos-sandbox shell -c make x --rw /", ""},
	{"ethos-sandbox shell -c 'ethos-sandbox run --rw / -- make'", "rw"},
	{"ethos-sandbox plan --rw / --net host -- make", ""},
	{"ethos-sandbox run --rw / --dry-run -- make", ""},
	{"ethos-sandbox run --rw / --dry-run=false -- make", "rw"},
	{"ethos-sandbox run --rw / --help", ""},
	{"ethos-sandbox run --rw / -h", ""},
	{"ethos-sandbox run --rw / -- make --help", "rw"},
	{"ethos-sandbox --version", ""},
	{"ethos-sandbox probe", ""},
	// Words that are not static.
	{"ethos-sandbox run $X -- make", "…"},
	{`ethos-sandbox run "$X" -- make`, "…"},
	{`ethos-sandbox run "$@"`, "…"},
	{"ethos-sandbox run -- $X", ""},
	{"ethos-sandbox run make $X", ""},
	{`ethos-sandbox run --rw="$X" -- make`, "rw"},
	{`ethos-sandbox run --rw "$X" -- make`, "rw"},
	{`ethos-sandbox run --deny-read "$X" -- make`, ""},
	{`ethos-sandbox run --deny-read $X -- make`, "…"}, // may become several words
	{`ethos-sandbox run --$X -- make`, "…"},
	{`ethos-sandbox run -* -- make`, "…"},
	{`X=--rw=/; ethos-sandbox run "$X" -- make`, "rw"},
	{`A=(--rw /); ethos-sandbox run "${A[@]}" -- make`, "rw"},
	{`ethos-sandbox run $(echo --rw /) -- make`, "rw"},
	{`ethos-sandbox run $(cat x) -- make`, "…"},
	{`ethos-facts "$X"`, "…"},
	{`ethos-facts -- "$X"`, ""},
	{`ethos-facts -c "$X"`, ""},
	{`ethos-decide "$X"`, "…"},
	{`ethos-trace show "$X"`, ""}, // a command that can widen nothing
	{"ethos-trace ls --since $X", ""},
	{`ethos-trace "$X" show`, "…"},
	{`ethos-decide check "$X"`, ""},
	{`ethos-decide trust "$X"`, "command:trust …"},
	{`ethos-sandbox plan $X`, ""},
	{`ethos-trace -- "$X"`, "input:report …"},
	// Wrappers, paths, nested code.
	{"/usr/local/bin/ethos-sandbox run --rw / -- make", "rw"},
	{"./build/ethos-sandbox run --rw / -- make", "rw"},
	{"sudo -E -u bob ethos-sandbox run --rw / -- make", "rw"},
	{"nice -n 5 timeout 9 ethos-sandbox run --rw / -- make", "rw"},
	{"env -C src ethos-sandbox run --rw / -- make", "rw"},
	{"env -S 'ethos-sandbox run --rw / -- make'", "rw"},
	{"echo x | xargs ethos-sandbox run --rw / --", "rw"},
	{"echo x | xargs ethos-sandbox run --", ""},
	{"cat x | xargs ethos-sandbox run", "…"},
	{"find . -exec ethos-sandbox run --rw {} -- make ';'", "rw …"},
	{`bash -c "ethos-sandbox run --rw / -- make"`, "rw"},
	{"eval 'ethos-sandbox run --rw / -- make'", "rw"},
	{"sh <<< 'ethos-sandbox run --rw / -- make'", "rw"},
	{"alias s='ethos-sandbox run --rw /'; s -- make", "rw"},
	{`f() { ethos-sandbox run "$@"; }; f --rw / -- make`, "rw"},
	{"git -c alias.x='!ethos-sandbox run --rw / -- make' x", "rw"},
	{"echo ethos-sandbox run --rw / -- make", ""},
	{"# ethos-sandbox run --rw / -- make\nls", ""},
	{"grep -- '--rw' ethos-sandbox", ""},
	// ethos-facts, which does derive when no command is named.
	{"ethos-facts --mode auto -- make", "mode"},
	{"ethos-facts --mode=auto -c make", "mode"},
	{"ethos-facts derive --mode auto -- make", "mode"},
	{"ethos-facts --mode safe -- make", ""},
	{"ethos-facts --mode plan -- make", ""},
	{`ethos-facts --mode "$X" -- make`, "mode"},
	{"ethos-facts -- make --mode auto", ""},
	{"ethos-facts -- derive --mode auto", ""},
	{"ethos-facts -c 'make --mode auto'", ""},
	{"ethos-facts -c make --grant write=/", "grant"},
	{"ethos-facts --grant=write=src -c make", ""},
	{"ethos-facts --grant write=.git -c make", "grant"},
	{"ethos-facts --grant network=none -c make", ""},
	{"ethos-facts --grant network=host -c make", "grant"},
	{"ethos-facts --grant timeout=1m -c make", ""},
	{"ethos-facts --grant timeout=2h -c make", "grant"},
	{"ethos-facts --grant git=full -c make", "grant"},
	{"ethos-facts --grant socket=/run/x -c make", "grant"},
	{"ethos-facts --grant env=TOKEN -c make", "grant"},
	{"ethos-facts --grant nonsense -c make", "grant"},
	{"ethos-facts --profile lint-offline -- make", ""},
	{"ethos-facts --profile agent-network -- make", "profile"},
	{"ethos-facts --config x.yaml -- make", "config"},
	{"ethos-facts tools --config x.yaml", ""},
	{"ethos-facts --tool gemini-check -- make", "tool"},
	{"ethos-facts --cwd src -- make", ""},
	{"ethos-facts --cwd .. -- make", "cwd"},
	{"ethos-facts --cwd ~ -- make", "cwd"},
	{`ethos-facts --cwd "$X" -- make`, "cwd"},
	{"cd ~ && ethos-facts -- make", "directory:cwd"},
	{"cd ~ && ethos-facts tools", ""},
	{"cd / && ethos-sandbox run -- make", "directory:cwd"},
	// ethos-decide, ethos-trace, ethos-git.
	{"ethos-decide --approve x", "approve"},
	{"ethos-decide decide --approve=x -q", "approve"},
	{"ethos-decide -q --approve x", "approve"},
	{"ethos-decide --policy p.yml", "policy"},
	{"ethos-decide --mode auto", "mode"},
	{"ethos-decide --mode verify --pack git --confine --reply claude", ""},
	{"ethos-decide list --policy p.yml", ""},
	{"ethos-decide check p.yml", ""},
	{"ethos-decide explain --mode auto x", ""},
	{"ethos-decide --approve x list", "approve list"}, // refused by the program
	{"ethos-decide trust", "command:trust"},
	{"ethos-decide trust x --yes", "command:trust yes"},
	{"ethos-decide -- trust", "command:trust"},
	{"ethos-decide approve x", "command:approve"},
	{"ethos-decide hook install claude", "command:hook install"},
	{"ethos-decide hook status claude", ""},
	{"ethos-decide bundle create d --name n --number 1 --key k", "command:bundle create"},
	{"ethos-decide bundle verify --key k b", ""},
	{"ethos-decide bundle install b", "command:bundle install"},
	{"ethos-decide trust --help", ""},
	{"ethos-git ethos trust", "command:trust"},
	{"git ethos trust", "command:trust"},
	{"git $X trust", "command:trust"},
	{"ethos-git trust", ""}, // git has no such command
	{"ethos-git ethos explain -- push", ""},
	{"ethos-trace prune --older-than 1d", "command:prune"},
	{"ethos-trace attest HEAD --key k --need x", "command:attest"},
	{"ethos-trace verify --commit HEAD --key k b", ""},
	{"ethos-attest '{}'", "command:order"},
	{"ethos-cel '{}'", "command:order"},
	{"ethos-egress run -- true", "command:order"},
	{"ethos-otlp '{}'", "command:order"},
	{"ethos-trace -- prune --older-than 1d", "command:prune --older-than 1d"},
	{"ethos-trace prune --older-than 1d --dry-run", ""},
	{"ethos-trace --no-store x.ndjson", ""},
	{"ethos-trace --store /tmp/x y.ndjson", "store"},
	{"ethos-trace --no-redact x.ndjson", "no-redact"},
	{"ethos-trace ls --store x", ""},
	// Records.
	{"ethos-facts -- x | ethos-decide | ethos-sandbox | ethos-trace", ""},
	{"ethos-facts -- x | tee y | ethos-decide | ethos-sandbox -j2", ""},
	{"ethos-facts -- x | ethos-decide | ethos-trace", ""},
	{"{ ethos-facts -- x; } | (ethos-decide) | ethos-sandbox", ""},
	{"cat x | ethos-sandbox", "input:pipe"},
	{"ethos-sandbox", "input:pipe"},
	{"ethos-sandbox < x", "input:pipe"},
	{"ethos-sandbox pipe < x", "input:pipe"},
	{"ethos-facts -- x | ethos-decide | ethos-sandbox < y", "input:pipe"},
	{"ethos-facts -- x | ethos-decide < y | ethos-sandbox", "input:pipe"},
	{"ethos-facts -- x | ethos-decide | tee < y z | ethos-sandbox", "input:pipe"},
	{"ethos-facts -- x | ethos-sandbox", "input:pipe"},
	{"ethos-decide | ethos-facts -- x | ethos-sandbox", "input:pipe"},
	{"ethos-facts --from records < x | ethos-decide | ethos-sandbox", "input:pipe"},
	{"ethos-facts --from lines < x | ethos-decide | ethos-sandbox", ""},
	{"{ cat x; ethos-facts -- x; } | ethos-decide | ethos-sandbox", "input:pipe"},
	{"/tmp/ethos-facts -- x | ethos-decide | ethos-sandbox", "input:pipe"},
	{"f() { ethos-sandbox; }; ethos-facts -- x | ethos-decide | f; cat x | f", "input:pipe"},
	{"f() { cat x; }; f; { f; ethos-facts -- x; } | ethos-decide | ethos-sandbox", "input:pipe"},
	{"for i in a b; do ethos-facts -- $i | ethos-decide | ethos-sandbox; done", ""},
	{"ethos-facts -- x | ethos-decide | tee >(cat y) | ethos-sandbox", "input:pipe"},
	{"ethos-facts -- x 2> >(cat y) | ethos-decide | ethos-sandbox", "input:pipe"},
	{"ethos-facts -- $(cat y) | ethos-decide | ethos-sandbox", ""},
	{"ethos-facts -- x | ethos-decide | { exec < y; ethos-sandbox; }", "input:pipe"},
	{"ethos-facts -- x | ethos-decide | ethos-sandbox <&3", "input:pipe"},
	{"ethos-facts -- x | ethos-decide | ethos-sandbox 0< y", "input:pipe"},
	{"ethos-decide() { cat y; }; ethos-facts -- x | ethos-decide | ethos-sandbox", "input:pipe"},
	{"alias ethos-decide='cat y'; ethos-facts -- x | ethos-decide | ethos-sandbox", "input:pipe"},
	{"parallel ethos-sandbox run --rw {} -- ls ::: /", "rw"},
	{"watch ethos-sandbox run --rw / -- ls", "rw"},
	{"tmux new-session 'ethos-decide trust'", "command:trust"},
	{"systemd-run --user ethos-sandbox run --rw / -- ls", "rw"},
	{"nohup ethos-sandbox run --rw / -- ls &", "rw"},
	{"/lib64/ld-linux-x86-64.so.2 /usr/bin/ethos-sandbox run --rw / -- ls", "rw"},
	{"cat x | ethos-trace", "input:report"},
	{"cat x | ethos-trace --no-store", ""},
	{"cat x | ethos-decide", ""},
	{"cat x | ethos-sandbox plan", ""},
	// Environment.
	{"ETHOS_MODE=auto ethos-facts -- x", "environment:ETHOS_MODE"},
	{"env ETHOS_MODE=auto ethos-facts -- x", "environment:ETHOS_MODE"},
	{"XDG_STATE_HOME=x ethos-decide list", "environment:XDG_STATE_HOME"},
	{"export HOME=x; ethos-decide list", "environment:HOME"},
	{"HOME=x; ethos-decide list", "environment:HOME"},
	{"HOME=x ls; ethos-decide list", ""},
	{"PATH=x:$PATH ethos-decide list", "environment:PATH"},
	{"env -i ethos-decide list", "environment:env -i"},
	{"env -u ETHOS_MODE ethos-decide list", "environment:env -i"},
	{"env -u FOO ethos-decide list", ""},
	{"FOO=x ethos-decide list", ""},
}

// widened names what the calls widen, each once.
func widened(calls []record.Ethos) string {
	var out []string
	for _, c := range calls {
		for _, w := range c.Widens {
			text := w.By + ":" + w.Option
			out = append(out, strings.TrimPrefix(text, record.WidensByOption+":"))
		}
		out = append(out, c.Unknown...)
	}
	var once []string
	for _, o := range out {
		if !slices.Contains(once, o) {
			once = append(once, o)
		}
	}
	return strings.Join(once, " ")
}

// widenedPlace makes a work space in which ~/given is granted.
func widenedPlace(t *testing.T) (*Deriver, record.Action) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, work := filepath.Join(root, "home"), filepath.Join(root, "work")
	for _, dir := range []string{"home/given", "home/other", "work/.git/objects", "work/src"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": ""} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../home", filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	d, err := New(Options{Home: home, Grants: []string{"write=~/given"}, Programs: []string{"/usr/bin", "/usr/local/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.Place(record.Action{Kind: record.KindShell, Cwd: work})
	if err != nil {
		t.Fatal(err)
	}
	return d, a
}

func TestWidening(t *testing.T) {
	d, a := widenedPlace(t)
	for _, c := range spellings {
		a.Script = c.script
		f, err := d.Derive(a, record.Actor{Agent: "claude", Mode: record.ModeSafe})
		if err != nil {
			t.Fatalf("%s: %v", c.script, err)
		}
		if got := widened(f.Ethos); got != c.widens {
			t.Errorf("%s\n\twidens %q\n\twant   %q", c.script, got, c.widens)
		}
	}
	if len(spellings) < 120 {
		t.Errorf("%d spellings", len(spellings))
	}
}

// TestComparisons holds that every option that is to be compared is.
func TestComparisons(t *testing.T) {
	flags := maps.Collect(capability.Flags())
	for _, p := range ethosargs.Programs() {
		for _, c := range p.Commands {
			for _, o := range c.Options {
				if _, ok := flags[o.Name]; o.Class == ethosargs.Compared && comparisons.Get()[o.Name] == nil && !ok {
					t.Errorf("%s %s --%s has nothing that compares it", p.Name, c.Name, o.Name)
				}
			}
		}
	}
}

// TestModesAreCompared holds that a mode is wider than the one in force alone.
func TestModesAreCompared(t *testing.T) {
	d, a := widenedPlace(t)
	modes := record.Modes() // strictest first
	for i, in := range modes {
		for k, given := range modes {
			a.Script = "ethos-facts --mode " + given + " -- make"
			f, err := d.Derive(a, record.Actor{Agent: "claude", Mode: in})
			if err != nil {
				t.Fatal(err)
			}
			if got := widened(f.Ethos) == "mode"; got != (k > i) {
				t.Errorf("in %s: %s: %q", in, a.Script, widened(f.Ethos))
			}
		}
	}
}

// TestImpliedProfile compares the profile of a call that names none with what
// the parent of a sub-agent has.
func TestImpliedProfile(t *testing.T) {
	d, a := widenedPlace(t)
	a.Script = "ethos-sandbox run -- make"
	less, _ := capability.Profile("lint-offline")
	same, _ := capability.Profile("agent-shell")
	for _, c := range []struct {
		parent *record.Parent
		widens string
	}{
		{nil, ""},
		{&record.Parent{Mode: record.ModeAuto}, ""},
		{&record.Parent{Mode: record.ModeAuto, Capabilities: &same}, ""},
		{&record.Parent{Mode: record.ModeAuto, Capabilities: &less}, "profile"},
	} {
		f, err := d.Derive(a, record.Actor{Agent: "claude", Mode: record.ModeSafe, Parent: c.parent})
		if err != nil {
			t.Fatal(err)
		}
		if got := widened(f.Ethos); got != c.widens {
			t.Errorf("%+v: %q, want %q", c.parent, got, c.widens)
		}
	}
}

// TestUntrustedConfigurationWidensNothing holds that what a work space says of
// itself is not in force for what an agent types either; the same file, named
// by a person, is.
func TestUntrustedConfigurationWidensNothing(t *testing.T) {
	d, a := widenedPlace(t)
	file := filepath.Join(a.Workspace, "repo_config.yaml")
	if err := os.WriteFile(file, []byte("sandbox: {read_write_paths: [\"~/other\"], network_tools: [{tool: make, mode: host}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	named, err := New(Options{Home: d.opt.Home, Config: file})
	if err != nil {
		t.Fatal(err)
	}
	a.Script = "ethos-sandbox run --rw ~/other --net host -- make"
	for d, want := range map[*Deriver]string{d: "rw net", named: ""} {
		f, err := d.Derive(a, record.Actor{Agent: "claude", Mode: record.ModeSafe})
		if err != nil {
			t.Fatal(err)
		}
		if got := widened(f.Ethos); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOwnSession: an agent joins the session that ethos-decide has named for its
// calls, and no other one; in plan mode it joins none.
func TestOwnSession(t *testing.T) {
	d, err := New(Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	workspace := t.TempDir()
	for _, c := range []struct {
		actor record.Actor
		word  string
		joins bool
	}{
		{record.Actor{Agent: "claude", Session: "s", Mode: record.ModeSafe}, "auto:claude-s-0123456789abcdef", true},
		{record.Actor{Agent: "claude", Session: "child", Mode: record.ModeSafe, Parent: &record.Parent{Session: "s", Mode: record.ModeSafe}}, "auto:claude-s-0123456789abcdef", true},
		{record.Actor{Agent: "claude", Session: "s", Mode: record.ModeSafe}, "claude-s-0123456789abcdef", false},
		{record.Actor{Agent: "claude", Session: "s", Mode: record.ModeSafe}, "auto:claude-t-0123456789abcdef", false},
		{record.Actor{Agent: "claude", Session: "s", Mode: record.ModeSafe}, "auto:claude-s-0123456789abcdef-0123456789abcdef", false},
		{record.Actor{Agent: "claude", Mode: record.ModeSafe}, "auto:claude--0123456789abcdef", false},
		{record.Actor{Agent: "claude", Session: "s", Mode: record.ModePlan}, "auto:claude-s-0123456789abcdef", false},
	} {
		a, err := d.Place(record.Action{Kind: record.KindShell, Script: "ethos-sandbox run --session " + c.word + " -- make", Cwd: workspace})
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Derive(a, c.actor)
		if err != nil {
			t.Fatal(err)
		}
		if joins := len(f.Ethos) == 1 && len(f.Ethos[0].Widens) == 0; joins != c.joins {
			t.Errorf("%+v: %s: %+v", c.actor, c.word, f.Ethos)
		}
	}
}
