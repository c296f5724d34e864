package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
)

// PolicySet identifies the policies that decided.
type PolicySet struct {
	Digest    string   `json:"digest" required:"true"`
	Packs     []string `json:"packs"`
	Evaluated int      `json:"evaluated"`
	// Ceiling is the digest of the upper bound that the administrator of the machine sets; "" if
	// there is none.
	Ceiling string `json:"ceiling,omitempty"`
	// Configuration lists each coding_ethos.yml that was used: the work space's own first, then
	// those of the work trees that contain it.
	Configuration []Configuration `json:"configuration,omitempty"`
}

// Approval says who let a call pass, when, and what the approval covers. Only ethos-decide sets it;
// it is never read from input.
type Approval struct {
	ID       string   `json:"id"`                     // of the record that was refused or asked about; "" if a policy was approved
	By       string   `json:"by" required:"true"`     // user (uid) and terminal, or the option that approved
	Time     string   `json:"time" required:"true"`   // RFC 3339, UTC
	Covers   string   `json:"covers" required:"true"` // once | session | always: the option, as long as it is given
	Policies []string `json:"policies"`               // that blocked the call
	Grants   []string `json:"grants"`                 // granted with the approval, in the form of ethos-facts --grant
}

// Sealed returns d with its Seal: "sha256:" and the SHA-256, in hex, of the [Canonical] JSON of the
// decision without its seal and without DurationMS, so that equal decisions have equal seals.
//
// Subject and Seal are digests, not signatures. They reveal a change of a record or its decision by
// mistake, by a script, or by an edit without the intention to forge. Anyone who can write to the
// pipe can compute them too; what the boundary enforces does not depend on them.
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

// Broken says how the decision contradicts itself, or "". Its seal may be wrong, or its verdict
// less strict than its errors and matches allow. A decision without a seal may come from another
// program that decides, so only the second rule applies to it. approved is the actor's
// admin_approved. It answers policies that ask, and policies that deny if the decision's approval
// names them.
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
