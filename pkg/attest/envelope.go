package attest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

var (
	errSignature = errors.New("it is not by this key, or was changed since it was signed")
	errForm      = errors.New("not one that ethos wrote for this use")
)

// Signer signs envelopes: [PEM], [SSH].
type Signer = dsse.Signer

// Verifier knows who signed an envelope: [Public], [AllowedSigners].
type Verifier interface {
	dsse.Verifier
	// mayBe reports that a signature of this key id can be one that the verifier knows. The id is not signed, so it follows from the signature or the key.
	mayBe(keyID string, sig []byte) bool
}

// Seal signs a payload: a DSSE envelope in one line of JSON. The signature is over the type, too.
func Seal(ctx context.Context, key Signer, kind string, payload []byte) ([]byte, error) {
	signer, err := dsse.NewEnvelopeSigner(key)
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
func Unseal(ctx context.Context, keys []Verifier, kind string, text []byte) ([]byte, error) {
	envelope := &dsse.Envelope{}
	if err := json.Unmarshal(text, envelope); err != nil {
		return nil, err
	}
	own, err := encode(envelope)
	if err != nil || !bytes.Equal(own, text) || len(envelope.Signatures) != 1 || envelope.PayloadType != kind {
		return nil, errForm
	}
	sig, err := base64.StdEncoding.DecodeString(envelope.Signatures[0].Sig)
	if err != nil || base64.StdEncoding.EncodeToString(sig) != envelope.Signatures[0].Sig {
		return nil, errSignature
	}
	payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
	if err != nil || base64.StdEncoding.EncodeToString(payload) != envelope.Payload {
		return nil, errSignature
	}
	for _, key := range keys {
		if !key.mayBe(envelope.Signatures[0].KeyID, sig) {
			continue
		}
		if err := key.Verify(ctx, dsse.PAE(kind, payload), sig); err != nil {
			return nil, err
		}
		return payload, nil
	}
	return nil, fmt.Errorf("%w: its key is %.64s", errSignature, envelope.Signatures[0].KeyID)
}
