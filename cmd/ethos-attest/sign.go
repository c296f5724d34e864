package main

import (
	"bytes"
	"context"
	"crypto"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"ethos/pkg/attest"
	"ethos/pkg/cli"
	"ethos/pkg/proof"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// sign writes the bundle of what the order found proven.
func sign(ctx context.Context, sys *cli.System, order proof.AttestOrder) error {
	key, err := signer(ctx, order.Key, order.SSH)
	if err != nil {
		return err
	}
	lines, err := recorded(ctx, sys, order)
	if err != nil {
		return err
	}
	predicate, err := attest.Make(order.Want, order.Needs, lines)
	if home := sys.Getenv("HOME"); path.IsAbs(home) {
		predicate.Home = path.Clean(home)
	}
	var bundle []byte
	if err == nil {
		bundle, err = attest.Sign(ctx, key, attest.Subject{Commit: order.Commit, Tree: order.Want.Tree, SHA256: order.SHA256}, predicate)
	}
	if errors.Is(err, attest.ErrKeygen) {
		return cli.Errorf(cli.BadInput, attest.SSHHint, "not attested: %w", err)
	}
	if err != nil {
		return cli.Errorf(cli.NegativeStatus, "run the command again without the secret in it, through ethos-facts and ethos-decide", "not attested: %w", err)
	}
	runs, err := predicate.Lines()
	if err == nil {
		err = derivable(predicate, runs, order.Want.Workspace, order.Commit)
	}
	if err != nil {
		sys.Warn("ethos-trace verify will need --recorded-facts: "+err.Error(), "commit the files that the command names, and run it again")
	}
	_, err = sys.Records().Write(bundle)
	return err
}

func signer(ctx context.Context, name string, bySSH bool) (attest.Signer, error) {
	if bySSH {
		key, err := attest.SSH(ctx, name)
		if err != nil {
			return nil, cli.Errorf(cli.BadInput, attest.SSHHint, "key: %w", err)
		}
		return key, nil
	}
	key, err := privateKey(name)
	if errors.Is(err, errOpenSSH) {
		return nil, cli.Errorf(cli.BadInput, "use --ssh-key, which also takes the public half of a key that ssh-agent has", "%w", err)
	}
	if err != nil {
		return nil, err
	}
	return attest.PEM(key), nil
}

// maxKey limits the length of a key file, in bytes.
const maxKey = 1 << 16

// privateKey reads a key that only its owner can read.
func privateKey(name string) (crypto.Signer, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, attest.KeyHint, "private key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, "", "private key: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKey))
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, "", "private key: %w", err)
	}
	switch err := otherKey(text); { // before the mode: others may read a public key
	case errors.Is(err, errOpenSSH):
		return nil, cli.Errorf(cli.BadInput, attest.KeyHint, "private key: %s: %w", name, err)
	case err != nil:
		return nil, cli.Errorf(cli.BadInput, "name the private key file from which openssl pkey -pubout made this one", "private key: %s: %w", name, err)
	}
	if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 {
		return nil, cli.Errorf(cli.BadInput, "chmod 600 "+name+"; if others could have read it, create a new key", "private key: %s has mode %04o: others than its owner may use it", name, mode.Perm())
	}
	key, err := attest.ReadKey(text)
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, attest.KeyHint, "private key: %s: %w", name, err)
	}
	return key, nil
}

// errOpenSSH is wrapped where a key is in a form of OpenSSH.
var errOpenSSH = errors.New("of OpenSSH")

// otherKey returns an error for a key that is no private key in PEM: a public one, or one of
// OpenSSH.
func otherKey(text []byte) error {
	block, _ := pem.Decode(text)
	switch {
	case block != nil && strings.HasSuffix(block.Type, "PUBLIC KEY"):
		return errors.New("this is the public half of a key")
	case block != nil && block.Type == "OPENSSH PRIVATE KEY":
		return fmt.Errorf("this is a key %w", errOpenSSH)
	}
	for _, kind := range []string{"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"} { // sshd(8), AUTHORIZED_KEYS FILE FORMAT
		if bytes.HasPrefix(text, []byte(kind)) {
			return fmt.Errorf("this is the public half of a key %w", errOpenSSH)
		}
	}
	return nil
}

// recorded returns the records of the runs that prove the needs, each under its
// seal.
func recorded(ctx context.Context, sys *cli.System, order proof.AttestOrder) (map[string]*record.Line, error) {
	s, err := trace.OpenExisting(order.Store)
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, "name the store with --store", "%w", err)
	}
	defer s.Close()
	found := map[string]*record.Line{}
	return found, s.Walk(time.Time{}, func(l trace.Stored) error {
		for _, v := range order.Needs {
			if found[v.ID] != nil || !bytes.Contains(l.Text, []byte(`"id":"`+v.ID+`"`)) {
				continue
			}
			line, err := record.ParseLine(bytes.Clone(l.Text))
			var r record.Result
			if err == nil && line.ID() == v.ID && line.Decode("result", &r) == nil && r.Capture.Tree != nil && proof.Check(sys.Getenv, v.ID, r) == nil {
				found[v.ID] = line
			}
		}
		return ctx.Err()
	})
}
