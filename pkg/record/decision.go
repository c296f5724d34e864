package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
)

// PolicySet identifies what decided.
type PolicySet struct {
	Digest    string   `json:"digest" required:"true"`
	Packs     []string `json:"packs"`
	Evaluated int      `json:"evaluated"`
	// Ceiling is the digest of what the administrator of the machine allows at most; "" where there is none.
	Ceiling string `json:"ceiling,omitempty"`
	// Configuration is each coding_ethos.yml that counted, the work space's own first, then those of the work trees around it.
	Configuration []Configuration `json:"configuration,omitempty"`
}

// Approval is who let a call pass, when, and what it covers. It is set by ethos-decide alone, never taken from input.
type Approval struct {
	ID       string   `json:"id"`                     // of the record that was refused or asked; "" when a policy was approved
	By       string   `json:"by" required:"true"`     // user (uid) and terminal, or the option that approved
	Time     string   `json:"time" required:"true"`   // RFC 3339, UTC
	Covers   string   `json:"covers" required:"true"` // once | session | always: the option, for as long as it is given
	Policies []string `json:"policies"`               // that stood in the way
	Grants   []string `json:"grants"`                 // what came with it, in the form of ethos-facts --grant
}

// Sealed returns d with its Seal: "sha256:" and the SHA-256, in hex, of the [Canonical] JSON of the decision without its seal and without
// DurationMS, so that equal decisions have equal seals.
//
// Subject and Seal are digests, not signatures: they show that a record or its decision was changed on the way, by a slip, a script or an edit that did
// not mean to forge. Who can write the pipe can also compute them; what the boundary enforces does not depend on them.
func (d Decision) Sealed() (Decision, error) {
	took := d.DurationMS
	d.Seal, d.DurationMS = "", 0
	fill(reflect.ValueOf(&d).Elem())
	text, err := encode(d)
	if err == nil {
		text, err = Canonical(text)
	}
	if err != nil {
		return d, fmt.Errorf("seal the decision: %w", err)
	}
	sum := sha256.Sum256(text)
	d.Seal, d.DurationMS = "sha256:"+hex.EncodeToString(sum[:]), took
	return d, nil
}

// Broken says in what way the decision contradicts itself, "" when it does not: its seal is not its own, or its verdict is looser than its errors and matches
// allow. A decision without a seal may come from another program that decides; it is held to the second rule alone. approved is
// the actor's admin_approved, which answers what a policy asks, and what one denies where the decision's approval names it.
func (d Decision) Broken(approved bool) string {
	if d.Seal != "" {
		if own, err := d.Sealed(); err != nil || own.Seal != d.Seal {
			return "its seal is not that of its content"
		}
	}
	if len(d.Errors) > 0 && d.Verdict != VerdictDeny {
		return "it has errors, which deny, and the verdict " + d.Verdict
	}
	for _, m := range d.Matches {
		switch {
		case m.Effect == VerdictDeny && d.Verdict != VerdictDeny && !(approved && d.covers(m.ID)),
			m.Effect == VerdictAsk && !approved && d.Verdict != VerdictDeny && d.Verdict != VerdictAsk:
			return fmt.Sprintf("policy %s says %s and the verdict is %s", m.ID, m.Effect, d.Verdict)
		}
	}
	return ""
}

// covers reports whether a person's approval names a policy.
func (d Decision) covers(policy string) bool {
	return d.Approval != nil && slices.Contains(d.Approval.Policies, policy)
}
