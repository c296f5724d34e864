package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/trace"
)

const sealedType = "application/vnd.ethos.ceiling+tar"

// bundled is a machine that trusts one key, and bundles corp-1 to corp-3 by it.
func bundled(t *testing.T) (*machine, signing) {
	t.Helper()
	m := newMachine(t)
	ours, theirs := newSigning(t), newSigning(t)
	m.write("key", ours.private)
	m.write("their-key", theirs.private)
	m.write("pub", ours.public)
	m.shell(`rm -r "$ETC/ethos" && mkdir "$ETC/ethos" && printf '# the company\n' | cat - pub >"$ETC/ethos/trusted_keys"; chmod 600 key their-key`).mustSucceed(t)
	for n := 1; n <= 3; n++ {
		m.write("ceiling.yaml", fmt.Sprintf("version: 1\ncapabilities: {timeout_seconds: %d}\n", n*10))
		m.shell("rm -rf d && mkdir -p d/policy.d && mv ceiling.yaml d").mustSucceed(t)
		m.write(fmt.Sprintf("d/policy.d/v%d.yml", n), strings.ReplaceAll(corporatePolicies, "proofs:\n  - needs: [./check]\n", ""))
		m.admin(fmt.Sprintf("ethos-decide bundle create d --name corp --number %d --key key >corp-%d", n, n)).mustSucceed(t)
	}
	m.admin("ethos-decide bundle create d --name other --number 9 --key key >other; ethos-decide bundle create d --name corp --number 9 --key their-key >theirs").mustSucceed(t)
	return m, ours
}

// TestBundles: a bundle that a trusted key signed is in force, whole, as root's, and nothing else is; what was there is kept.
func TestBundles(t *testing.T) {
	probetest.Whole(t)
	m, ours := bundled(t)
	const state = "ethos-decide ceiling; ls -A /etc/ethos /etc/ethos/policy.d; sha256sum /etc/ethos/*"
	refused := func(name, script string, status int, has string) {
		t.Helper()
		before := m.admin(state).stdout
		if o := m.admin(script); o.status != status || !strings.Contains(o.stderr, has) || o.stdout != "" {
			t.Errorf("%s: wanted status %d and %q: %v", name, status, has, o)
		}
		if after := m.admin(state).stdout; after != before {
			t.Errorf("%s: changed\n%s\nto\n%s", name, before, after)
		}
	}
	install := func(args, has string) {
		t.Helper()
		if o := m.admin("umask 077; ethos-decide bundle install " + args).mustSucceed(t); !strings.Contains(o.stdout, has) {
			t.Errorf("%s: no %q: %v", args, has, o)
		}
	}
	if o := m.user("ethos-decide bundle install corp-2").mustExit(t, 3); !strings.Contains(o.stderr, "run it as root") {
		t.Errorf("a user: %v", o)
	}
	refused("another key", "ethos-decide bundle install theirs", 1, "not by this key")
	install("corp-2", "corp 2 is installed: sha256:")
	if o := m.user("stat -c '%u %a %n' /etc/ethos/* /etc/ethos/policy.d/*; ethos-decide ceiling").mustSucceed(t); strings.Count(o.stdout, "0 644 /") != 4 || !strings.Contains(o.stdout, "0 755 /etc/ethos/policy.d") || !strings.Contains(o.stdout, "bundle   corp 2\n") ||
		!strings.Contains(o.stdout, "timeout_seconds: 20") {
		t.Errorf("what is there: %v", o)
	}
	m.user("ethos-facts -c deploy | ethos-decide").mustExit(t, 1)
	m.user("ethos-facts -c true | ethos-decide").mustSucceed(t)
	install("corp-2", "already installed")
	install("corp-3", "corp 2 is in /etc/ethos.previous")
	m.admin("test -e /etc/ethos.previous/policy.d/v2.yml && test ! -e /etc/ethos/policy.d/v2.yml && cmp /etc/ethos/trusted_keys /etc/ethos.previous/trusted_keys && test ! -e /etc/ethos.new").mustSucceed(t)
	if o := m.user("ethos-sandbox doctor"); !strings.Contains(o.stdout, "bundle   corp 3") || !strings.Contains(o.stdout, "timeout_seconds: 30") {
		t.Errorf("doctor: %v", o)
	}

	refused("an older one", "ethos-decide bundle install corp-1", 1, "older than corp 3")
	refused("another one", "ethos-decide bundle install other", 1, "another bundle than corp 3")
	refused("another content", "ethos-decide bundle create d --name corp --number 3 --key key >/dev/null && sed -i s/30/31/ d/ceiling.yaml && ethos-decide bundle create d --name corp --number 3 --key key >same && ethos-decide bundle install same", 1, "another content")
	refused("a changed one", "sed 's/\"payload\":\"./\"payload\":\"A/' corp-3 >x; ethos-decide bundle install x", 1, "bundle: ")
	refused("a cut one", "head -c 500 corp-3 >x; ethos-decide bundle install x", 1, "bundle: ")
	refused("more behind it", "cat corp-3 corp-3 >x; ethos-decide bundle install x", 1, "bundle: ")
	refused("no signature", `jq -c '.signatures=[]' corp-3 >x; ethos-decide bundle install x`, 1, "bundle: ")
	refused("a bare tar", "jq -r .payload corp-3 | base64 -d >x; ethos-decide bundle install x", 1, "bundle: ")
	refused("the envelope of something else", "jq -c '.payloadType=\"application/vnd.in-toto+json\"' corp-3 >x; ethos-decide bundle install x", 1, "bundle: ")
	refused("none", "ethos-decide bundle install none", 3, "no such file")
	for name, c := range hostileBundles(t, ours) {
		m.write("x", c.text)
		refused(name, "ethos-decide bundle install x", 3, c.has)
		refused(name+", verified", "ethos-decide bundle verify x", 3, c.has)
	}
	install("--older corp-1", "corp 3 is in /etc/ethos.previous")
	install("corp-1", "already installed")
	refused("older than one that was there before", "ethos-decide bundle install corp-2", 1, "older than corp 3")
	install("--replace other", "corp 1 is in /etc/ethos.previous")
	refused("an older one by way of another", "ethos-decide bundle install --replace corp-2", 1, "older than corp 3")
	refused("another content by way of another", "ethos-decide bundle install --replace same", 1, "corp 3 was installed with another content")
	install("--replace corp-3", "corp 3 is installed")

	// What cannot be read hides no number: one flag lifts one refusal.
	m.admin(": >/etc/ethos/stray.yaml").mustSucceed(t)
	m.admin("ethos-decide bundle install corp-3").mustExit(t, 1)
	for _, older := range []string{"corp-1", "same"} {
		if o := m.admin("ethos-decide bundle install --replace "+older).mustExit(t, 1); !strings.Contains(o.stderr, "corp 3") {
			t.Errorf("beside a stray file, %s: %v", older, o)
		}
	}
	install("--replace corp-3", "corp 3 is installed")
	m.admin("test ! -e /etc/ethos/stray.yaml && cp /etc/ethos/bundle.json kept && echo x >/etc/ethos/bundle.json").mustSucceed(t)
	refused("a manifest that cannot be read", "ethos-decide bundle install --replace corp-3", 1, "it may be older")
	install("--replace --older corp-3", "corp 3 is installed")
	m.admin("cp kept /etc/ethos/bundle.json").mustSucceed(t)

	// An installation that was killed is put right by the next one, also where that has nothing to do.
	const exchanged = "rm -rf /etc/ethos.previous/policy.d; cp -a /etc/ethos /etc/ethos.new; echo displaced >/etc/ethos.new/note; stat -c %d-%i /etc/ethos >/etc/ethos.lock; "
	m.admin(exchanged + "ethos-decide bundle install corp-3 && grep -q displaced /etc/ethos.previous/note && test -e /etc/ethos.previous/policy.d/v3.yml && test ! -e /etc/ethos.new && test ! -s /etc/ethos.lock").mustSucceed(t)
	m.admin("mkdir -p /etc/ethos.new/policy.d && echo half >/etc/ethos.new/ceiling.yaml; ethos-decide bundle install corp-3 && grep -q displaced /etc/ethos.previous/note && test ! -e /etc/ethos.new").mustSucceed(t)
	m.admin("echo '# by hand' >>/etc/ethos/ceiling.yaml").mustSucceed(t)
	if o := m.user("ethos-decide ceiling").mustSucceed(t); !strings.Contains(o.stdout, "corp 3, changed since") {
		t.Errorf("by hand: %v", o)
	}
	refused("what was changed by hand", "ethos-decide bundle install corp-3", 1, "changed since")
	install("--replace corp-3", "corp 3 is installed")

	for prepare, has := range map[string]string{
		"chmod 666 /etc/ethos/trusted_keys":                                     "chmod go-w",
		"chown 4242 /etc/ethos/trusted_keys":                                    "does not belong to root",
		"mv /etc/ethos/trusted_keys /etc/k; ln -s ../k /etc/ethos/trusted_keys": "is a link",
		"chmod 777 /etc/ethos":                                                  "chmod go-w /etc/ethos",
		"rm /etc/ethos/trusted_keys":                                            "install -m 644 -D KEY.pub /etc/ethos/trusted_keys",
		"echo x >/etc/ethos/trusted_keys":                                       "openssl pkey",
	} {
		o := m.admin("cp -a /etc/ethos /etc/kept; " + prepare + "; ethos-decide bundle install corp-3; s=$?; rm -rf /etc/ethos /etc/k; mv /etc/kept /etc/ethos; exit $s")
		if o.status != 3 || !strings.Contains(o.stderr, has) {
			t.Errorf("%s: no %q: %v", prepare, has, o)
		}
	}
	install("corp-3", "already installed")
}

// hostileBundles are what the holder of the key may not say.
func hostileBundles(t *testing.T, by signing) map[string]struct{ text, has string } {
	t.Helper()
	made := map[string]struct{ text, has string }{}
	for name, c := range map[string]struct{ name, text, has string }{
		"a path upwards":        {"policy.d/../../passwd", "", "is not a valid file name in a bundle"},
		"an absolute path":      {"/etc/passwd", "", "bundle: "},
		"the keys":              {"trusted_keys", by.public, "is not a valid file name in a bundle"},
		"a policy of no sense":  {"policy.d/x.yml", "version: 1\npolicies:\n  - id: corp.x\n    wen: true\n", "wen"},
		"an unknown capability": {"ceiling.yaml", "version: 1\ncapabilities: {networks: none}\n", "networks"},
		"an unknown control":    {"ceiling.yaml", "version: 1\nrequire: [landlok]\n", `unknown control "landlok": did you mean "landlock"?`},
		"a wrong example":       {"policy.d/x.yml", strings.Replace(ownPolicy, "[deploy now]", "[echo hello]", 1), "wrong example"},
	} {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		sum := sha(c.text)
		text := fmt.Sprintf("{\n  \"name\": \"corp\",\n  \"number\": 100,\n  \"files\": {\n    %q: %q\n  }\n}\n", c.name, sum)
		for _, f := range [][2]string{{"bundle.json", text}, {c.name, c.text}} {
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f[0], Mode: 0o644, Size: int64(len(f[1])), Format: tar.FormatUSTAR}); err != nil {
				t.Fatal(err)
			}
			w.Write([]byte(f[1]))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		made[name] = struct{ text, has string }{by.envelope(sealedType, out.Bytes()), c.has}
	}
	return made
}

// TestBundleAtOnce: whoever reads while bundles are installed, and installations are killed, sees one of them whole.
func TestBundleAtOnce(t *testing.T) {
	probetest.Whole(t)
	m, _ := bundled(t)
	m.admin("ethos-decide bundle install corp-1").mustSucceed(t)
	o := m.admin(`
		mkdir tmp && export TMPDIR="$PWD/tmp" # what is killed leaves there what it had
		(while ! [ -e stop ]; do ethos-decide ceiling || echo failed; done) >read 2>&1 & reader=$!
		for i in $(seq 21); do
			limit=0.$((i % 3))$((RANDOM % 10)); [ $((i % 3)) != 0 ] || limit=60 # some are not killed
			timeout -s KILL $limit ethos-decide bundle install --older corp-$((i % 2 + 1)) >>installed 2>/dev/null
		done
		before=$(jq -r '"\(.name) \(.number)"' /etc/ethos/bundle.json)
		ethos-decide bundle install --older corp-3 >>installed; s=$?
		: >stop; wait $reader
		[ "$before" = "$(jq -r '"\(.name) \(.number)"' /etc/ethos.previous/bundle.json)" ] && ! [ -e /etc/ethos.new ] || { ls -lR /etc/ethos*; s=9; }
		exit $s`)
	o.mustSucceed(t)
	if n := oneOfThem(t, m); n < 3 {
		t.Errorf("%d readers", n)
	}
	if text, _ := os.ReadFile(m.path("read")); strings.Contains(string(text), "failed") {
		t.Errorf("readers: %s", text)
	}
}

// oneOfThem looks at what readers printed: each saw one bundle, whole. It returns how many saw one.
func oneOfThem(t *testing.T, m *machine) int {
	t.Helper()
	text, err := os.ReadFile(m.path("read"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "/etc/ethos  sha256:")[1:]
	for _, part := range parts {
		whole := 0
		for n := 1; n <= 3; n++ {
			if strings.Contains(part, fmt.Sprintf("timeout_seconds: %d0", n)) && strings.Contains(part, fmt.Sprintf("/v%d.yml", n)) {
				whole++
			}
		}
		if whole != 1 || strings.Count(part, ".yml") != 1 {
			t.Errorf("neither one nor the other: %s", part)
		}
	}
	return len(parts)
}

// TestCeilingIsOne: who reads while the directory is replaced all the time reads one of them, or nothing.
func TestCeilingIsOne(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:perl")
	m, _ := bundled(t)
	m.admin(fmt.Sprintf(`ethos-decide bundle install corp-1 && ethos-decide bundle install corp-2
		perl -e 'my ($a, $b) = ("/etc/ethos", "/etc/ethos.previous"); while (1) { syscall(%d, -100, $a, -100, $b, 2) == 0 or die $!; select(undef, undef, undef, 0.0003) }' & swaps=$!
		for i in $(seq 150); do ethos-decide ceiling; done >read 2>errs; kill $swaps || exit 9; ! grep error: errs | grep -v 'keeps being replaced'`, unix.SYS_RENAMEAT2)).mustSucceed(t)
	if n := oneOfThem(t, m); n < 10 {
		t.Errorf("%d readers saw anything", n)
	}
}

// TestRequiredExport: a call that an agent wants to make does not pass while records that are older than allowed were not sent.
func TestRequiredExport(t *testing.T) {
	probetest.Whole(t)
	m := newMachine(t)
	var login atomic.Bool // a page in front of the collector
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if login.Load() {
			io.WriteString(w, "<html>login</html>")
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer server.Close()
	m.write(m.etc+"/ethos/ceiling.yaml", "version: 1\nexport: {to: "+server.URL+"/, within: 3s}\n")
	m.shell(`rm "$ETC"/ethos/policy.d/*`).mustSucceed(t)
	m.write("event", recipes[0].reports(t, m.dir, "true"))
	const hook = "ethos-facts --from claude <event | ethos-decide --reply claude --confine=allow"
	call := func(status int, has string) {
		t.Helper()
		if o := m.user(hook); o.status != status || !strings.Contains(o.stdout+o.stderr, has) {
			t.Errorf("wanted %d and %q: %v", status, has, o)
		}
	}
	for _, c := range []string{"ethos-decide ceiling", "ethos-decide list", "ethos-sandbox doctor"} {
		if o := m.user(c); !strings.Contains(o.stdout, "requires export to "+server.URL+" within 3s") || !strings.Contains(o.stdout, "requires records") {
			t.Errorf("%s: %v", c, o)
		}
	}
	call(0, "ethos-sandbox") // nothing is old yet
	m.shell("sleep 3.1").mustSucceed(t)
	call(2, "ethos-trace export --otlp "+server.URL)
	login.Store(true)
	if o := m.user("ethos-trace export --otlp " + server.URL); o.status != 1 || !strings.Contains(o.stderr, "not as an OTLP receiver") {
		t.Errorf("a login page: %v", o)
	}
	call(2, "ethos-trace export --otlp "+server.URL)
	login.Store(false)
	m.user("ethos-trace export --otlp http://127.0.0.1:9 --retry-for 1s").mustExit(t, 1) // elsewhere counts for nothing
	call(2, "requires that records are sent")
	m.user("ethos-trace export --otlp " + server.URL).mustSucceed(t)
	call(0, "ethos-sandbox")
	m.shell("sleep 3.1").mustSucceed(t)
	call(2, "requires that records are sent")
	m.user("ethos-trace export --only logs --otlp " + server.URL + "/").mustSucceed(t)
	call(0, "ethos-sandbox")
	const send = "ethos-trace export --otlp "
	exportAll := func(dirs ...string) {
		t.Helper()
		for _, dir := range dirs {
			m.user("cd " + dir + " && " + send + server.URL).mustSucceed(t)
		}
	}
	in := func(dir string) { m.write("event", recipes[0].reports(t, m.path(dir), "true")) }

	// No time begins anew with another store: one that the environment names, or that of another directory.
	m.shell("sleep 3.1").mustSucceed(t)
	if o := m.user("export ETHOS_STORE=$PWD/elsewhere; "+hook).mustExit(t, 2); !strings.Contains(o.stderr, "remove ETHOS_STORE from the environment of the hook") {
		t.Errorf("another store: %v", o)
	}
	m.user("test ! -e elsewhere && git init -q new && git init -q up").mustSucceed(t)
	in("new")
	call(2, "requires that records are sent")
	exportAll(".")
	call(0, "ethos-sandbox")

	// How far the export is comes with no repository, and neither does a place that hides the store that was there.
	marks := ""
	for _, mark := range []string{trace.ExportMark(server.URL + "/v1/logs"), trace.ExportMark(server.URL+"/v1/logs", server.URL+"/v1/traces")} {
		marks += ` && printf '{"file":"9999/12/31.ndjson","offset":0}' >up/.coding-ethos/traces/export/` + mark
	}
	m.user("mkdir -p up/.coding-ethos/traces/export" + marks + " && git -C up add -f .coding-ethos && git -C up -c user.name=A -c user.email=a@example.com commit -qm x && git clone -q up clone && test -d clone/.coding-ethos/traces/export").mustSucceed(t)
	in("clone")
	call(0, "ethos-sandbox")
	m.shell("sleep 3.1").mustSucceed(t)
	exportAll(".", "new")
	call(2, "clone/.coding-ethos/traces")
	exportAll("clone")
	call(0, "ethos-sandbox")
	m.shell("sleep 3.1").mustSucceed(t)
	exportAll("clone")
	in("new")
	call(0, "ethos-sandbox")
	m.shell("sleep 3.1").mustSucceed(t)
	m.user("cp -r clone/.coding-ethos new/ && rm -r new/.coding-ethos/traces/2*").mustSucceed(t)
	in(".")
	call(2, "new/.git/coding-ethos/traces")
	m.user(send + server.URL + " --store new/.git/coding-ethos/traces").mustSucceed(t)
	call(0, "ethos-sandbox")

	// A record of the future is no young one.
	m.user(`mkdir -p clone/.coding-ethos/traces/2999/01 && printf '{"schema":"ethos/v1","id":"x","time":"2999-01-01T00:00:00Z"}\n' >clone/.coding-ethos/traces/2999/01/01.ndjson`).mustSucceed(t)
	call(2, "clone/.coding-ethos/traces are older, or dated in the future")
	m.user("rm -r clone/.coding-ethos/traces/2999").mustSucceed(t)
	exportAll(".", "clone")
	call(0, "ethos-sandbox")

	m.write(m.etc+"/ethos/ceiling.yaml", "version: 1\nexport: {to: collector.example.com, within: 3s}\n")
	if o := m.user("ethos-decide ceiling").mustExit(t, 3); !strings.Contains(o.stderr, "export: to: write the collector's base URL") {
		t.Errorf("no URL: %v", o)
	}
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}
