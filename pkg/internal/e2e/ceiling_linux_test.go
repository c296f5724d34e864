package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

const (
	ceilingText = `version: 1
capabilities:
  network: {mode: loopback}
  write_paths: [".", HOME/given]
  deny_read_paths: [HOME/closed]
  timeout_seconds: 60
require: [landlock]
records: required
`
	corporatePolicies = `version: 1
principles:
  - {id: pipeline, title: Deployments are the pipeline's.}
policies:
  - id: corp.deploy
    principle: pipeline
    effect: deny
    when: runs(shell, "deploy")
    message: Deployments are the pipeline's.
    remedy: Push to main.
  - id: services.destroy
    effect: deny
proofs:
  - needs: [./check]
`
	// weakening is what a work space says against it, once a person has trusted that.
	weakening = `version: 1
principles:
  - {id: pipeline, title: Ours.}
policies:
  - id: corp.deploy
    principle: pipeline
    effect: allow
    when: "true"
    message: Ours.
  - id: services.destroy
    effect: warn
proofs: []
`
)

// machine is a session whose commands run where /etc/ethos is as a test says: in a mount namespace in which a copy of /etc lies over it.
type machine struct {
	*session
	etc string
}

// ordinary is the user that the commands run as.
const ordinary = 4242

func newMachine(t *testing.T) *machine {
	t.Helper()
	probetest.Need(t, probetest.Root, probetest.UserNS, "command:unshare", "command:setpriv", "command:mount")
	m := &machine{newSession(t), filepath.Join(t.TempDir(), "etc")}
	m.home = t.TempDir()
	m.env = append(m.env, "HOME="+m.home, "XDG_STATE_HOME=", "ETC="+m.etc)
	m.shell(`cp -a /etc "$ETC" && rm -rf "$ETC/ethos" && mkdir -p "$ETC/ethos/policy.d"`).mustSucceed(t)
	m.write(m.etc+"/ethos/ceiling.yaml", strings.ReplaceAll(ceilingText, "HOME", m.home))
	m.shell(`mkdir -p ~/given/fine ~/other ~/closed/s/bin ~/closed/ws; ln -s ../other ~/given/link; ln -s closed/s ~/way; echo hush >~/closed/s/x; printf "#!/bin/sh\necho hush\n" >~/closed/s/bin/tool; chmod +x ~/closed/s/bin/tool; cp -r ~/closed/s ~/given/s`).mustSucceed(t)
	m.write(m.etc+"/ethos/policy.d/corporate.yml", corporatePolicies)
	m.shell(fmt.Sprintf("chown -R %d:%d . %s; chmod 711 ..", ordinary, ordinary, m.home)).mustSucceed(t)
	return m
}

// path is that of the session, but for absolute names.
func (m *machine) write(name, content string) {
	m.t.Helper()
	if !filepath.IsAbs(name) {
		name = m.path(name)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// user runs a command line there as an ordinary user.
func (m *machine) user(script string) outcome {
	m.t.Helper()
	return m.as(fmt.Sprintf("setpriv --reuid %d --regid %d --clear-groups", ordinary, ordinary), script)
}

// admin runs a command line there as root.
func (m *machine) admin(script string) outcome {
	m.t.Helper()
	return m.as("", script)
}

func (m *machine) as(who, script string) outcome {
	m.t.Helper()
	m.env = append(m.env, "SCRIPT="+script)
	return m.shell(`exec unshare -m bash -c 'mount --make-rprivate / && mount --bind "$ETC" /etc && exec ` + who + ` bash -o pipefail -c "$SCRIPT"'`)
}

// TestCeiling: nothing that a person, a work space, an agent or a variable says goes past what the administrator allows, in capabilities and in policies, and what
// stays within is as ever.
func TestCeiling(t *testing.T) {
	m := newMachine(t)
	decided := m.shell("ethos-facts -c true | ethos-decide").mustSucceed(t).stdout // elsewhere, without a ceiling
	m.write("elsewhere", decided)
	m.write("weak.yml", strings.ReplaceAll(weakening, "proofs: []\n", ""))
	m.write("coding_ethos.yml", weakening)
	m.write("repo_config.yaml", "sandbox:\n  read_write_paths: [/var/local]\n  network_tools: [{tool: go-test, mode: host}]\n")
	event := recipes[0].reports(t, m.dir, "true")
	m.write("event", event)
	m.user("git init -q . 2>/dev/null; ethos-decide trust --yes").mustSucceed(t)

	const denied = `"verdict":"deny"`
	deploy := "ethos-facts -c deploy | ethos-decide"
	for name, c := range shorttest.SampleMap(map[string]struct {
		script string
		status int
		has    string
	}{
		"within":                         {"ethos-facts -c 'touch made' | ethos-decide | ethos-sandbox", 0, `"status":"exited"`},
		"within, with a flag":            {"ethos-sandbox run --timeout 50s --net none -- true", 0, ""},
		"a policy":                       {deploy, 1, "corp.deploy"},
		"a trusted work space":           {deploy, 1, denied},
		"an amendment":                   {`ethos-facts -c 'psql -c "drop table x"' | ethos-decide`, 1, denied},
		"--policy":                       {deploy + " --policy weak.yml", 1, denied},
		"--approve":                      {deploy + " --approve corp.deploy", 1, denied},
		"--mode":                         {deploy + " --mode auto", 1, denied},
		"HOME":                           {"HOME=/tmp " + strings.ReplaceAll(deploy, "| ", "| HOME=/tmp "), 1, denied},
		"XDG_CONFIG_HOME":                {"export XDG_CONFIG_HOME=$PWD XDG_CONFIG_DIRS=$PWD XDG_STATE_HOME=$PWD ETHOS_MODE=auto; " + deploy, 1, denied},
		"no environment":                 {"P=$(dirname $(command -v ethos-facts)); env -i $P/ethos-facts -c deploy | env -i $P/ethos-decide", 1, denied},
		"proofs":                         {"ethos-decide proofs", 0, "./check"},
		"--net":                          {"ethos-sandbox run --net host -- true", 125, "/etc/ethos: network.mode: host is more than loopback"},
		"--net in a session":             {"ethos-sandbox session start --net host", 125, "/etc/ethos: network.mode"},
		"--allow-domain":                 {"ethos-sandbox run --allow-domain example.com -- true", 125, "/etc/ethos: network.mode"},
		"--rw":                           {"ethos-sandbox run --rw /var/local -- true", 125, "/etc/ethos: write_paths"},
		"--backend none":                 {"ethos-sandbox run --backend none -- true", 125, "/etc/ethos"},
		"--backend landlock":             {"ethos-sandbox run --backend landlock --rw ~/other -- true", 125, "/etc/ethos: write_paths"},
		"--rw by a link":                 {"ethos-sandbox run --rw ~/given/link -- true", 125, "/etc/ethos: write_paths"},
		"--rw, within":                   {"ethos-sandbox run --rw ~/given/fine -- touch ~/given/fine/x", 0, ""},
		"--ro, denied":                   {"ethos-sandbox run --ro ~/closed/s -- cat ~/closed/s/x", 125, "/etc/ethos: deny_read_paths"},
		"--ro, by a link":                {"ethos-sandbox run --ro ~/way -- cat ~/way/x", 125, "/etc/ethos: deny_read_paths"},
		"--ro, with landlock":            {"ethos-sandbox run --backend landlock --ro ~/closed/s -- cat ~/closed/s/x", 125, "/etc/ethos: deny_read_paths"},
		"--ro of a session":              {"ethos-sandbox session start --ro ~/closed/s", 125, "/etc/ethos: deny_read_paths"},
		"--ro, within":                   {"ethos-sandbox run --ro ~/given/s -- cat ~/given/s/x", 0, "hush"},
		"--mask of what is denied":       {"ethos-sandbox run --mask elsewhere=$HOME/closed/s/x -- cat elsewhere", 125, "may not read"},
		"--workspace, denied":            {"ethos-sandbox run --workspace ~/closed/ws -- true", 125, "/etc/ethos: deny_read_paths: no command may read the work space"},
		"PATH":                           {"PATH=~/closed/s/bin:$PATH ethos-sandbox run -- cat ~/closed/s/bin/tool", 1, "No such file"},
		"PATH, within":                   {"PATH=~/given/s/bin:$PATH ethos-sandbox run -- tool", 0, "hush"},
		"HOME in what is denied":         {"echo hush >~/closed/.gitconfig; H=~/closed; HOME=$H ethos-sandbox run -- cat $H/.gitconfig", 1, "No such file"},
		"a grant, denied":                {"ethos-facts --grant read=$HOME/closed/s -c \"cat $HOME/closed/s/x\" | ethos-decide | ethos-sandbox", 1, "No such file"},
		"session publish":                {"ethos-sandbox session start --name p && ethos-sandbox session publish p 18098:8080; s=$?; ethos-sandbox session end p; exit $s", 125, "/etc/ethos limits the network"},
		"--timeout in a session":         {"ethos-sandbox run --session auto:t --timeout 2m -- true; s=$?; ethos-sandbox run --session t --timeout 50s -- echo within; ethos-sandbox session end t; exit $s", 125, "within"},
		"a clone":                        {"export HOME=$PWD/h; mkdir h; git init -q r; cd r; git config user.name n; git config user.email e; git commit -q --allow-empty -m a; ethos-sandbox workspace create --git c && ethos-sandbox workspace run c -- git commit -q --allow-empty -m b && ethos-sandbox workspace merge c && git log --oneline", 0, " b\n"},
		"a worker":                       {`echo '{"id":"1","op":"list","path":"."}' | ethos-sandbox worker`, 0, `"id":"1"`},
		"--timeout 0":                    {"ethos-sandbox run --timeout 0 -- true", 125, "/etc/ethos: timeout_seconds: no limit"},
		"--publish":                      {"ethos-sandbox run --publish 8080:80 -- true", 125, "/etc/ethos limits the network"},
		"--profile":                      {"ethos-sandbox run --profile agent-network -- cat /proc/net/dev | grep -vc lo:", 0, "2"},
		"ETHOS_SANDBOX_RW":               {"ETHOS_SANDBOX_RW=/var/local ethos-sandbox run -- touch /var/local/x", 1, ""},
		"a grant":                        {"ethos-facts --grant network=host -c true | ethos-decide", 0, `"network":{"mode":"loopback"`},
		"repo_config.yaml":               {"ethos-facts -- go test ./... | ethos-decide", 0, `"network":{"mode":"loopback"`},
		"decided elsewhere":              {"ethos-sandbox <elsewhere", 1, "decision.ceiling"},
		"a hook":                         {"ethos-facts --from claude <event | ethos-decide --reply claude --confine=allow", 0, "ethos-sandbox"},
		"a hook --confine=no":            {"ethos-facts --from claude <event | ethos-decide --reply claude --confine=no", 0, "requires a kernel boundary"},
		"a hook without":                 {"ethos-facts --from claude <event | ethos-decide --reply claude", 0, "requires a kernel boundary"},
		"a hook --no-store":              {"ethos-facts --from claude <event | ethos-decide --reply claude --confine --no-store", 2, "requires records"},
		"a hook --records":               {"ethos-facts --from claude <event | ethos-decide --reply claude --confine --records /dev/null", 2, "requires records"},
		"inside":                         {"ethos-sandbox shell --undecided --ro $(dirname $(command -v ethos-decide)) -c 'ethos-decide ceiling && git status --short'", 0, "requires landlock"},
		"list":                           {"ethos-decide list", 0, "/etc/ethos/policy.d/corporate.yml"},
		"list, the ceiling":              {"ethos-decide list", 0, `at most  network.mode: "loopback"`},
		"doctor":                         {"ethos-sandbox doctor", -1, "bounded by /etc/ethos, sha256:"},
		"a user namespace":               {"unshare -Ur bash -c '" + deploy + "'", 1, denied},
		"one with another /etc":          {"mkdir -p e; unshare -Urm bash -c 'mount --bind e /etc && ethos-facts -c true | ethos-decide' >o && ethos-sandbox <o", 1, "decision.ceiling"},
		"one with another /etc, allowed": {"unshare -Urm bash -c 'mount --bind e /etc && ethos-facts -c deploy | ethos-decide' | grep -c sha256:.*ceiling", 1, "0"},
	}, 4) {
		o := m.user(c.script)
		if c.status >= 0 && o.status != c.status || !strings.Contains(o.stdout+o.stderr, c.has) {
			t.Errorf("%s: wanted status %d and %q: %v", name, c.status, c.has, o)
		}
	}
}

// TestCeilingIsRoots: what is not root's alone, or is not understood, allows nothing, and says what to do; without the directory all is as ever.
func TestCeilingIsRoots(t *testing.T) {
	m := newMachine(t)
	all := []string{"ethos-facts -c true", "ethos-facts -c true | ethos-decide", "ethos-sandbox run -- true", "ethos-decide ceiling"}
	for name, c := range shorttest.SampleMap(map[string]struct{ prepare, has string }{
		"others write the directory": {`chmod 777 "$ETC/ethos"`, "chmod go-w /etc/ethos"},
		"others write the file":      {`chmod 666 "$ETC/ethos/ceiling.yaml"`, "chmod go-w /etc/ethos/ceiling.yaml"},
		"others write /etc":          {`chmod 777 "$ETC"`, "chmod go-w /etc"},
		"a user's file":              {`chown 4242 "$ETC/ethos/policy.d/corporate.yml"`, "does not belong to root"},
		"nobody's file":              {`chown 65534 "$ETC/ethos/ceiling.yaml"`, "does not belong to root"},
		"a user's policies":          {`chown 4242 "$ETC/ethos/policy.d"`, "does not belong to root"},
		"a link":                     {`mv "$ETC/ethos" "$ETC/there"; ln -s there "$ETC/ethos"`, "is a link"},
		"a link to a file":           {`mv "$ETC/ethos/ceiling.yaml" "$ETC/there"; ln -s ../there "$ETC/ethos/ceiling.yaml"`, "is a link"},
		"a file of another name":     {`mv "$ETC/ethos/ceiling.yaml" "$ETC/ethos/ceiling.yml"`, "its name must be ceiling.yaml"},
		"an unknown key":             {`echo 'networks: none' >>"$ETC/ethos/ceiling.yaml"`, "networks"},
		"an empty file":              {`: >"$ETC/ethos/ceiling.yaml"`, "version: 1"},
		"a path of the user's":       {`printf 'version: 1\ncapabilities: {deny_read_paths: [~/x]}\n' >"$ETC/ethos/ceiling.yaml"`, "depends on a variable of the user's"},
		"a directory nobody reads":   {`chmod 700 "$ETC/ethos"`, "permission denied"},
	}, 4) {
		m.shell(`cp -a "$ETC/ethos" "$ETC/kept"; ` + c.prepare).mustSucceed(t)
		if o := m.user(strings.Join(all, " && exit 9; ") + " && exit 9"); o.status == 0 || o.status == 9 || strings.Count(o.stderr, c.has) < len(all) {
			t.Errorf("%s: not refused by each for %q: %v", name, c.has, o)
		}
		m.shell(`rm -rf "$ETC/ethos" "$ETC/there"; mv "$ETC/kept" "$ETC/ethos"; chmod 755 "$ETC"`).mustSucceed(t)
	}
	m.user("ethos-facts -c true | ethos-decide | ethos-sandbox").mustSucceed(t)
	m.shell(`rm -r "$ETC/ethos"`).mustSucceed(t)
	if o := m.user("ethos-sandbox run --timeout 0 -- true && ethos-facts -c deploy | ethos-decide").mustSucceed(t); strings.Contains(o.stdout, "ceiling") {
		t.Errorf("without the directory: %v", o)
	}
}

// TestCeilingTime: the time of a command is bounded in a session as outside of one, where the session bounds nothing itself.
func TestCeilingTime(t *testing.T) {
	probetest.Whole(t)
	m := newMachine(t)
	m.write(m.etc+"/ethos/ceiling.yaml", "version: 1\ncapabilities: {timeout_seconds: 1}\n")
	o := m.user(`ethos-sandbox session start --name s && ethos-sandbox shell --undecided --session s -c 'sleep 60'; s=$?; ethos-sandbox session end s; exit $s`)
	if o.status != 124 || !strings.Contains(o.stderr, "allows no more (/etc/ethos)") || strings.Contains(o.stderr, "--timeout") {
		t.Errorf("%v", o)
	}
	// Below the bound, more time is proposed, and can be had; at the bound, nothing is.
	o = m.user("ethos-sandbox run --timeout 300ms -- sleep 60")
	if o.status != 124 || !strings.Contains(o.stderr, "allow more time with --timeout") {
		t.Errorf("%v", o)
	}
	m.user("ethos-sandbox run --timeout 1s -- true").mustSucceed(t)
	for _, run := range []string{"ethos-sandbox run --explain -- sleep 60", "ethos-facts -- sleep 60 | ethos-decide | ethos-sandbox"} {
		if o := m.user(run); o.status == 0 || strings.Contains(o.stdout+o.stderr, "--timeout") || strings.Contains(o.stdout, "timeout_seconds: 2") || !strings.Contains(o.stdout+o.stderr, "allows no more (/etc/ethos)") {
			t.Errorf("%s: %v", run, o)
		}
	}
}

// TestCeilingLearn: learning asks for no more network than the machine allows where nobody asked for any.
func TestCeilingLearn(t *testing.T) {
	m := newMachine(t)
	for mode, want := range map[string]string{"none": "", "loopback": "", "proxy": "example.com"} {
		m.write(m.etc+"/ethos/ceiling.yaml", "version: 1\ncapabilities: {network: {mode: "+mode+"}}\n")
		if o := m.user("ethos-sandbox learn --prove 0 -- cat ~/other/file ~/given/s/x"); o.status == 125 || !strings.Contains(o.stdout, "given/s/x") {
			t.Errorf("%s: %v", mode, o)
		}
		if o := m.user("ethos-sandbox learn --net proxy -- true"); (o.status == 125) != (want == "") {
			t.Errorf("%s: asked for: %v", mode, o)
		}
	}
}
