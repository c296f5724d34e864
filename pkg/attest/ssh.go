package attest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ethos/pkg/timerslack"
)

// Namespace is that of signatures by ssh-keygen(1): what a key signed for git or for a log-in is nothing here.
const Namespace = "ethos"

// sshKeygen signs and checks: keys of agents and tokens, certificates and allowed signers are OpenSSH's to know.
const sshKeygen = "ssh-keygen"

// SSHHint says what ssh-keygen takes.
const SSHHint = "name a key of OpenSSH, or its public half where an agent or a token has the key; who checks it names a file with lines such as: ada@example.com ssh-ed25519 AAAA…"

// ErrKeygen is wrapped where ssh-keygen failed.
var ErrKeygen = errors.New("it failed")

const sshArmor = "SSH SIGNATURE"

// ssh is a key of OpenSSH, or those of a file of allowed signers.
type ssh struct {
	file     string // key, or its public half whose private one an agent has; or allowed signers
	identity string // of the signer; "" for any
	id       string // of the key, for signing
}

// SSH signs by `ssh-keygen -Y sign`. The file is a private key, or the public half of one that an agent or a token has.
func SSH(ctx context.Context, file string) (Signer, error) {
	out, err := keygen(ctx, nil, "-l", "-f", file) // "256 SHA256:… comment (ED25519)"
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 || !strings.HasPrefix(fields[1], "SHA256:") {
		return nil, fmt.Errorf("%s -l -f %s: no fingerprint: %.100q", sshKeygen, file, out)
	}
	return &ssh{file: file, id: fields[1]}, nil
}

// AllowedSigners verifies what one of the signers of a file signed by [SSH]: ALLOWED SIGNERS in ssh-keygen(1). The identity is the one that has to
// have signed; "" for any of them.
func AllowedSigners(file, identity string) Verifier { return &ssh{file: file, identity: identity} }

// KeyID is the fingerprint, as ssh-keygen -l prints it; none for allowed signers.
func (s *ssh) KeyID() (string, error) { return s.id, nil }

// Public is of no use here.
func (*ssh) Public() crypto.PublicKey { return nil }

func (*ssh) mayBe(keyID string, sig []byte) bool {
	own, err := sshKeyID(sig)
	return err == nil && own == keyID
}

// sshKeyID is the fingerprint of the key in a signature: PROTOCOL.sshsig of OpenSSH, section 2.
func sshKeyID(sig []byte) (string, error) {
	rest, ok := bytes.CutPrefix(sig, []byte("SSHSIG\x00\x00\x00\x01"))
	if !ok || len(rest) < 4 || uint64(binary.BigEndian.Uint32(rest)) > uint64(len(rest)-4) {
		return "", errors.New("no signature of OpenSSH")
	}
	sum := sha256.Sum256(rest[4 : 4+binary.BigEndian.Uint32(rest)])
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]), nil
}

// Sign signs. A passphrase is asked for on the terminal.
func (s *ssh) Sign(ctx context.Context, data []byte) ([]byte, error) {
	out, err := keygen(ctx, data, "-Y", "sign", "-n", Namespace, "-f", s.file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(out)
	if block == nil || block.Type != sshArmor {
		return nil, fmt.Errorf("%s -Y sign: no signature: %.100q", sshKeygen, out)
	}
	return block.Bytes, nil
}

func (s *ssh) Verify(ctx context.Context, data, sig []byte) error {
	dir, err := os.MkdirTemp("", "ethos-signature-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "sig")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: sshArmor, Bytes: sig}), 0o600); err != nil {
		return err
	}
	found, err := keygen(ctx, nil, "-Y", "find-principals", "-s", name, "-f", s.file)
	if err != nil {
		return fmt.Errorf("%w: %w", errSignature, err)
	}
	by, _, _ := strings.Cut(string(found), "\n")
	identity := s.identity
	if identity == "" {
		identity, _, _ = strings.Cut(by, ",")
	}
	if _, err := keygen(ctx, data, "-Y", "verify", "-n", Namespace, "-f", s.file, "-I", identity, "-s", name); err != nil {
		return fmt.Errorf("%w: its key is of %.100s: %w", errSignature, by, err)
	}
	return nil
}

func keygen(ctx context.Context, in []byte, args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, sshKeygen, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &errs
	if err := timerslack.Start(cmd.Run); err != nil {
		said := strings.TrimSpace(errs.String() + " " + out.String())
		return nil, fmt.Errorf("%s %s: %w: %w: %.300s", sshKeygen, strings.Join(args[:2], " "), ErrKeygen, err, said)
	}
	return out.Bytes(), nil
}
