package e2e

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// signing is a key, and its halves in PEM.
type signing struct {
	key             ed25519.PrivateKey
	id              string
	private, public string
}

func newSigning(t *testing.T) signing {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	half, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(half)
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return signing{key, hex.EncodeToString(sum[:]), text("PRIVATE KEY", private), text("PUBLIC KEY", half)}
}

// again is a bundle with a changed statement, signed by this key as the DSSE specification says, without code of ethos.
func (g signing) again(t *testing.T, bundle string, change func(predicate map[string]any)) string {
	t.Helper()
	var envelope struct{ Payload string }
	var statement map[string]any
	err := json.Unmarshal([]byte(bundle), &envelope)
	payload, wrong := base64.StdEncoding.DecodeString(envelope.Payload)
	if err != nil || wrong != nil || json.Unmarshal(payload, &statement) != nil {
		t.Fatal(err, wrong, bundle)
	}
	change(statement["predicate"].(map[string]any))
	if payload, err = json.Marshal(statement); err != nil {
		t.Fatal(err)
	}
	return g.envelope("application/vnd.in-toto+json", payload)
}

// envelope signs a payload of a type.
func (g signing) envelope(kind string, payload []byte) string {
	signature := ed25519.Sign(g.key, fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf(`{"payloadType":%q,"payload":%q,"signatures":[{"keyid":%q,"sig":%q}]}`+"\n", kind, b64(payload), g.id, b64(signature))
}

// ownPolicy is a policy of the work space: a bundle is checked with the policies that decided.
const ownPolicy = `version: 1
policies:
  - id: local.deploy
    principle: person-decides
    effect: deny
    when: runs(shell, "deploy")
    message: Deployments are the pipeline's.
    remedy: Push to main.
    examples: {deny: [deploy now], allow: [echo deploy]}
`

// TestAttest: who has a clone, the bundle and a public key sees that the commands passed, and is told nothing else by another bundle.
func TestAttest(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	ours, theirs := newSigning(t), newSigning(t)
	s.write("check", "#!/bin/sh\ngrep good content\n")
	s.write("other", "#!/bin/sh\ntest -s content\n")
	s.write("content", "good\n")
	s.write("coding_ethos.yml", ownPolicy)
	s.shell("chmod +x check other && git add -A && git commit -qm one").mustSucceed(t)
	s.write(".git/key", ours.private)
	s.write(".git/half", ours.public)
	s.write(".git/theirs", theirs.private)
	s.shell("chmod 600 .git/key .git/theirs").mustSucceed(t)
	attest := "ethos-trace attest HEAD --need ./check --need ./other --key "
	if o := s.shell(attest+".git/key").mustExit(t, 1); !strings.Contains(o.stderr, "missing ") || o.stdout != "" {
		t.Errorf("attested what did not run: %v", o)
	}
	s.shell("printf './check\n./other\n' | ethos-facts --from lines | ethos-decide | ethos-sandbox --tree | ethos-trace").mustExit(t, 0)
	bundle, foreign := s.shell(attest+".git/key").mustSucceed(t).stdout, s.shell(attest+".git/theirs").mustSucceed(t).stdout
	keysNameTheWayOut(t, s, attest)

	there := s.away(t, ours.public, theirs.public)
	verify := func(bundle, flags string) outcome {
		t.Helper()
		there.write("bundle", bundle)
		return there.shell("cd clone && ethos-trace verify " + flags + " ../bundle")
	}
	const usual = "--commit main --key ../pub --need ./check --policy coding_ethos.yml"
	accepted := func(bundle, flags string) {
		t.Helper()
		if o := verify(bundle, flags).mustExit(t, 0); strings.Count(o.stdout, "proven ") != 2 {
			t.Errorf("not told: %v", o)
		}
	}
	accepted(bundle, usual)
	accepted(ours.again(t, bundle, func(map[string]any) {}), usual) // so that what is refused below is refused for its words
	accepted(foreign, "--commit main --key ../theirs --policy coding_ethos.yml")
	if o := verify(bundle, usual+" --json").mustExit(t, 0); !strings.Contains(o.stdout, `"proven": true`) {
		t.Errorf("in JSON: %v", o)
	}

	run := func(p map[string]any, i int) map[string]any { return p["runs"].([]any)[i].(map[string]any) }
	for name, c := range map[string]struct{ bundle, flags, why string }{
		"another key":      {bundle, "--commit main --key ../theirs", "not by this key"},
		"signed again":     {foreign, usual, "not by this key"},
		"by us, not asked": {theirs.again(t, bundle, func(map[string]any) {}), usual, "not by this key"},
		"another commit":   {bundle, "--commit two --key ../pub", "subject is not commit"},
		"another need":     {bundle, usual + " --need ./third", "./third"},
		"another control":  {bundle, usual + " --control caches", "caches was not asked for"},
		"other policies":   {bundle, "--commit main --key ../pub", "other policies"},
		"changed":          {strings.Replace(bundle, `"payload":"`, `"payload":"A`, 1), usual, "not by this key"},
		"a record dropped": {ours.again(t, bundle, func(p map[string]any) { p["runs"] = p["runs"].([]any)[:1] }), usual, "missing"},
		"decisions swapped": {ours.again(t, bundle, func(p map[string]any) {
			a, b := run(p, 0), run(p, 1)
			a["decision"], b["decision"] = b["decision"], a["decision"]
		}), usual, "its decision is about something else"},
		"a failure": {ours.again(t, bundle, func(p map[string]any) { run(p, 0)["result"].(map[string]any)["exit_code"] = 1 }), usual, "failed"},
	} {
		if o := verify(c.bundle, c.flags).mustExit(t, 1); !strings.Contains(o.stderr, c.why) || o.stdout != "" {
			t.Errorf("%s: not refused because of %q: %v", name, c.why, o)
		}
	}
	for flags, way := range map[string]string{
		"--commit main --key ../none": "openssl pkey", "--commit main --key ../bundle": "openssl", "--commit none --key ../pub": "fetch it first",
		"--commit main~1 --key ../pub": "git rev-parse 'main~1'",
	} {
		if o := verify(bundle, flags).mustExit(t, 3); !strings.Contains(o.stderr, way) {
			t.Errorf("%s: no way out: %v", flags, o)
		}
	}
	verify(bundle, "--key ../pub").mustExit(t, 2)
}

// TestAttestFacts: facts that are not those of the action on the commit are refused, whoever signed. Those that only the machine can know are the signer's
// word when it is asked for.
func TestAttestFacts(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	ours := newSigning(t)
	s.write("check", "#!/bin/sh\ngrep good content\n")
	s.write("content", "good\n")
	s.write(".gitignore", "build\n")
	s.write("build/names", "build/a\nbuild/b\n")
	s.write(".git/key", ours.private)
	s.shell("chmod 600 .git/key && chmod +x check && ln -s content link && git add -A && git commit -qm one").mustSucceed(t)
	const listed = "xargs -a build/names rm -f"
	s.shell("printf './check\ncat link\n"+listed+"\n' | ethos-facts --from lines | ethos-decide | ethos-sandbox --tree | ethos-trace").mustExit(t, 0)
	sign := func(needs string) outcome { // a home directory may be written with a slash at its end
		return s.shell("HOME=$HOME/ ethos-trace attest HEAD --key .git/key " + needs)
	}
	honest, beside := sign("--need ./check --need 'cat link'").mustSucceed(t), sign("--need '"+listed+"'").mustSucceed(t)
	if honest.stderr != "" || !strings.Contains(beside.stderr, "--recorded-facts") {
		t.Errorf("%q, %q", honest.stderr, beside.stderr)
	}
	there := s.away(t, ours.public, ours.public)
	there.home = t.TempDir()
	there.env = append(there.env, "HOME="+there.home)
	verify := func(bundle, flags string) outcome {
		t.Helper()
		there.write("bundle", bundle)
		return there.shell("cd clone && ethos-trace verify --commit main --key ../pub " + flags + " ../bundle")
	}
	verify(honest.stdout, "").mustExit(t, 0)
	if o := verify(beside.stdout, "").mustExit(t, 1); !strings.Contains(o.stderr, "do not follow from its action") || !strings.Contains(o.stderr, "--recorded-facts") {
		t.Errorf("facts of what git ignores: %v", o)
	}
	verify(beside.stdout, "--recorded-facts").mustExit(t, 0)
	there.shell("cd clone && ethos-trace verify --recorded-facts").mustExit(t, 2)
	for what, change := range map[string]func(*record.Facts){
		"another command": func(f *record.Facts) { f.Shell.Commands[0].Name = "true" },
		"a link less":     func(f *record.Facts) { f.Files = []record.File{} },
		"more to read":    func(f *record.Facts) { f.Capabilities.ReadPaths = []string{"/opt/x"} },
	} {
		forged := ours.again(t, honest.stdout, func(p map[string]any) {
			runs := p["runs"].([]any)
			for i := range runs {
				runs[i] = resealed(t, runs[i], change)
			}
		})
		if o := verify(forged, "").mustExit(t, 1); !strings.Contains(o.stderr, "do not follow from its action") {
			t.Errorf("%s: %v", what, o)
		}
		verify(forged, "--recorded-facts").mustExit(t, 0) // so that it is refused for the facts alone
	}
}

// resealed is a record with other facts, and a decision about these.
func resealed(t *testing.T, run any, change func(*record.Facts)) (out any) {
	t.Helper()
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	l, err := record.ParseLine(text)
	if err != nil {
		t.Fatal(err)
	}
	var f record.Facts
	var d record.Decision
	if err := errors.Join(l.Decode("facts", &f), l.Decode("decision", &d)); err != nil {
		t.Fatal(err)
	}
	change(&f)
	err = l.Set("facts", f)
	if err == nil {
		d.Subject, err = l.Subject()
	}
	if err == nil {
		d, err = d.Sealed()
	}
	if err == nil {
		err = l.Set("decision", d)
	}
	if err != nil || json.Unmarshal(l.AppendTo(nil), &out) != nil {
		t.Fatal(err)
	}
	return out
}

// keysNameTheWayOut: a private key that is not there, is none, is the public half, is of OpenSSH, or can be read by others signs nothing.
func keysNameTheWayOut(t *testing.T, s *session, attest string) {
	t.Helper()
	for prepare, way := range map[string]string{
		"rm -f .git/k": "openssl genpkey", "echo x >.git/k; chmod 600 .git/k": "openssl genpkey", "cp .git/key .git/k; chmod 640 .git/k": "chmod 600 .git/k",
		"cp .git/half .git/k; chmod 644 .git/k": "private key file from which openssl pkey -pubout made this one", "echo ssh-ed25519 AAAA ada@example.com >.git/k": "use --ssh-key",
		"printf '%s OPENSSH PRIVATE KEY-----\nAAAA\n%s OPENSSH PRIVATE KEY-----\n' -----BEGIN -----END >.git/k; chmod 600 .git/k": "use --ssh-key",
	} {
		if o := s.shell(prepare+"; "+attest+".git/k").mustExit(t, 3); !strings.Contains(o.stderr, way) || o.stdout != "" {
			t.Errorf("%s: no way out: %v", prepare, o)
		}
	}
	s.shell("cp .git/key .git/k; chmod 600 .git/k; " + attest + ".git/k").mustSucceed(t)
}

// away is another place, with another state folder: a clone, and public keys. What it was cloned from is not reached from it.
func (s *session) away(t *testing.T, ours, theirs string) *session {
	t.Helper()
	there := newSession(t)
	there.write("pub", ours)
	there.write("theirs", theirs)
	there.shell("git clone -q '" + s.dir + "' clone && cd clone && git remote remove origin && git switch -qc two" +
		" && git -c user.name=t -c user.email=t@example.invalid commit -q --allow-empty -m two").mustSucceed(t)
	if err := os.Rename(s.dir, filepath.Join(t.TempDir(), "gone")); err != nil {
		t.Fatal(err)
	}
	return there
}

// TestAttestSSH: a key of OpenSSH signs, also one that only an agent has, and allowed signers say who may have.
func TestAttestSSH(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:ssh-keygen")
	s := newSession(t)
	proveOne(t, s)
	s.shell(`cd .git && for k in ed25519 ecdsa; do ssh-keygen -q -t $k -N "" -f $k && echo "$k@example.com $(cat $k.pub)" >>signers; done
		ssh-keygen -q -t ed25519 -N "" -f other; echo "other@example.com namespaces=\"git\" $(cat other.pub)" >>signers
		ssh-keygen -q -t ed25519 -N "" -f nobody`).mustSucceed(t)
	attest, verify := "ethos-trace attest HEAD --need ./check --ssh-key ", "ethos-trace verify --commit HEAD --allowed-signers .git/signers "
	for _, k := range []string{"ed25519", "ecdsa"} {
		s.shell(attest + ".git/" + k + " >b && " + verify + "b && " + verify + "--signer " + k + "@example.com b").mustSucceed(t)
		if o := s.shell(verify+"--signer other@example.com b").mustExit(t, 1); !strings.Contains(o.stderr, "its key is of "+k+"@example.com") {
			t.Errorf("another signer: %v", o)
		}
		s.shell(`sed 's/^[a-z0-9]*@/*@/' .git/signers >.git/patterns; ` + strings.Replace(verify, "signers .git/signers", "signers .git/patterns", 1) + "--signer " + k + "@example.com b").mustSucceed(t)
		s.shell(`sed 's/"keyid":"SHA256:/"keyid":"SHA256:x/' b >c && `+verify+"c").mustExit(t, 1)
		s.shell(`sed 's/"sig":"U1NIU0lHAAAAAQ/"sig":"U1NIU0lHAAAAAg/' b >c && `+verify+"c").mustExit(t, 1)
		s.shell("git commit -q --allow-empty -m more && "+verify+"b; s=$?; git reset -q --hard HEAD~; exit $s").mustExit(t, 1)
	}
	for _, k := range []string{"other", "nobody"} {
		if o := s.shell(attest+".git/"+k+" >b && "+verify+"b").mustExit(t, 1); !strings.Contains(o.stderr, "not by this key") {
			t.Errorf("%s: %v", k, o)
		}
	}
	for script, way := range map[string]string{attest + "none": "name a key of OpenSSH", attest + "content": "name a key of OpenSSH", verify[:len(verify)-len(".git/signers ")] + "none b": "a file with lines such as"} {
		if o := s.shell(script).mustExit(t, 3); !strings.Contains(o.stderr, way) || o.stdout != "" {
			t.Errorf("%s: no way out: %v", script, o)
		}
	}
	s.shell(attest+".git/ed25519 --key .git/ed25519").mustExit(t, 2)
	probetest.Need(t, "command:ssh-agent", "command:ssh-add")
	s.shell(`eval "$(ssh-agent)" >/dev/null; trap 'kill $SSH_AGENT_PID' EXIT
		ssh-add -q .git/ed25519 && mv .git/ed25519 .git/away && ` + attest + ".git/ed25519.pub >b && " + verify + "--signer ed25519@example.com b").mustSucceed(t)
	if o := s.shell(attest+".git/ed25519.pub").mustExit(t, 3); o.stdout != "" {
		t.Errorf("without the agent: %v", o)
	}
}

// proveOne makes a commit and a recorded run of ./check on it.
func proveOne(t *testing.T, s *session) {
	t.Helper()
	s.write("check", "#!/bin/sh\ngrep good content\n")
	s.write("content", "good\n")
	s.shell("chmod +x check && git add -A && git commit -qm one && ethos-facts -- ./check | ethos-decide | ethos-sandbox --tree | ethos-trace").mustSucceed(t)
}

// TestAttestSecrets: what a command printed is not in a bundle, and can be held against it by its hash; a run whose command has a secret is not attested.
func TestAttestSecrets(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	proveOne(t, s)
	s.write(".git/key", newSigning(t).private)
	s.shell("chmod 600 .git/key && ethos-trace attest HEAD --key .git/key --need ./check | sed 's/.*\"payload\":\"\\([^\"]*\\).*/\\1/' | base64 -d >statement").mustSucceed(t)
	s.shell("grep -q $(echo good | sha256sum | cut -d' ' -f1) statement && ! grep -q '\"text\":\"good' statement").mustSucceed(t)
	s.shell("rm statement").mustSucceed(t)
	const secret = "./check --token ghp_0123456789abcdefghijABCDEFGHIJ012345"
	s.shell("ethos-facts -- " + secret + " | ethos-decide | ethos-sandbox --tree | ethos-trace").mustSucceed(t)
	if o := s.shell("ethos-trace attest HEAD --key .git/key --need '"+secret+"'").mustExit(t, 1); o.stdout != "" {
		t.Errorf("a run with a secret: %v", o)
	}
	s.shell("ethos-trace attest HEAD --key .git/key --need ./check").mustSucceed(t)
}

// TestRedactedIsCommitted: a value that was taken out of a record can be checked by who knows it, against the subject of the decision.
func TestRedactedIsCommitted(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:jq")
	s := newSession(t)
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	s.shell("ethos-facts -- echo --token " + secret + " | ethos-decide | ethos-trace && ! grep -r " + secret + " .git").mustSucceed(t)
	with := func(value string) outcome {
		t.Helper()
		return s.shell("sed 's/‹[^›]*›/" + value + "/g' .git/coding-ethos/traces/*/*/*.ndjson | jq -c 'del(.prev, .hash)' | ethos-sandbox | jq -c 'select(.result).result | [.status, .reason]'")
	}
	if o := with(secret); !strings.Contains(o.stdout, "exited") {
		t.Errorf("the value: %v", o)
	}
	if o := with("ghp_1123456789abcdefghijABCDEFGHIJ012345"); !strings.Contains(o.stdout, "subject_mismatch") {
		t.Errorf("another value: %v", o)
	}
}

// TestForeignCosign: cosign checks who signed, the commit and the kind of statement, and refuses what is not so.
func TestForeignCosign(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:openssl")
	cosign := foreign(t, "cosign", "cosign")
	s := newSession(t)
	s.home = t.TempDir()
	s.env = append(s.env, "HOME="+s.home)
	proveOne(t, s)
	const check = " verify-blob-attestation --insecure-ignore-tlog --private-infrastructure --type https://ethos.invalid/proof/v1 --key "
	for _, make := range []string{"openssl genpkey -algorithm ed25519", "openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:P-256"} {
		s.shell(make + " -out .git/k && chmod 600 .git/k && openssl pkey -in .git/k -pubout -out pub && " + make + " | openssl pkey -pubout -out other && " +
			"ethos-trace attest HEAD --key .git/k --need ./check >bundle && git cat-file commit HEAD >commit").mustSucceed(t)
		s.shell(cosign + check + "pub --signature bundle commit").mustSucceed(t)
		s.shell("ethos-trace verify --commit HEAD --key pub bundle").mustSucceed(t)
		s.shell(cosign+check+"other --signature bundle commit").mustExit(t, 1)
		s.shell("echo >>commit; "+cosign+check+"pub --signature bundle commit").mustExit(t, 1)
		s.shell("git cat-file commit HEAD >commit; sed 's/\"payload\":\"ey/\"payload\":\"e2/' bundle >b; "+cosign+check+"pub --signature b commit").mustExit(t, 1)
		s.shell(cosign+strings.Replace(check, "proof/v1", "proof/v2", 1)+"pub --signature bundle commit").mustExit(t, 1)
	}
}

// foreign is the path of a program that `make foreign` builds.
func foreign(t *testing.T, need, name string) string {
	t.Helper()
	dir := os.Getenv("ETHOS_TEST_FOREIGN")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "ethos-test/foreign")
	}
	path := filepath.Join(dir, name)
	probetest.NeedFunc(t, need, func() string {
		if _, err := os.Stat(path); err != nil {
			return err.Error() + "; run `make foreign`"
		}
		return ""
	})
	return path
}
