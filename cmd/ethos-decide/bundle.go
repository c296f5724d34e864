//go:build !nocel

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"ethos/pkg/catalog"
	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
	"ethos/pkg/proof"
	"ethos/pkg/record"
	"ethos/pkg/timerslack"
)

// bundleCmd distributes the administrator's ceiling to many machines.
type bundleCmd struct {
	Create  bundleCreateCmd  `cmd:"" help:"Sign a directory with ceiling.yaml and policy.d, for other machines."`
	Verify  bundleVerifyCmd  `cmd:"" help:"Check who signed a bundle and that its content loads; show what it contains."`
	Install bundleInstallCmd `cmd:"" help:"Install a bundle signed by a trusted key into /etc/ethos, all or nothing; as root."`
}

type bundleCreateCmd struct {
	Name   string `required:"" placeholder:"NAME" help:"Name of the bundle. It replaces an installed bundle of the same name."`
	Number int64  `required:"" placeholder:"N" help:"Version of the bundle, from 1. A greater number is newer."`
	Key    string `required:"" placeholder:"FILE" help:"Private key in PEM: ECDSA or Ed25519. Nobody else may be able to read the file."`
	Dir    string `arg:"" type:"path" help:"Directory with ceiling.yaml and policy.d/*.yml."`
}

// Help implements kong.HelpProvider.
func (*bundleCreateCmd) Help() string {
	return `Writes the bundle to standard output: one line of JSON, a DSSE envelope whose payload is a tar with a manifest and the files. The same files, name and number give
the same tar. The files must be valid and the examples in the policies must hold. Status 3: a file or an example is wrong, or the key cannot be used.`
}

func (c *bundleCreateCmd) Run(ctx context.Context, sys *cli.System) error {
	files, err := ceiling.ReadFrom(c.Dir)
	var b *ceiling.Bundle
	if err == nil {
		b, err = ceiling.NewBundle(c.Name, c.Number, files)
	}
	if err != nil {
		return cli.Errorf(cli.BadInput, "name a directory like "+ceiling.Dir, "bundle: %w", err)
	}
	if _, err := load(b); err != nil {
		return err
	}
	text, err := b.Tar()
	if err == nil {
		text, err = attester(ctx, sys, proof.Order{Seal: &proof.SealOrder{Key: c.Key}}, text)
	}
	if err != nil {
		return err
	}
	_, err = sys.Records().Write(text)
	return err
}

type bundleVerifyCmd struct {
	Key    string `placeholder:"FILE" help:"Public keys in PEM; one of them must have signed. Default: /etc/ethos/trusted_keys."`
	Bundle string `arg:"" help:"The bundle."`
}

// Help implements kong.HelpProvider.
func (*bundleVerifyCmd) Help() string {
	return `Changes nothing. Status 1: none of the keys signed it, or it was changed; 3: its content is not valid for this version of ethos.`
}

func (c *bundleVerifyCmd) Run(ctx context.Context, sys *cli.System) error {
	keys, err := trustedKeys(c.Key)
	if err != nil {
		return err
	}
	b, limit, err := verified(ctx, sys, keys, c.Bundle)
	if err != nil {
		return err
	}
	limit.Bundle = b.Manifest.String()
	return sys.Print(limitText(limit, decide.Administrators(b.Files)))
}

type bundleInstallCmd struct {
	Older   bool   `help:"Also install a version older than one installed before. It may bring back a problem that was fixed."`
	Replace bool   `help:"Also replace a bundle of another name, or files that were written or changed by hand or cannot be read."`
	Bundle  string `arg:"" help:"The bundle."`
}

// Help implements kong.HelpProvider.
func (*bundleInstallCmd) Help() string {
	return `The keys in /etc/ethos/trusted_keys determine whom this machine trusts; no bundle contains that file, and no option names another. All files are replaced at
once, and the old ones are kept in /etc/ethos.previous. Installing a bundle again changes nothing.

Status 1: no trusted key signed it, it is older, or it would replace something else; 3: its content is not valid, or there are no keys.`
}

func (c *bundleInstallCmd) Run(ctx context.Context, sys *cli.System) error {
	keys, err := trustedKeys("")
	if err != nil {
		return err
	}
	b, limit, err := verified(ctx, sys, keys, c.Bundle)
	if err != nil {
		return err
	}
	before, done, err := ceiling.Install(b, ceiling.Force{Older: c.Older, Replace: c.Replace})
	switch {
	case errors.Is(err, ceiling.ErrRefused):
		return cli.Errorf(cli.NegativeStatus, "nothing was changed; --older allows an older version, --replace replaces files of another bundle, files that no bundle installed, and unreadable files", "bundle %v: %w", b.Manifest, err)
	case errors.Is(err, os.ErrPermission):
		return cli.Errorf(cli.BadInput, "run it as root", "bundle %v: %w", b.Manifest, err)
	case err != nil:
		return cli.Errorf(cli.BadInput, "nothing is partly installed; in a container, or if "+ceiling.Dir+" is a mount, install it where the container or the mount comes from", "bundle %v: %w", b.Manifest, err)
	case !done:
		return sys.Printf("%s is already installed: %s\n", b.Manifest.String(), limit.Digest)
	case before != nil:
		return sys.Printf("%s is installed: %s; %s is in %s\n", b.Manifest.String(), limit.Digest, before.String(), ceiling.Previous)
	}
	return sys.Printf("%s is installed: %s; the old files are in %s\n", b.Manifest.String(), limit.Digest, ceiling.Previous)
}

// trustedKeys returns the keys in the given file, else the administrator's keys.
func trustedKeys(file string) (string, error) {
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", cli.Errorf(cli.BadInput, "name a file with public keys in PEM", "--key: %w", err)
		}
		return string(text), nil
	}
	text, err := ceiling.TrustedKeys()
	if err != nil {
		return "", cli.Errorf(cli.BadInput, "name a public key with --key, or check that the key is the right one and install it as root: install -m 644 -D KEY.pub "+ceiling.Dir+"/"+ceiling.Keys, "cannot read the trusted keys: %w", err)
	}
	return string(text), nil
}

func verified(ctx context.Context, sys *cli.System, keys, name string) (*ceiling.Bundle, *ceiling.Ceiling, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, cli.Errorf(cli.BadInput, "name the file that ethos-decide bundle create wrote", "bundle: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 2*ceiling.MaxBundle+1))
	if err == nil {
		text, err = attester(ctx, sys, proof.Order{Unseal: &proof.UnsealOrder{Keys: keys}}, text)
	}
	if err != nil {
		return nil, nil, err
	}
	b, err := ceiling.ReadBundle(text)
	if err != nil {
		return nil, nil, cli.Errorf(cli.BadInput, "ask the signer to create it again with ethos-decide bundle create", "%w", err)
	}
	limit, err := load(b)
	return b, limit, err
}

// load fails if a machine with this version of ethos would refuse everything because of the bundle.
func load(b *ceiling.Bundle) (*ceiling.Ceiling, error) {
	wrong := func(err error) error {
		return cli.Errorf(cli.BadInput, "fix the file and create the bundle again; the paths are those that the files would have when installed", "bundle %v: %w", b.Manifest, err)
	}
	limit, err := catalog.ParseCeiling(b.Files)
	if err != nil {
		return nil, wrong(err)
	}
	for _, name := range limit.Require {
		if hint, unknown := record.UnknownControl(name); unknown {
			return nil, wrong(fmt.Errorf("%s: require: unknown control %q: %s", ceiling.Name, name, hint))
		}
	}
	for _, packs := range [][]string{nil, policy.Packs()} {
		set, err := policy.Load(policy.Options{Packs: packs, Sources: decide.Administrators(b.Files), Ceiling: limit.Digest})
		if err == nil && packs == nil {
			err = decide.RunExamples(set)
		}
		if err != nil {
			return nil, wrong(err)
		}
	}
	return limit, nil
}

// attester passes an order to the ethos-attest beside this program.
func attester(ctx context.Context, sys *cli.System, order proof.Order, in []byte) ([]byte, error) {
	const program = "ethos-attest"
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	name, err := cli.Beside(program)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, string(text))
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = sys.Dir, sys.Environ, bytes.NewReader(in), &out, sys.Stderr
	err = timerslack.Start(cmd.Run)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 {
		return nil, cli.Exit(cli.Status(exit.ExitCode())) // it has printed why
	}
	if err != nil {
		return nil, cli.Errorf(cli.CannotEnforce, "install "+program+" beside "+sys.Name+", as make install does", "start %s: %w", printable.Line(program), err)
	}
	return out.Bytes(), nil
}
