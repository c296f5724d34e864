package attest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"ethos/pkg/record"
)

const (
	payloadType   = "application/vnd.in-toto+json"
	predicateType = "https://ethos.invalid/proof/v1" // a name, not a place
)

// MaxBundle bounds the length of a bundle, in bytes.
const MaxBundle = 64 << 20

// Subject is what is attested: a commit and its tree, and the SHA-256 of the commit's content, by which cosign knows it; in hexadecimal.
type Subject struct{ Commit, Tree, SHA256 string }

func (s Subject) digest() map[string]string {
	return map[string]string{"gitCommit": s.Commit, "gitTree": s.Tree, "sha256": s.SHA256}
}

// Sign makes a bundle: one line of JSON. A predicate that does not hold is not signed.
func Sign(ctx context.Context, key Signer, s Subject, p Predicate) ([]byte, error) {
	if err := p.Derive(s, p.Controls); err != nil {
		return nil, err
	}
	payload, err := payloadOf(s, p)
	if err != nil {
		return nil, err
	}
	return Seal(ctx, key, payloadType, payload)
}

func payloadOf(s Subject, p Predicate) ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	predicate := &structpb.Struct{}
	if err := protojson.Unmarshal(text, predicate); err != nil {
		return nil, fmt.Errorf("predicate: %w", err)
	}
	statement := &intoto.Statement{
		Type: intoto.StatementTypeUri, PredicateType: predicateType, Predicate: predicate,
		Subject: []*intoto.ResourceDescriptor{{Name: "commit", Digest: s.digest()}},
	}
	if err := valid(statement); err != nil {
		return nil, fmt.Errorf("statement: %w", err)
	}
	return protojson.Marshal(statement)
}

// valid checks a statement. The format allows git's SHA-256 names, and its library does not:
// https://github.com/in-toto/attestation/blob/main/spec/v1/digest_set.md
func valid(statement *intoto.Statement) error {
	known := proto.Clone(statement).(*intoto.Statement)
	for _, subject := range known.GetSubject() {
		for _, name := range []string{"gitCommit", "gitTree"} {
			if len(subject.GetDigest()[name]) == hex.EncodedLen(sha256.Size) {
				delete(subject.Digest, name)
			}
		}
	}
	return known.Validate()
}

// Open reads a bundle that this verifier knows the signer of for this subject.
func Open(ctx context.Context, by Verifier, bundle []byte, s Subject) (Predicate, error) {
	var p Predicate
	if len(bundle) > MaxBundle {
		return p, fmt.Errorf("bundle: longer than %d bytes", MaxBundle)
	}
	payload, err := Unseal(ctx, []Verifier{by}, payloadType, bundle)
	if err != nil {
		return p, fmt.Errorf("bundle: %w", err)
	}
	return read(payload, s)
}

// read reads a statement whose signature was checked.
func read(payload []byte, s Subject) (p Predicate, err error) {
	if _, err := record.ParseDocument(payload); err != nil {
		return p, fmt.Errorf("statement: %w", err)
	}
	statement := &intoto.Statement{}
	if err := protojson.Unmarshal(payload, statement); err != nil {
		return p, fmt.Errorf("statement: %w", err)
	}
	if err := valid(statement); err != nil {
		return p, fmt.Errorf("statement: %w", err)
	}
	if statement.GetType() != intoto.StatementTypeUri || statement.GetPredicateType() != predicateType {
		return p, fmt.Errorf("statement: it is about something else: %s", statement.GetPredicateType())
	}
	list := statement.GetSubject()
	if len(list) != 1 || !maps.Equal(list[0].GetDigest(), s.digest()) {
		return p, fmt.Errorf("statement: its subject is not commit %s with tree %s", s.Commit, s.Tree)
	}
	text, err := protojson.Marshal(statement.GetPredicate())
	if err != nil {
		return p, fmt.Errorf("predicate: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("predicate: %w", err)
	}
	return p, nil
}
