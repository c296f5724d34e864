package main

import (
	"context"
	"fmt"
	"io"

	"ethos/pkg/attest"
	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/proof"
)

// sealedType is the payload type of a ceiling, so that a signature of a ceiling
// is not valid for anything else.
const sealedType = "application/vnd.ethos.ceiling+tar"

// seal signs the tar of a ceiling.
func seal(ctx context.Context, sys *cli.System, order proof.SealOrder) error {
	sys.Name = "ethos-decide"
	key, err := privateKey(order.Key)
	if err != nil {
		return err
	}
	text, err := input(sys, ceiling.MaxBundle)
	if err == nil {
		_, err = ceiling.ReadBundle(text)
	}
	if err == nil {
		text, err = attest.Seal(ctx, attest.PEM(key), sealedType, text)
	}
	if err != nil {
		return err
	}
	_, err = sys.Records().Write(text)
	return err
}

// unseal writes the tar of a ceiling that a trusted key signed.
func unseal(ctx context.Context, sys *cli.System, order proof.UnsealOrder) error {
	sys.Name = "ethos-decide"
	keys, err := attest.ReadPublics([]byte(order.Keys))
	if err != nil {
		return cli.Errorf(cli.BadInput, "openssl pkey -in KEY -pubout writes the public half of a key", "trusted keys: %w", err)
	}
	text, err := input(sys, 2*ceiling.MaxBundle)
	if err == nil {
		var by []attest.Verifier
		for _, key := range keys {
			by = append(by, attest.Public(key))
		}
		text, err = attest.Unseal(ctx, by, sealedType, text)
	}
	if err != nil {
		return cli.Errorf(cli.NegativeStatus, "nothing in it was used: ask the sender which key signed it", "bundle: %w", err)
	}
	_, err = sys.Stdout.Write(text)
	return err
}

func input(sys *cli.System, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(sys.Stdin, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("longer than %d bytes", limit)
	}
	return text, err
}
