package sarif

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The states of a result compared to a baseline (3.27.24).
const (
	stateNew       = "new"
	stateUnchanged = "unchanged"
	stateUpdated   = "updated"
	stateAbsent    = "absent"
)

// Baseline holds the results of an earlier log. A nil Baseline is empty and marks nothing.
type Baseline struct {
	results map[string]result // by driver name and fingerprint
}

// ReadBaseline reads an earlier log of this package. It ignores results of other programs, which
// have no fingerprint to compare.
func ReadBaseline(in io.Reader) (*Baseline, error) {
	var log struct {
		Version string
		Runs    []struct {
			Tool    tool
			Results []result
		}
	}
	if err := json.NewDecoder(in).Decode(&log); err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	if log.Version != "2.1.0" {
		return nil, fmt.Errorf("read baseline: SARIF version %q, want 2.1.0", log.Version)
	}
	b := &Baseline{results: map[string]result{}}
	for _, r := range log.Runs {
		for _, res := range r.Results {
			if print := res.PartialFingerprints[fingerprintKey]; print != "" && res.BaselineState != stateAbsent {
				b.results[r.Tool.Driver.Name+"\x00"+print] = res
			}
		}
	}
	return b, nil
}

func (b *Baseline) state(key, text string) string {
	if b == nil {
		return ""
	}
	old, ok := b.results[key]
	switch {
	case !ok:
		return stateNew
	case old.Message.Text != text:
		return stateUpdated
	}
	return stateUnchanged
}

// absent lists what the driver reported then and not now, in a fixed order, without references into
// the old log.
func (b *Baseline) absent(driver string, now seen) (gone []result) {
	if b == nil {
		return nil
	}
	for key, res := range b.results {
		if len(key) <= len(driver) || key[:len(driver)+1] != driver+"\x00" || !now.add(key) {
			continue
		}
		res.RuleIndex, res.Provenance, res.BaselineState = nil, nil, stateAbsent
		for i := range res.Locations {
			res.Locations[i].PhysicalLocation.ArtifactLocation.Index = nil
		}
		gone = append(gone, res)
	}
	slices.SortFunc(gone, func(a, b result) int {
		return strings.Compare(a.PartialFingerprints[fingerprintKey], b.PartialFingerprints[fingerprintKey])
	})
	return gone
}
