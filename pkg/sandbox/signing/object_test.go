package signing

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

const (
	sha1Name   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	sha256Name = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	by         = "Ada <ada@example.org> 1700000000 +0100\n"
)

// objects are texts that git writes, and texts that nobody is to have signed.
var objects = []struct {
	name, text string
	kind       string // "" is refused
}{
	{"a commit", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "\nx\n", Commit},
	{"of SHA-256", "tree " + sha256Name + "\nparent " + sha256Name + "\nauthor " + by + "committer " + by + "\nx\n", Commit},
	{"a merge", "tree " + sha1Name + "\nparent " + strings.Repeat("1", 40) + "\nparent " + strings.Repeat("2", 40) + "\nauthor " + by + "committer " + by + "\nx\n", Commit},
	{"of another encoding", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "encoding ISO-8859-1\n\n\xe4\n", Commit},
	{"of a signed tag", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "mergetag object " + sha1Name + "\n type commit\n tag v\n tagger " + by + " \n x\n\nx\n", Commit},
	{"without a message", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "\n", Commit},
	{"a tag", "object " + sha1Name + "\ntype commit\ntag v1\ntagger " + by + "\nx\n", Tag},

	{"nothing", "", ""},
	{"a text", "hello\n", ""},
	{"a text of two parts", "hello\n\nyou\n", ""},
	{"a push certificate", "certificate version 0.1\npusher " + by + "nonce x\n\n" + sha1Name + " " + sha1Name + " refs/heads/main\n", ""},
	{"an authentication to a server", "\x00\x00\x00\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x32\x00\x00\x00\x04root\x00\x00\x00\x0essh-connection", ""},
	{"what ssh-keygen signs", "SSHSIG\x00\x00\x00\x04file\x00\x00\x00\x00", ""},
	{"a mail", "From: Ada <ada@example.org>\nTo: you\n\npay\n", ""},
	{"a list of sums", sha256Name + "  file.tar\n\n", ""},
	{"a NUL", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "\nx\x00\n", ""},
	{"no committer", "tree " + sha1Name + "\nauthor " + by + "\nx\n", ""},
	{"two committers", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "committer " + by + "\nx\n", ""},
	{"another order", "tree " + sha1Name + "\ncommitter " + by + "author " + by + "\nx\n", ""},
	{"another field", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "x-field y\n\nx\n", ""},
	{"a signature in it", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "gpgsig -----BEGIN PGP SIGNATURE-----\n\nx\n", ""},
	{"a short name", "tree " + sha1Name[1:] + "\nauthor " + by + "committer " + by + "\nx\n", ""},
	{"a name in capitals", "tree " + strings.ToUpper(sha1Name) + "\nauthor " + by + "committer " + by + "\nx\n", ""},
	{"names of two kinds", "tree " + sha1Name + "\nparent " + sha256Name + "\nauthor " + by + "committer " + by + "\nx\n", ""},
	{"two addresses", "tree " + sha1Name + "\nauthor " + by + "committer Ada <ada@example.org> <eve@example.org> 1700000000 +0100\n\nx\n", ""},
	{"no date", "tree " + sha1Name + "\nauthor " + by + "committer Ada <ada@example.org>\n\nx\n", ""},
	{"a carriage return", "tree " + sha1Name + "\r\nauthor " + by + "committer " + by + "\nx\n", ""},
	{"a tag of nothing", "object " + sha1Name + "\ntype key\ntag v1\ntagger " + by + "\nx\n", ""},
	{"a tag without a tagger", "object " + sha1Name + "\ntype commit\ntag v1\n\nx\n", ""},
	{"a signed tag", "object " + sha1Name + "\ntype commit\ntag v1\ntagger " + by + "\nx\n-----BEGIN PGP SIGNATURE-----\n\nx\n", ""},
	{"an identity that is too long", "tree " + sha1Name + "\nauthor " + by + "committer " + strings.Repeat("x", maxIdentity) + " " + by + "\nx\n", ""},
	{"an encoding that is none", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "encoding \x1b]0;x\x07 UTF-7\n\nx\n", ""},
	{"control characters", "tree " + sha1Name + "\nauthor " + by + "committer A\x1bda <ada@example.org> 1 +0000\n\nx\n", ""},
	{"a date far away", "tree " + sha1Name + "\nauthor " + by + "committer Ada <ada@example.org> 9999999999999999999 +0000\n\nx\n", ""},
	{"a zone that is none", "tree " + sha1Name + "\nauthor " + by + "committer Ada <ada@example.org> 1 +9999\n\nx\n", ""},
	{"a tag of a path", "object " + sha1Name + "\ntype commit\ntag v1 ../../x\ntagger " + by + "\nx\n", ""},
	{"a tag below one", "object " + sha1Name + "\ntype commit\ntag release/v1.0-rc\ntagger " + by + "\nx\n", Tag},
	{"too much", "tree " + sha1Name + "\nauthor " + by + "committer " + by + "\n" + strings.Repeat("x", MaxPayload), ""},
}

// TestParse: commits and tags, as git takes them, are read; nothing else is.
func TestParse(t *testing.T) {
	for _, c := range objects {
		o, err := Parse([]byte(c.text))
		switch {
		case (err == nil) != (c.kind != ""):
			t.Errorf("%s: %v", c.name, err)
		case err == nil && (o.Kind != c.kind || o.Committer != Identity{"Ada", "ada@example.org"}):
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}

// TestGitTakesWhatIsParsed: git has the same opinion of what is signed, by the same
// name.
func TestGitTakesWhatIsParsed(t *testing.T) {
	for _, c := range objects {
		o, err := Parse([]byte(c.text))
		if err != nil || o.Refers[0] != sha1Name {
			continue
		}
		cmd := exec.Command("git", "hash-object", "-t", o.Kind, "--stdin")
		cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(c.text)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", c.name, err, out)
			continue
		}
		if o.Kind == Tag && strings.TrimSpace(string(out)) != o.Name(nil) {
			t.Errorf("%s: git calls it %s, and here it is %s", c.name, out, o.Name(nil))
		}
	}
}

// FuzzParse: what is taken has one committer in the place where git looks for it.
func FuzzParse(f *testing.F) {
	for _, c := range objects {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := Parse(text)
		if err != nil {
			return
		}
		head, _, _ := bytes.Cut(text, []byte("\n\n"))
		field := "\ncommitter "
		if o.Kind == Tag {
			field = "\ntagger "
		}
		if bytes.Count(head, []byte(field)) != 1 || !bytes.Contains(head, []byte(field+o.Committer.Name)) || bytes.IndexByte(text, 0) >= 0 {
			t.Errorf("%q: %+v", text, o)
		}
		for _, name := range o.Refers {
			if !objectName(name) || !bytes.Contains(head, []byte(" "+name)) {
				t.Errorf("%q: %s", text, name)
			}
		}
		o.Name([]byte("-----BEGIN X-----\n"))
	})
}

// FuzzSSHKey: no signature of a program makes the reader fail, and none passes that
// is not one for git alone.
func FuzzSSHKey(f *testing.F) {
	f.Add([]byte("-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ==\n-----END SSH SIGNATURE-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := sshKey(text); err == nil && (!strings.HasPrefix(key, "SHA256:") || bytes.Count(text, []byte("-----BEGIN ")) != 1) {
			t.Errorf("%q: %s", text, key)
		}
	})
}
