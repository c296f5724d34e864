package attest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"slices"
)

// KeyHint says how keys are made.
const KeyHint = "openssl genpkey -algorithm ed25519 -out FILE makes one without a passphrase; openssl pkey -in FILE -pubout, its public half"

var (
	errKey    = errors.New("not a private ECDSA or Ed25519 key in PEM")
	errPublic = errors.New("not a public ECDSA or Ed25519 key in PEM")
)

// ReadKey reads a private key.
func ReadKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errKey
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil && block.Type == "EC PRIVATE KEY" {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errKey
	}
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		return key, nil
	case ed25519.PrivateKey:
		return key, nil
	}
	return nil, errKey
}

// ReadPublic reads a public key.
func ReadPublic(text []byte) (crypto.PublicKey, error) {
	list, err := ReadPublics(text)
	if err != nil || len(list) != 1 {
		return nil, errPublic
	}
	return list[0], nil
}

// ReadPublics reads one public key or more, one block of PEM each. Lines that begin with # are left out; anything else between the blocks is an error.
func ReadPublics(text []byte) (list []crypto.PublicKey, err error) {
	for rest := uncommented(text); len(list) == 0 || len(rest) > 0; {
		if !bytes.HasPrefix(rest, []byte("-----BEGIN ")) {
			return nil, errPublic
		}
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "PUBLIC KEY" {
			return nil, errPublic
		}
		rest = bytes.TrimSpace(rest)
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errPublic
		}
		switch key.(type) {
		case *ecdsa.PublicKey, ed25519.PublicKey:
			list = append(list, key)
		default:
			return nil, errPublic
		}
	}
	return list, nil
}

func uncommented(text []byte) []byte {
	lines := slices.DeleteFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return bytes.HasPrefix(line, []byte("#")) })
	return bytes.TrimSpace(bytes.Join(lines, []byte("\n")))
}

// pair is a key as package dsse takes it. signer is nil for one that verifies only.
type pair struct {
	signer crypto.Signer
	public crypto.PublicKey
}

// PEM signs with a private key that [ReadKey] has read.
func PEM(key crypto.Signer) Signer { return &pair{key, key.Public()} }

// Public verifies what a key signed by [PEM].
func Public(key crypto.PublicKey) Verifier { return &pair{public: key} }

func (p *pair) mayBe(keyID string, _ []byte) bool {
	own, err := p.KeyID()
	return err == nil && own == keyID
}

// KeyID is the SHA-256, in hexadecimal, of the public key in its PKIX form.
func (p *pair) KeyID() (string, error) {
	der, err := x509.MarshalPKIXPublicKey(p.public)
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), err
}

func (p *pair) Public() crypto.PublicKey { return p.public }

// Sign signs as cosign does: ECDSA over SHA-256 in ASN.1, Ed25519 over the text.
func (p *pair) Sign(_ context.Context, data []byte) ([]byte, error) {
	if _, is := p.public.(ed25519.PublicKey); is {
		return p.signer.Sign(rand.Reader, data, crypto.Hash(0))
	}
	sum := sha256.Sum256(data)
	return p.signer.Sign(rand.Reader, sum[:], crypto.SHA256)
}

func (p *pair) Verify(_ context.Context, data, sig []byte) error {
	ok := false
	switch key := p.public.(type) {
	case ed25519.PublicKey:
		ok = ed25519.Verify(key, data, sig)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(data)
		ok = ecdsa.VerifyASN1(key, sum[:], sig)
	}
	if !ok {
		return errSignature
	}
	return nil
}
