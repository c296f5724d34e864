package proof

import (
	"fmt"
	"time"

	"ethos/pkg/printable"
)

// Order is what `ethos-trace` and `ethos-decide` ask of the program that signs and checks, in JSON: one of these.
type Order struct {
	Attest *AttestOrder `json:",omitempty"`
	Verify *VerifyOrder `json:",omitempty"`
	Seal   *SealOrder   `json:",omitempty"`
	Unseal *UnsealOrder `json:",omitempty"`
}

// SealOrder asks for the tar of a ceiling on standard input to be signed.
type SealOrder struct {
	Key string // file with the private key
}

// UnsealOrder asks for the tar of a ceiling that one of these keys signed: the envelope comes on standard input, the tar goes to standard output.
type UnsealOrder struct {
	Keys string // public keys in PEM
}

// AttestOrder asks for a bundle of what was found proven.
type AttestOrder struct {
	Store  string // directory
	Key    string // file with the private key, or one for ssh-keygen -Y
	SSH    bool   // it is for ssh-keygen
	Commit string // whose tree is that of Want
	SHA256 string // of the commit's content
	Want   Want
	Needs  []Verdict
}

// VerifyOrder asks for a bundle to be checked.
type VerifyOrder struct {
	Bundle, Key  string // files
	SSH          bool   // the key's file is one of allowed signers
	Identity     string // of who has to have signed, with SSH; "" for any of them
	Commit, Tree string // what it has to be about
	SHA256       string // of the commit's content
	Need         []string
	Control      []string // none for [DefaultControls]
	Policy       []string // files beside the shipped packs
	JSON         bool     // print an [Answer]
}

// Answer is what was found for the needs.
type Answer struct {
	Proven    bool      `json:"proven"`
	Tree      string    `json:"tree"`
	Commit    string    `json:"commit,omitempty"`
	Workspace string    `json:"workspace"`
	Needs     []Verdict `json:"needs"`
}

// Text is a verdict in one line, for people.
func (v Verdict) Text() string {
	text := fmt.Sprintf("%-11s %s: %s", v.State, printable.Line(v.Need), printable.Line(v.Why))
	if v.State == Proven {
		began, _ := time.Parse(time.RFC3339Nano, v.Time)
		text += " " + began.UTC().Format(time.RFC3339) + ", " + printable.Line(v.ID)
	}
	return text
}
