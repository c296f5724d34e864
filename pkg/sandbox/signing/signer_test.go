package signing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// ada is a person with a repository, a key of SSH and a signer.
type ada struct {
	*Signer
	home, work, tree string
	environ          map[string]string
}

func (a *ada) getenv(name string) string { return a.environ[name] }

func has(t *testing.T, program string) {
	t.Helper()
	probetest.NeedFunc(t, program, func() string {
		if _, err := exec.LookPath(program); err != nil {
			return "there is no " + program
		}
		return ""
	})
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
		t.Fatal(err)
	}
}

// newAda has the rest of the configuration as it is given.
func newAda(t *testing.T, configuration string) *ada {
	t.Helper()
	has(t, "ssh-keygen")
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &ada{home: filepath.Join(base, "home"), work: filepath.Join(base, "work")}
	a.environ = map[string]string{"HOME": a.home, "PATH": os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM": "1"}
	write(t, filepath.Join(a.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n\tsigningKey = ~/key.pub\n[gpg]\n\tformat = ssh\n"+configuration, 0o644)
	command(t, "", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(a.home, "key"))
	command(t, "", "git", "init", "-q", a.work)
	a.tree = command(t, a.work, "git", "hash-object", "-w", "-t", "tree", "/dev/null")
	root, err := os.OpenRoot("/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	a.Signer = &Signer{Root: root, Now: time.Now}
	return a
}

// find finds the program; the command writes to the work space.
func (a *ada) find(t *testing.T) error {
	t.Helper()
	p, err := Read(a.work, a.getenv, a.writes)
	if err == nil {
		a.Program, err = Find(p, a.getenv, t.TempDir(), a.writes)
	}
	return err
}

func (a *ada) writes(path string) bool { return path == a.work || strings.HasPrefix(path, a.work+"/") }

func (a *ada) commit(author, committer string) []byte {
	return fmt.Appendf(nil, "tree %s\nauthor %s 1700000000 +0000\ncommitter %s 1700000000 +0000\n\nx\n", a.tree, author, committer)
}

const adaHerself = "Ada <ada@example.org>"

// ask sends a request as git inside does.
func (a *ada) ask(t *testing.T, r request) answer {
	t.Helper()
	ours, theirs := pair(t)
	go a.Serve(t.Context(), theirs)
	var got answer
	err := send(ours, r)
	if err == nil {
		err = errors.Join(ours.CloseWrite(), receive(ours, &got))
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func pair(t *testing.T) (ours, theirs *net.UnixConn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list [2]*net.UnixConn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "pair")
		conn, err := net.FileConn(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		list[i] = conn.(*net.UnixConn)
		t.Cleanup(func() { conn.Close() })
	}
	return list[0], list[1]
}

func (a *ada) request(payload []byte) request {
	return request{Format: SSH, Key: filepath.Join(a.home, "key.pub"), Repository: filepath.Join(a.work, ".git"), Payload: payload}
}

// TestWhatIsSigned: a commit of the person in the repository is signed; nothing else.
func TestWhatIsSigned(t *testing.T) {
	a := newAda(t, "")
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	good := a.request(a.commit(adaHerself, adaHerself))
	if got := a.ask(t, good); got.Refused != "" || sshSigns(t, a, good.Payload, got.Signature) != nil {
		t.Fatalf("%+v", got)
	}
	const eve = "Eve <eve@example.org>"
	for name, change := range map[string]func(*request){
		"is no commit":           func(r *request) { r.Payload = []byte("hello\n") },
		"has another committer":  func(r *request) { r.Payload = a.commit(adaHerself, eve) },
		"has another author":     func(r *request) { r.Payload = a.commit(eve, adaHerself) },
		"mixes names":            func(r *request) { r.Payload = a.commit(adaHerself, "Ada <eve@example.org>") },
		"has another format":     func(r *request) { r.Format = OpenPGP },
		"has another key":        func(r *request) { r.Key = filepath.Join(a.home, "other.pub") },
		"has no repository":      func(r *request) { r.Repository = "" },
		"has another repository": func(r *request) { r.Repository = a.home },
		"goes up":                func(r *request) { r.Repository = "/../.." + r.Repository },
		"has a missing tree": func(r *request) {
			r.Payload = []byte(strings.Replace(string(r.Payload), a.tree, strings.Repeat("1", len(a.tree)), 1))
		},
	} {
		r := good
		if change(&r); a.ask(t, r).Refused == "" {
			t.Errorf("what %s is signed", name)
		}
	}
	list, more := a.Signatures()
	if len(list) != 11 || more != 0 || list[0].Verdict != "signed" || !strings.HasPrefix(list[0].Key, "SHA256:") || list[0].Committer != adaHerself {
		t.Errorf("%d events: %+v", len(list), list)
	}
	if len(a.Denied()) == 0 {
		t.Error("no refusal is told")
	}
	a.Anybody = true
	r := a.request(a.commit(eve, adaHerself))
	if got := a.ask(t, r); got.Refused != "" {
		t.Errorf("of another author, where that is allowed: %+v", got)
	}
}

// TestDecided: policy hears of what may be signed otherwise, as the command of git
// that makes it, and its word counts.
func TestDecided(t *testing.T) {
	a := newAda(t, "")
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	var heard []string
	a.Decide = func(o *Object, repository string) (string, string) {
		if heard = append(heard, strings.Join(o.Command(), " ")+" "+repository); o.Kind == Tag {
			return "no tags", "ask for one"
		}
		return "", ""
	}
	commit, repository := a.request(a.commit(adaHerself, adaHerself)), filepath.Join(a.work, ".git")
	if got := a.ask(t, commit); got.Refused != "" {
		t.Errorf("%+v", got)
	}
	tag := a.request(fmt.Appendf(nil, "object %s\ntype tree\ntag v1\ntagger %s 1700000000 +0000\n\nfirst\nsecond\n", a.tree, adaHerself))
	if got := a.ask(t, tag); got.Refused != "no tags" || got.Hint != "ask for one" || got.Signature != nil {
		t.Errorf("%+v", got)
	}
	a.ask(t, a.request(a.commit(adaHerself, "Eve <eve@example.org>")))
	if want := []string{"git commit-tree -S -m x " + a.tree + " " + repository, "git tag -s -m first v1 " + a.tree + " " + repository}; !slices.Equal(heard, want) {
		t.Errorf("%q", heard)
	}
}

// sshSigns asks ssh-keygen whether a signature is good.
func sshSigns(t *testing.T, a *ada, payload, signature []byte) error {
	t.Helper()
	public, err := os.ReadFile(filepath.Join(a.home, "key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(a.home, "allowed"), "ada@example.org "+string(public), 0o600)
	write(t, filepath.Join(a.home, "sig"), string(signature), 0o600)
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-n", "git", "-I", "ada@example.org", "-f", filepath.Join(a.home, "allowed"), "-s", filepath.Join(a.home, "sig"))
	cmd.Stdin = strings.NewReader(string(payload))
	return cmd.Run()
}

// TestPackedAndBorrowed: objects in packs and in alternates are the repository's.
func TestPackedAndBorrowed(t *testing.T) {
	a := newAda(t, "")
	command(t, a.work, "git", "-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", "x")
	head := command(t, a.work, "git", "rev-parse", "HEAD")
	command(t, a.work, "git", "repack", "-qad")
	borrowing := filepath.Join(a.home, "borrowing")
	command(t, "", "git", "clone", "-q", "--shared", a.work, borrowing)
	for _, dir := range []string{filepath.Join(a.work, ".git"), filepath.Join(borrowing, ".git")} {
		if err := Stored(t.Context(), a.Root, dir, []string{head, a.tree}); err != nil {
			t.Error(err)
		}
		if Stored(t.Context(), a.Root, dir, []string{head, strings.Repeat("a", 40)}) == nil {
			t.Errorf("%s has an object that there is not", dir)
		}
	}
	inside, err := os.OpenRoot(a.work)
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	if err := errors.Join(os.RemoveAll(filepath.Join(a.work, ".git/objects")), os.Symlink(filepath.Join(borrowing, ".git/objects"), filepath.Join(a.work, ".git/objects"))); err != nil {
		t.Fatal(err)
	}
	if Stored(t.Context(), inside, "/.git", []string{head}) == nil {
		t.Error("a link leads out of the boundary")
	}
	moved := filepath.Join(a.work, ".git/objects")
	command(t, "", "git", "init", "-q", filepath.Join(a.work, "other"))
	tree := command(t, filepath.Join(a.work, "other"), "git", "hash-object", "-w", "-t", "tree", "/dev/null")
	if err := errors.Join(os.Remove(moved), os.Symlink("/other/.git/objects", moved)); err != nil {
		t.Fatal(err)
	}
	if err := Stored(t.Context(), inside, "/.git", []string{tree}); err != nil {
		t.Errorf("a link in the boundary: %v", err)
	}
	if err := errors.Join(os.Remove(moved), os.Symlink("objects", moved)); err != nil {
		t.Fatal(err)
	}
	if Stored(t.Context(), inside, "/.git", []string{tree}) == nil {
		t.Error("a link to itself has objects")
	}
}

// TestWhoseProgram: the program is the person's. The repository's configuration names
// none, and what the command can change is not run, by whatever name.
func TestWhoseProgram(t *testing.T) {
	a := newAda(t, "")
	marker := filepath.Join(a.home, "ran")
	evil := filepath.Join(a.work, "ssh-keygen")
	write(t, evil, "#!/bin/sh\ntouch "+marker+"\n", 0o755)
	command(t, a.work, "git", "config", "gpg.ssh.program", evil)
	command(t, a.work, "git", "config", "gpg.format", "openpgp")
	command(t, a.work, "git", "config", "user.email", "eve@example.org")
	a.environ["PATH"] = a.work + ":.:" + a.environ["PATH"]
	good := a.request(a.commit(adaHerself, adaHerself))
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	if got := a.ask(t, good); got.Refused != "" {
		t.Errorf("%+v", got)
	}
	if a.ask(t, a.request(a.commit("Ada <eve@example.org>", adaHerself))).Refused == "" {
		t.Error("the repository's configuration names the person")
	}
	link := filepath.Join(a.home, "link")
	if err := errors.Join(os.Symlink(evil, link), os.Symlink("/usr/bin/ssh-keygen", filepath.Join(a.work, "hop")), os.Symlink(filepath.Join(a.work, "hop"), filepath.Join(a.home, "hops"))); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{evil, link, filepath.Join(a.home, "hops"), "work/ssh-keygen", filepath.Join(a.home, "missing"), a.home} {
		b := newAda(t, "[gpg \"ssh\"]\n\tprogram = "+program+"\n")
		b.work = a.work
		if err := b.find(t); err == nil {
			t.Errorf("%s is run", program)
		}
	}
	b := newAda(t, "[user]\n\tsigningKey = "+filepath.Join(a.work, "key.pub")+"\n")
	b.work = a.work
	if err := b.find(t); err == nil {
		t.Error("a key is used that the command can change")
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("a program of the command ran outside")
	}
}

// TestWhatIsRead: nothing that says what runs outside is the command's to change.
func TestWhatIsRead(t *testing.T) {
	a := newAda(t, "")
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(a *ada) error{
		"what it includes": func(a *ada) error {
			write(t, filepath.Join(a.work, "identity"), "[gpg \"ssh\"]\n\tprogram = /usr/bin/env\n", 0o644)
			write(t, filepath.Join(a.home, ".gitconfig"), "[include]\n\tpath = "+filepath.Join(a.work, "identity")+"\n", 0o644)
			return nil
		},
		"what its name leads to": func(a *ada) error {
			return errors.Join(os.Rename(filepath.Join(a.home, ".gitconfig"), filepath.Join(a.work, "dotfile")), os.Symlink(filepath.Join(a.work, "dotfile"), filepath.Join(a.home, ".gitconfig")))
		},
		"GNUPGHOME":     func(a *ada) error { a.environ["GNUPGHOME"] = filepath.Join(a.work, "keys"); return nil },
		"a link":        func(a *ada) error { return os.Symlink(a.work, filepath.Join(a.home, ".gnupg")) },
		"SSH_AUTH_SOCK": func(a *ada) error { a.environ["SSH_AUTH_SOCK"] = filepath.Join(a.work, "agent"); return nil },
		"SSH_ASKPASS":   func(a *ada) error { a.environ["SSH_ASKPASS"] = filepath.Join(a.work, "ask"); return nil },
	} {
		a := newAda(t, "")
		if err := change(a); err != nil {
			t.Fatal(err)
		}
		if err := a.find(t); err == nil || !strings.Contains(err.Error(), "the command can change "+a.work) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a.environ["PATH"] = a.work + ":" + a.environ["PATH"] + ":."
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	for _, entry := range a.Program.env {
		if strings.HasPrefix(entry, "PATH=") && (strings.Contains(entry, a.work) || strings.Contains(entry, ":.")) {
			t.Error(entry)
		}
	}
}

// TestConditions: what the person's configuration says of some repositories counts in
// those.
func TestConditions(t *testing.T) {
	a := newAda(t, "")
	write(t, filepath.Join(a.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n[includeIf \"gitdir:"+a.work+"/\"]\n\tpath = work\n", 0o644)
	write(t, filepath.Join(a.home, "work"), "[user]\n\tsigningKey = ABC\n", 0o644)
	p, err := Read(a.work, a.getenv, a.writes)
	if err != nil || p.Key != "ABC" || p.Format != OpenPGP {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = Read(a.home, a.getenv, a.writes); err != nil || p.Key != "" {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestBounds: signatures are counted, and a program that fails has a rest.
func TestBounds(t *testing.T) {
	a := newAda(t, "")
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a.Now = func() time.Time { return now }
	for i := range burst {
		if no := a.take(); no != nil {
			t.Fatalf("%d: %+v", i, no)
		}
	}
	good := a.request(a.commit(adaHerself, adaHerself))
	if a.ask(t, good).Refused == "" {
		t.Error("there is no bound")
	}
	if now = now.Add(every); a.ask(t, good).Refused != "" {
		t.Error("there is no more")
	}
	now = now.Add(time.Hour)
	if err := os.Remove(filepath.Join(a.home, "key")); err != nil {
		t.Fatal(err)
	}
	for range fails {
		if got := a.ask(t, good); !strings.Contains(got.Refused, "did not sign") || strings.Contains(got.Refused, a.home) {
			t.Errorf("%+v", got)
		}
	}
	if got := a.ask(t, good); !strings.Contains(got.Refused, "times in a row") {
		t.Errorf("%+v", got)
	}
}

// TestRefusalsAreCounted: who has had as many refusals as signatures may be made is
// answered more slowly, and has nothing looked up.
func TestRefusalsAreCounted(t *testing.T) {
	a := newAda(t, "")
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a.Now = func() time.Time { return now }
	for i := range burst {
		if got := a.ask(t, request{}); strings.Contains(got.Refused, "at once") {
			t.Fatalf("%d: %+v", i, got)
		}
	}
	good := a.request(a.commit(adaHerself, adaHerself))
	began := time.Now()
	if got := a.ask(t, good); !strings.Contains(got.Refused, "at once") || time.Since(began) < every {
		t.Errorf("%+v after %v", got, time.Since(began))
	}
	if now = now.Add(every); a.ask(t, good).Refused != "" {
		t.Error("there is no more")
	}
}

// TestEvidenceIsKept: refusals, however many and long, leave a signature in the
// evidence, and that has a bound.
func TestEvidenceIsKept(t *testing.T) {
	shorttest.Long(t)
	a := newAda(t, "")
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a.Now = func() time.Time { now = now.Add(every); return now }
	long := strings.Repeat("\x01", 1000)
	for i := range maxKept + maxRefused {
		payload := a.commit(adaHerself, fmt.Sprint(i, long, " <a@b>"))
		if i%2 == 0 {
			payload = a.commit(adaHerself, fmt.Sprint(i, strings.Repeat("\u00e4", 400), " <a@b>"))
		}
		if i%3 == 0 {
			payload = a.commit(fmt.Sprint(strings.Repeat("x", 1<<20-1000), "<a@b>"), adaHerself)
		}
		if _, no := a.answer(t.Context(), new(a.request(payload))); no == nil {
			t.Fatal("it is signed")
		}
	}
	if got := a.ask(t, a.request(a.commit(adaHerself, adaHerself))); got.Refused != "" {
		t.Fatalf("%+v", got)
	}
	list, more := a.Signatures()
	if len(list) != maxRefused+1 || more != maxKept || list[maxRefused].Verdict != "signed" {
		t.Errorf("%d are kept, %d more: %+v", len(list), more, list[len(list)-1])
	}
	text, err := json.Marshal(map[string]any{"signatures": list, "denials": a.Denied()})
	if err != nil || len(text) > 512<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for _, event := range list {
		if len(event.Reason) > maxReason || len(event.Committer) > maxBy || !utf8.ValidString(event.Committer) {
			t.Errorf("%d bytes of a reason, %q", len(event.Reason), event.Committer)
		}
	}
}

// TestWorkEndsWithTheClient: nothing is done for a client that is gone, and one that
// has only ended its request is waited for.
func TestWorkEndsWithTheClient(t *testing.T) {
	a := newAda(t, "[gpg \"ssh\"]\n\tprogram = ~/waits\n")
	began := filepath.Join(a.home, "began")
	write(t, filepath.Join(a.home, "waits"), "#!/bin/sh\ntouch "+began+"\nexec sleep 600\n", 0o755)
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	ours, theirs := pair(t)
	done := make(chan struct{})
	go func() { a.Serve(t.Context(), theirs); close(done) }()
	if err := errors.Join(send(ours, a.request(a.commit(adaHerself, adaHerself))), ours.CloseWrite()); err != nil {
		t.Fatal(err)
	}
	for _, err := os.Stat(began); err != nil; _, err = os.Stat(began) {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-done:
		t.Fatal("a client that waits is not waited for")
	case <-time.After(every):
	}
	ours.Close()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("the program of a client that is gone goes on")
	}
}

// TestNobodyChooses: neither remotes nor branches of a repository choose among what the
// person's configuration says, and a name that is set anew is no longer the person's.
func TestNobodyChooses(t *testing.T) {
	a := newAda(t, "[includeIf \"hasconfig:remote.*.url:https://work.example/**\"]\n\tpath = other\n[includeIf \"onbranch:work/**\"]\n\tpath = other\n[includeIf \"gitdir:/elsewhere/\"]\n\tpath = other\n")
	write(t, filepath.Join(a.home, "other"), "[user]\n\temail = work@example.org\n\tsigningKey = ~/work.pub\n", 0o644)
	command(t, a.work, "git", "remote", "add", "x", "https://work.example/x")
	command(t, a.work, "git", "symbolic-ref", "HEAD", "refs/heads/work/x")
	p, err := Read(a.work, a.getenv, a.writes)
	if err != nil || p.Key != filepath.Join(a.home, "key.pub") || p.Committer.Email != "ada@example.org" {
		t.Errorf("%+v, %v", p, err)
	}
	here := newAda(t, "")
	write(t, filepath.Join(here.home, ".gitconfig"), "[user]\n\tname = Ada L.\n\temail = ada@example.org\n\tsigningKey = ~/key.pub\n[gpg]\n\tformat = ssh\n[includeIf \"gitdir:"+here.work+"/\"]\n\tpath = other\n", 0o644)
	write(t, filepath.Join(here.home, "other"), "[user]\n\temail = work@example.org\n[author]\n\tname = A. Lovelace\n", 0o644)
	if err := here.find(t); err != nil {
		t.Fatal(err)
	}
	const author = "A. Lovelace <work@example.org>"
	for committer, good := range map[string]bool{
		"Ada L. <work@example.org>": true, "Ada L <work@example.org>": true, "Ada L. <ada@example.org>": false, "A. Lovelace <work@example.org>": false,
		"\"Ada L. <work@example.org>": false, "Ada L. <work@example.org.>": false,
	} {
		if got := here.ask(t, here.request(here.commit(author, committer))); (got.Refused == "") != good {
			t.Errorf("%s: %+v", committer, got)
		}
	}
	if got := here.ask(t, here.request(here.commit("Ada L. <ada@example.org>", "Ada L. <work@example.org>"))); got.Refused == "" {
		t.Error("an overridden address is the person's")
	}
}

// TestHostileClient: half a request, too much and no object leave the signer as it was.
func TestHostileClient(t *testing.T) {
	a := newAda(t, "")
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing": "", "half": `{"format":"ssh","payl`, "another type": `[]`, "too much": `{"key":"` + strings.Repeat("x", maxMessage) + `"}`, "deep": strings.Repeat("[", 1<<20),
	} {
		ours, theirs := pair(t)
		done := make(chan struct{})
		go func() { a.Serve(t.Context(), theirs); close(done) }()
		_, _ = ours.Write([]byte(text))
		_ = ours.CloseWrite()
		var got answer
		if err := receive(ours, &got); err == nil && got.Refused == "" {
			t.Errorf("%s: %+v", name, got)
		}
		ours.Close()
		<-done
	}
	if got := a.ask(t, a.request(a.commit(adaHerself, adaHerself))); got.Refused != "" {
		t.Errorf("afterwards: %+v", got)
	}
}

// TestProgramThatWaits: a program that waits for a person ends with the run, and with
// all that it started; what it prints beside a signature is not handed on.
func TestProgramThatWaits(t *testing.T) {
	a := newAda(t, "")
	waits := filepath.Join(a.home, "waits")
	pid := filepath.Join(a.home, "pid")
	write(t, waits, "#!/bin/sh\nsleep 600 & echo $! > "+pid+".new; mv "+pid+".new "+pid+"; wait\n", 0o755)
	write(t, filepath.Join(a.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n\tsigningKey = x\n[gpg]\n\tprogram = ~/waits\n", 0o644)
	if err := a.find(t); err != nil {
		t.Fatal(err)
	}
	o, err := Parse(a.commit(adaHerself, adaHerself))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { _, _, err := a.Program.sign(ctx, o); ended <- err }()
	var child []byte
	for len(child) == 0 {
		time.Sleep(time.Millisecond)
		child, _ = os.ReadFile(pid)
	}
	cancel()
	if err := <-ended; !errors.Is(err, errProgram) {
		t.Error(err)
	}
	var number int
	fmt.Sscan(string(child), &number)
	for syscall.Kill(number, 0) == nil && !zombie(number) {
		time.Sleep(time.Millisecond)
	}
	write(t, waits, "#!/bin/sh\ncat >/dev/null; echo secret; printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'; echo '[GNUPG:] SIG_CREATED D 1 8 00 1 ABC' >&2\n", 0o755)
	if signature, _, err := a.Program.sign(t.Context(), o); !errors.Is(err, errProgram) {
		t.Errorf("%s, %v", signature, err)
	}
}

// zombie reports a process that is dead and that nobody has waited for.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}
