package signing

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"crypto/sha256"

	"ethos/pkg/timerslack"
)

// Patience is the time limit for a signature; the user may be asked for a
// passphrase.
const Patience = 2 * time.Minute

// maxSignature limits the output of a program, in bytes.
const maxSignature = 64 << 10

// surroundings lists the user's environment variables that a signing program
// gets. It has no terminal. GPG_TTY is not in the list, because the command may
// read from the user's terminal and would see what is typed there.
var surroundings = []string{
	"HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "GNUPGHOME", "SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PINENTRY_USER_DATA",
}

// Program is the signing program outside.
type Program struct {
	person Person
	path   string // without symbolic links
	env    []string
	state  string // a directory that no command can see
	again  func() (*Program, error)
}

// Find finds the program and the key of a user. writes reports whether the
// command can change a path. A program at such a path, or reached by a symbolic
// link there, is not run; neither is one whose interpreter or configuration is
// there. A key there is not used. state is a directory for files that the
// program reads. The same checks are repeated before each signature.
func Find(p Person, getenv func(string) string, state string, writes func(string) bool) (*Program, error) {
	l := &look{getenv: getenv, path: pathWithout(getenv("PATH"), writes), writes: writes}
	path, err := l.program(p.Program)
	if err != nil {
		return nil, fmt.Errorf("the signing program of your git configuration: %w", err)
	}
	if p.Format == SSH && !literal(p.Key) {
		if _, err := settled(p.Key, writes); err != nil {
			return nil, fmt.Errorf("user.signingKey of your git configuration: %w", err)
		}
	}
	out := &Program{person: p, path: path, state: state, again: func() (*Program, error) { return Find(p, getenv, state, writes) }}
	for _, name := range surroundings {
		value := getenv(name)
		if name == "PATH" {
			value = l.path
		}
		if value != "" {
			out.env = append(out.env, name+"="+value)
		}
	}
	return out, l.reads()
}

// asks says why the key that git asks for is not the user's, or returns nil if
// it is.
func (p *Person) asks(key string, o *Object) error {
	want := p.Key
	if want == "" {
		want = o.Committer.String()
	}
	if strings.TrimPrefix(key, "key::") == strings.TrimPrefix(want, "key::") {
		return nil
	}
	return fmt.Errorf("git asks for the key %.200q, but your own configuration names %q", key, want)
}

// errProgram is wrapped if the program did not sign.
var errProgram = errors.New("did not sign")

// sign signs the text. It also returns the fingerprint of the key.
func (p *Program) sign(ctx context.Context, o *Object) (signature []byte, key string, err error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if p.person.Format == SSH {
		return p.ssh(ctx, o)
	}
	key = p.person.Key
	if key == "" {
		key = o.Committer.String()
	}
	signature, status, err := p.run(ctx, o.text, "--status-fd=2", "-bsau", key)
	if err != nil {
		return nil, "", err
	}
	for line := range strings.Lines(status) {
		if words := strings.Fields(line); len(words) == 8 && words[0] == "[GNUPG:]" && words[1] == "SIG_CREATED" {
			return signature, words[7], armored(signature, "PGP SIGNATURE")
		}
	}
	return nil, "", fmt.Errorf("%s %w: it reports no signature", p.path, errProgram)
}

// ssh calls the program as git does: ssh-keygen(1), -Y sign.
func (p *Program) ssh(ctx context.Context, o *Object) (signature []byte, key string, err error) {
	dir, err := os.MkdirTemp(p.state, "sign-")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	file, args := filepath.Join(dir, "text"), []string{"-Y", "sign", "-n", "git", "-f", p.person.Key}
	if literal(p.person.Key) {
		args[5] = filepath.Join(dir, "key")
		args = append(args, "-U")
		err = os.WriteFile(args[5], []byte(strings.TrimPrefix(p.person.Key, "key::")+"\n"), 0o600)
	}
	if err == nil {
		err = os.WriteFile(file, o.text, 0o600)
	}
	if err == nil {
		_, _, err = p.run(ctx, nil, append(args, file)...)
	}
	if err != nil {
		return nil, "", err
	}
	f, err := os.Open(file + ".sig")
	if err != nil {
		return nil, "", fmt.Errorf("%s %w: %w", p.path, errProgram, err)
	}
	defer f.Close()
	signature = make([]byte, maxSignature+1)
	n, _ := f.Read(signature)
	signature = signature[:n]
	key, err = sshKey(signature)
	return signature, key, err
}

// run runs the program without a terminal. On a timeout it kills the program
// and its children.
func (p *Program) run(ctx context.Context, in []byte, args ...string) (stdout []byte, stderr string, err error) {
	var out, errs bounded
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Args[0] = filepath.Base(p.person.Program)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.env, "/", bytes.NewReader(in), &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err = timerslack.Start(cmd.Run)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		err = fmt.Errorf("%s %w: the requester is gone", p.path, errProgram)
	case ctx.Err() != nil:
		err = fmt.Errorf("%s %w within %v", p.path, errProgram, Patience)
	case err != nil:
		err = fmt.Errorf("%s %w: %w: %s", p.path, errProgram, err, errs.last())
	}
	return out.Bytes(), errs.String(), err
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(text []byte) (int, error) {
	if b.Len() <= maxSignature {
		b.Buffer.Write(text[:min(len(text), maxSignature+1-b.Len())])
	}
	return len(text), nil
}

// last returns the last line that is meant for people.
func (b *bounded) last() (last string) {
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "[GNUPG:]") {
			last = line
		}
	}
	return last
}

// armored says why a text is not exactly one signature.
func armored(text []byte, kind string) error {
	begin, end := []byte("-----BEGIN "+kind+"-----\n"), []byte("-----END "+kind+"-----\n")
	plain := len(text) <= maxSignature && bytes.HasPrefix(text, begin) && bytes.Count(text, []byte("-----")) == 4 && bytes.HasSuffix(text, end) &&
		bytes.IndexFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) < 0
	if !plain {
		return fmt.Errorf("%w: the output is not one signature", errProgram)
	}
	return nil
}

// sshKey returns the fingerprint of the key that made a signature:
// PROTOCOL.sshsig of OpenSSH. A signature for a namespace other than git's is
// an error.
func sshKey(text []byte) (string, error) {
	block, rest := pem.Decode(text)
	if err := armored(text, "SSH SIGNATURE"); err != nil || block == nil || len(rest) > 0 {
		return "", errors.Join(errProgram, err)
	}
	blob, ok := bytes.CutPrefix(block.Bytes, []byte("SSHSIG\x00\x00\x00\x01"))
	key, blob, ok1 := field(blob)
	space, _, ok2 := field(blob)
	if !ok || !ok1 || !ok2 || string(space) != "git" {
		return "", fmt.Errorf("%w: the output is not a signature for git", errProgram)
	}
	sum := sha256.Sum256(key)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]), nil
}

// field reads an SSH string: RFC 4251, 5.
func field(blob []byte) (value, rest []byte, ok bool) {
	if len(blob) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(blob)
	if blob = blob[4:]; uint64(n) > uint64(len(blob)) {
		return nil, nil, false
	}
	return blob[:n], blob[n:], true
}
