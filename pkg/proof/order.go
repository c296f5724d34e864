package proof

import (
	"fmt"
	"time"

	"ethos/pkg/printable"
)

// Order is what `ethos-trace` and `ethos-decide` ask of the program that signs and checks, encoded
// in JSON. One field is set.
type Order struct {
	Attest *AttestOrder `json:",omitempty"`
	Verify *VerifyOrder `json:",omitempty"`
	Seal   *SealOrder   `json:",omitempty"`
	Unseal *UnsealOrder `json:",omitempty"`
}

// SealOrder asks to sign the tar of a ceiling, given on standard input.
type SealOrder struct {
	Key string // file with the private key
}

// UnsealOrder asks for the tar of a ceiling that one of the keys signed. The envelope comes on
// standard input, the tar goes to standard output.
type UnsealOrder struct {
	Keys string // public keys in PEM
}

// AttestOrder asks for a bundle with what was proven.
type AttestOrder struct {
	Store  string // directory
	Key    string // file with the private key, or with a key for ssh-keygen -Y
	SSH    bool   // use ssh-keygen
	Commit string // the commit whose tree is in Want
	SHA256 string // of the commit's content
	Want   Want
	Needs  []Verdict
}

// VerifyOrder asks to check a bundle.
type VerifyOrder struct {
	Bundle, Key  string // files
	SSH          bool   // the key file is a list of allowed signers
	Identity     string // the required signer, with SSH; "" for any of them
	Commit, Tree string // what the bundle has to be about
	Repository   string // a work tree of a repository that has the commit
	SHA256       string // of the commit's content
	Need         []string
	Control      []string // empty: [DefaultControls]
	Policy       []string // policy files in addition to the shipped packs
	Recorded     bool     // accept facts that cannot be derived again
	JSON         bool     // print an [Answer]
}

// Answer is the result for the needs.
type Answer struct {
	Proven    bool      `json:"proven"`
	Tree      string    `json:"tree"`
	Commit    string    `json:"commit,omitempty"`
	Workspace string    `json:"workspace"`
	Needs     []Verdict `json:"needs"`
}

// Text returns a verdict as one line for people.
func (v Verdict) Text() string {
	text := fmt.Sprintf("%-11s %s: %s", v.State, printable.Line(v.Need), printable.Line(v.Why))
	if v.State == Proven {
		began, _ := time.Parse(time.RFC3339Nano, v.Time)
		text += " " + began.UTC().Format(time.RFC3339) + ", " + printable.Line(v.ID)
	}
	return text
}
