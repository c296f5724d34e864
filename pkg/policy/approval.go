package policy

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

// Approved returns the decision after a person has approved what the named policies refuse; no
// names mean all of them. Errors, and policies that no approval overrides, still apply. The matches
// stay, so that the record says what was approved.
func (s *Set) Approved(d record.Decision, ids []string) record.Decision {
	d.Verdict = record.VerdictAllow
	if len(d.Errors) > 0 {
		d.Verdict = record.VerdictDeny
	}
	for _, m := range d.Matches {
		answered := blocks(m.Effect) && s.Approvable(m.ID) && (len(ids) == 0 || slices.Contains(ids, m.ID))
		if !answered && Stricter(m.Effect, d.Verdict) {
			d.Verdict = m.Effect
		}
	}
	return d
}

// Approvable reports whether a person can let a call pass that a policy refuses or asks about. That
// is so for a policy that asks, one that is not protected, and one whose expression reads
// actor.admin_approved. If several policies have the name, it must hold for each of them.
func (s *Set) Approvable(id string) bool {
	known := false
	for _, r := range s.rules {
		if r.ID != id {
			continue
		}
		if known = true; (r.Protected || r.ceiling) && r.Effect == record.VerdictDeny && !strings.Contains(r.When, "actor.admin_approved") {
			return false
		}
	}
	return known
}

// Blocking lists the policies that block a record. never lists those of them that no approval
// overrides, and the codes of errors, which no approval overrides either.
func (s *Set) Blocking(d *record.Decision) (ids, never []string) {
	for _, m := range d.Matches {
		if !blocks(m.Effect) || slices.Contains(ids, m.ID) {
			continue
		}
		if ids = append(ids, m.ID); !s.Approvable(m.ID) {
			never = append(never, m.ID)
		}
	}
	for _, e := range d.Errors {
		if !slices.Contains(never, e.Code) {
			never = append(never, e.Code)
		}
	}
	return ids, never
}

func blocks(effect string) bool { return effect == record.VerdictAsk || effect == record.VerdictDeny }

// Needs lists what an approved call needs to work, in the form of ethos-facts --grant: the hosts
// that its commands name and, for a package manager, its registries. A host that its words do not
// show can be any host. Nothing is needed if network access is already granted.
func Needs(in *Input) []string {
	f := in.Facts
	if f == nil || f.Capabilities.Network.Mode == "host" {
		return nil
	}
	have := &f.Capabilities.Network
	if have.Mode != "proxy" {
		have = &record.Network{}
	}
	places := unlisted(&f.Shell, f.Git, have)
	if f.Tool.Category == "packages" && f.Tool.Capabilities.RequiresNetwork {
		for _, name := range f.Tool.Capabilities.Network.AllowDomains {
			if !slices.Contains(have.AllowDomains, name) {
				places = append(places, name)
			}
		}
	}
	if len(unseen(&f.Shell, f.Git)) > 0 && !slices.Contains(have.AllowDomains, anywhere) {
		places = append(places, anywhere)
	}
	var out []string
	for _, p := range places {
		if grant := "domain=" + p; !slices.Contains(out, grant) {
			out = append(out, grant)
		}
	}
	return out
}

// anywhere is the pattern that matches every public host.
const anywhere = "*"
