package attest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	mrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"ethos/pkg/proof"
	"ethos/pkg/record"
)

var (
	now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	at  = Subject{Commit: strings.Repeat("c", 40), Tree: strings.Repeat("1", 40), SHA256: strings.Repeat("5", 64)}
)

// line is a run of a command that passed on the tree, as it is changed.
func line(t testing.TB, id, command string, change ...func(*record.Decision, *record.Result)) *record.Line {
	t.Helper()
	argv := strings.Fields(command)
	l := record.NewLine(id, now, record.Action{Kind: record.KindExec, Argv: argv, Cwd: "/w", Workspace: "/w"}, record.Actor{Mode: record.ModeSafe})
	r := record.Result{Status: record.StatusExited, Started: "2026-11-23T11:00:00Z", DurationMS: 12.345, Capture: record.Capture{
		Stdout: record.Stream{Bytes: 3, Text: "ok\n", SHA256: "00"}, Sandbox: record.Sandbox{Backend: "native"},
		Tree: &record.Tree{Before: at.Tree, After: at.Tree, Argv: argv, Dir: "/w", Workspace: "/w", Variables: []string{}},
	}}
	for _, name := range append(proof.DefaultControls(), "cgroup") {
		r.Capture.Sandbox.Controls = append(r.Capture.Sandbox.Controls, record.Control{Name: name, State: "enforced"})
	}
	r.Capture.Sandbox.Controls[7].State = "degraded"
	if err := l.Set("facts", record.Facts{}); err != nil {
		t.Fatal(err)
	}
	subject, err := l.Subject()
	if err != nil {
		t.Fatal(err)
	}
	d := record.Decision{Verdict: record.VerdictAllow, Subject: subject, Matches: []record.Match{}, Errors: []record.PolicyError{}, Policy: record.PolicySet{Digest: "sha256:p"}}
	for _, c := range change {
		c(&d, &r)
	}
	if d, err = d.Sealed(); err == nil {
		err = l.Set("decision", d)
	}
	if err == nil {
		err = l.Set("result", r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// said is a predicate of two runs.
func said(t testing.TB) Predicate {
	t.Helper()
	w := proof.Want{Tree: at.Tree, Workspace: "/w", Now: now, Controls: proof.DefaultControls()}
	lines, runs, needs := map[string]*record.Line{}, []proof.Run{}, []proof.Verdict{}
	for id, command := range map[string]string{"a": "go test ./...", "b": "go vet ./..."} {
		lines[id] = line(t, id, command)
		var r record.Result
		if err := lines[id].Decode("result", &r); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, proof.Run{ID: id, Result: r})
	}
	for _, command := range []string{"go test ./...", "go vet ./..."} {
		needs = append(needs, proof.Judge(command, runs, w))
	}
	p, err := Make(w, needs, lines)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func keys(t testing.TB) []crypto.Signer {
	t.Helper()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return []crypto.Signer{ed, ec}
}

func accepted(public crypto.PublicKey, bundle []byte, s Subject) error {
	p, err := Open(context.Background(), Public(public), bundle, s)
	if err == nil {
		err = p.Derive(s, proof.DefaultControls())
	}
	return err
}

func TestBundle(t *testing.T) {
	for _, key := range keys(t) {
		p := said(t)
		bundle, err := Sign(context.Background(), PEM(key), at, p)
		if err != nil {
			t.Fatal(err)
		}
		if err := accepted(key.Public(), bundle, at); err != nil {
			t.Errorf("%T: %v", key, err)
		}
		if !slices.Equal(p.Weakest, []string{"cgroup: degraded"}) || bytes.Contains(p.Runs[0], []byte(`"ok\n"`)) {
			t.Errorf("weakest %q, runs %s", p.Weakest, p.Runs)
		}
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		public, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
		if err != nil || !key.Public().(interface{ Equal(crypto.PublicKey) bool }).Equal(again.Public()) {
			t.Errorf("%T: read again: %v", key, err)
		}
		if half, err := ReadPublic(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})); err != nil || accepted(half, bundle, at) != nil {
			t.Errorf("%T: by its public half: %v", key, err)
		}
	}
	for _, text := range []string{"", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"} {
		if _, err := ReadKey([]byte(text)); err == nil {
			t.Errorf("%q is a key", text)
		}
		if _, err := ReadPublic([]byte(text)); err == nil {
			t.Errorf("%q is a public key", text)
		}
	}
}

// TestSHA256: the commit and the tree have names of either of git's formats.
func TestSHA256(t *testing.T) {
	key := keys(t)[0]
	for _, length := range []int{40, 64} {
		s := Subject{Commit: strings.Repeat("c", length), Tree: at.Tree, SHA256: at.SHA256}
		if err := accepted(key.Public(), sign(t, key, s, said(t)), s); err != nil {
			t.Errorf("%d: %v", length, err)
		}
		if err := accepted(key.Public(), sign(t, key, s, said(t)), Subject{Commit: strings.Repeat("d", length), Tree: at.Tree, SHA256: at.SHA256}); err == nil {
			t.Errorf("%d: for another commit", length)
		}
	}
	if _, err := payloadOf(Subject{Commit: "c", Tree: at.Tree, SHA256: at.SHA256}, said(t)); err == nil {
		t.Error("a part of a name")
	}
}

// resigned are things that a holder of the key may not say.
var resigned = map[string]func(p *Predicate){
	"a run is left out":        func(p *Predicate) { p.Runs = p.Runs[:1] },
	"a need is left out":       func(p *Predicate) { p.Needs = p.Needs[:1] },
	"no need":                  func(p *Predicate) { p.Needs, p.Runs = nil, nil },
	"a run twice":              func(p *Predicate) { p.Runs = append(p.Runs, p.Runs[0]) },
	"another need":             func(p *Predicate) { p.Needs[0].Need = "go build ./..." },
	"ids are swapped":          func(p *Predicate) { p.Needs[0].ID, p.Needs[1].ID = p.Needs[1].ID, p.Needs[0].ID },
	"fewer controls":           func(p *Predicate) { p.Controls = p.Controls[:3] },
	"a stronger weakest":       func(p *Predicate) { p.Weakest = []string{} },
	"another policy":           func(p *Predicate) { p.Policies = []string{"sha256:q"} },
	"another work space":       func(p *Predicate) { p.Workspace = "/v" },
	"a time before the runs":   func(p *Predicate) { p.Time = "2026-11-22T00:00:00Z" },
	"a failure that passed":    in(`"exit_code":0`, `"exit_code":1`),
	"a control that was off":   in(`"name":"landlock","requested":"","enforced":"","state":"enforced"`, `"name":"landlock","requested":"","enforced":"","state":"absent"`),
	"another tree":             in(`"after":"1`, `"after":"2`),
	"content that was written": in(`"written":0`, `"written":1`),
	"another verdict":          in(`"verdict":"allow"`, `"verdict":"warn"`),
	"a denied call":            in(`"verdict":"allow"`, `"verdict":"deny"`),
	"another action":           in(`"argv":["go","test","./..."],"cwd"`, `"argv":["true"],"cwd"`),
	"what else ran":            in(`"argv":["go","test","./..."],"dir"`, `"argv":["true"],"dir"`),
	"another actor":            in(`"mode":"safe"`, `"mode":"auto"`),
	"a declared variable":      in(`"variables":[]`, `"variables":["GOFLAGS"]`),
}

func in(old, changed string) func(p *Predicate) {
	return func(p *Predicate) {
		for i := range p.Runs {
			p.Runs[i] = bytes.Replace(p.Runs[i], []byte(old), []byte(changed), 1)
		}
	}
}

// TestResigned: what does not follow from the runs is not accepted by whomever it is signed, and not signed.
func TestResigned(t *testing.T) {
	key := keys(t)[0]
	for name, change := range resigned {
		p := said(t)
		before, _ := json.Marshal(p)
		change(&p)
		if after, _ := json.Marshal(p); bytes.Equal(before, after) {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := Sign(context.Background(), PEM(key), at, p); err == nil && name != "fewer controls" {
			t.Errorf("%s: signed", name)
		}
		if err := accepted(key.Public(), sign(t, key, at, p), at); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// sign signs whatever it is given.
func sign(t testing.TB, key crypto.Signer, s Subject, p Predicate) []byte {
	t.Helper()
	payload, err := payloadOf(s, p)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := dsse.NewEnvelopeSigner(&pair{key, key.Public()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := signer.SignPayload(context.Background(), payloadType, payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestMutations changes bundles by chance: bytes, members, signatures, subjects, keys: 100,000 times, in a short run 2,000.
func TestMutations(t *testing.T) {
	count, seed := 100_000, mrand.Uint64()
	if testing.Short() {
		count = 2000
	}
	rng := mrand.New(mrand.NewPCG(seed, 0))
	ours, theirs := keys(t), keys(t)
	other := Subject{Commit: strings.Repeat("d", 40), Tree: at.Tree, SHA256: at.SHA256}
	var good, replayed, foreign [2][]byte
	for i := range ours {
		good[i], replayed[i], foreign[i] = sign(t, ours[i], at, said(t)), sign(t, ours[i], other, said(t)), sign(t, theirs[i], at, said(t))
	}
	for n := range count {
		i := n % 2
		bundle := bytes.Clone(good[i])
		var e, f dsse.Envelope
		if err := json.Unmarshal(bundle, &e); err != nil {
			t.Fatal(err)
		}
		kind := rng.IntN(10)
		switch kind {
		case 0:
			bundle[rng.IntN(len(bundle))] ^= byte(1 + rng.IntN(255))
		case 1:
			at := rng.IntN(len(bundle))
			bundle = slices.Delete(bundle, at, min(len(bundle), at+1+rng.IntN(40)))
		case 2:
			at := rng.IntN(len(bundle))
			bundle = slices.Insert(bundle, at, bundle[at/2:at/2+1+rng.IntN(3)]...)
		case 3:
			bundle = replayed[i]
		case 4:
			bundle = foreign[i]
		case 5: // the words of another, or of another commit, under this signature
			_ = json.Unmarshal([][]byte{replayed[i], good[1-i], foreign[i]}[rng.IntN(3)], &f)
			e.Signatures, f.Signatures = f.Signatures, e.Signatures
			if rng.IntN(2) == 0 {
				e = f
			}
			bundle, _ = encode(&e)
		case 6: // another payload
			text, _ := base64.StdEncoding.DecodeString(e.Payload)
			text[rng.IntN(len(text))] ^= byte(1 + rng.IntN(127))
			e.Payload = base64.StdEncoding.EncodeToString(text)
			bundle, _ = encode(&e)
		case 7: // another signature beside it
			_ = json.Unmarshal(foreign[i], &f)
			e.Signatures = slices.Insert(e.Signatures, rng.IntN(2), f.Signatures[0])
			bundle, _ = encode(&e)
		case 8:
			e.Signatures[0].KeyID = []string{"", "x", strings.Repeat("0", 64)}[rng.IntN(3)]
			bundle, _ = encode(&e)
		case 9:
			e.PayloadType = []string{"", "application/json", e.PayloadType + " "}[rng.IntN(3)]
			bundle, _ = encode(&e)
		}
		if bytes.Equal(bundle, good[i]) {
			continue // the letter that was put in was there before
		}
		if err := accepted(ours[i].Public(), bundle, at); err == nil {
			t.Fatal(fmt.Sprintf("seed %d, mutation %d of kind %d was accepted:", seed, n, kind), string(bundle))
		}
	}
	for i := range ours {
		if err := accepted(ours[i].Public(), good[i], at); err != nil {
			t.Errorf("the twin: %v", err)
		}
	}
}
