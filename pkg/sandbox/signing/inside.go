package signing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/timerslack"
)

// Asks reports whether git inside runs this command line in place of gpg or
// ssh-keygen.
func Asks(args []string) bool { return len(args) > 0 && instead(args[0]) != "" }

// instead returns the program that name replaces, or "" for none.
func instead(name string) string {
	switch filepath.Base(name) {
	case filepath.Base(record.InsideSignGPG):
		return "gpg"
	case filepath.Base(record.InsideSignSSH):
		return "ssh-keygen"
	}
	return ""
}

// Inside requests the signature that git wants from a socket, and returns the
// exit status. All other uses of the two programs are passed to the real ones.
func Inside(args []string, socket string) int {
	var err error
	program := instead(args[0])
	if w := wanted(program, args[1:]); w != nil {
		err = w.ask(socket)
	} else {
		err = become(program, args[1:])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "ethos-sandbox: error: %v\n", err)
		return 1
	}
	return 0
}

// become replaces this process with the program that git means.
func become(program string, args []string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	return timerslack.Exec(path, append([]string{program}, args...), os.Environ())
}

// signature is a signature that git asks for.
type signature struct {
	format, key string
	file        string // file to be signed; "" is standard input
	to          string // file for the signature; "" is standard output
}

// wanted returns the signature that a command line asks for, or nil if it asks
// for something else: gpg-interface.c, sign_buffer_gpg and sign_buffer_ssh.
func wanted(program string, args []string) *signature {
	if program == "gpg" {
		if len(args) == 3 && strings.HasPrefix(args[0], "--status-fd=") && args[1] == "-bsau" {
			return &signature{format: OpenPGP, key: args[2]}
		}
		return nil
	}
	s := signature{format: SSH}
	sign := false
	for i := 0; i < len(args); i++ {
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		switch args[i] {
		case "-Y":
			sign = value == "sign"
			i++
		case "-f":
			s.key = value
			i++
		case "-n":
			i++
		case "-U":
		default:
			s.file = args[i]
		}
	}
	if !sign || s.file == "" {
		return nil
	}
	s.to = s.file + ".sig"
	return &s
}

// ask requests the signature and passes it to git.
func (s *signature) ask(socket string) error {
	in := io.Reader(os.Stdin)
	if s.file != "" {
		f, err := os.Open(s.file)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	payload, err := io.ReadAll(io.LimitReader(in, MaxPayload+1))
	if err != nil {
		return err
	}
	a, err := s.exchange(socket, payload)
	if err != nil {
		return fmt.Errorf("the signer outside: %w", err)
	}
	if a.Refused != "" {
		return errors.New("not signed: " + a.Refused + hinted(a.Hint))
	}
	if s.to != "" {
		return os.WriteFile(s.to, a.Signature, 0o600)
	}
	if _, err := os.Stdout.Write(a.Signature); err != nil {
		return err
	}
	_, err = fmt.Fprint(os.Stderr, "\n[GNUPG:] SIG_CREATED D\n") // git checks for it
	return err
}

func hinted(hint string) string {
	if hint == "" {
		return ""
	}
	return "\nethos-sandbox: hint: " + hint
}

func (s *signature) exchange(socket string, payload []byte) (a answer, err error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return a, err
	}
	defer conn.Close()
	r := request{Format: s.format, Key: s.asked(), Repository: repository(), Payload: payload}
	if err = send(conn, r); err == nil {
		err = conn.CloseWrite()
	}
	if err == nil {
		err = receive(conn, &a)
	}
	return a, err
}

// asked returns the key by its name in the configuration: git writes a key that
// is given there literally to a file.
func (s *signature) asked() string {
	if s.format != SSH || !strings.HasPrefix(filepath.Base(s.key), ".git_signing_key_tmp") {
		return s.key
	}
	text, err := os.ReadFile(s.key)
	if err != nil {
		return s.key
	}
	return string(bytes.TrimSpace(text))
}

// repository returns the git directory that git runs in, or "" if that is
// unknown.
func repository() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	options := gitrepo.FromEnviron(os.Getenv)
	r, err := gitrepo.Open(dir, options)
	if r == nil || err != nil && r.Record.CommonDir == "" {
		return ""
	}
	return r.Record.CommonDir
}
