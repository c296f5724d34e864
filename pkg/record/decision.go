package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
)

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
// the actor's admin_approved, which answers what a policy asks, never what one denies.
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
		case m.Effect == VerdictDeny && d.Verdict != VerdictDeny,
			m.Effect == VerdictAsk && !approved && d.Verdict != VerdictDeny && d.Verdict != VerdictAsk:
			return fmt.Sprintf("policy %s says %s and the verdict is %s", m.ID, m.Effect, d.Verdict)
		}
	}
	return ""
}
