package attest

import (
	"bytes"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

var (
	errSignature = errors.New("it is not by this key, or was changed since it was signed")
	errForm      = errors.New("not one that ethos wrote for this use")
)

// Seal signs a payload: a DSSE envelope in one line of JSON. The signature is over the type, too.
func Seal(ctx context.Context, key crypto.Signer, kind string, payload []byte) ([]byte, error) {
	signer, err := dsse.NewEnvelopeSigner(&pair{key, key.Public()})
	if err != nil {
		return nil, err
	}
	envelope, err := signer.SignPayload(ctx, kind, payload)
	if err != nil {
		return nil, err
	}
	return encode(envelope)
}

func encode(envelope *dsse.Envelope) ([]byte, error) {
	text, err := json.Marshal(envelope)
	return append(text, '\n'), err
}

// Unseal returns the payload of an envelope of this type that one of these keys signed. The envelope is in the form in which [Seal] writes it, and has
// one signature: there is no second text for one envelope.
func Unseal(ctx context.Context, keys []crypto.PublicKey, kind string, text []byte) ([]byte, error) {
	envelope := &dsse.Envelope{}
	if err := json.Unmarshal(text, envelope); err != nil {
		return nil, err
	}
	own, err := encode(envelope)
	if err != nil || !bytes.Equal(own, text) || len(envelope.Signatures) != 1 || envelope.PayloadType != kind {
		return nil, errForm
	}
	for _, public := range keys {
		key := &pair{public: public}
		if id, err := key.KeyID(); err != nil || envelope.Signatures[0].KeyID != id {
			continue
		}
		verifier, err := dsse.NewEnvelopeVerifier(key)
		if err != nil {
			return nil, err
		}
		_, payload, err := verifier.VerifyAndDecode(ctx, envelope)
		if err != nil {
			return nil, errSignature
		}
		return payload, nil
	}
	return nil, fmt.Errorf("%w: its key is %.64s", errSignature, envelope.Signatures[0].KeyID)
}
