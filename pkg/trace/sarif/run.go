package sarif

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// run is one run of the log while it is collected.
type run struct {
	name        string // of the driver
	bases       bases
	rules       ruleSet
	invocations list
	results     list
	artifacts   list
	embedded    map[string]int // URI → index in artifacts
	actions     int
	firstID     string
	weakest     *record.Sandbox
	sources     []versionControl
	provenance  func(string) *Provenance
}

func (w *Writer) newRun(name string) *run {
	return &run{name: name, embedded: map[string]int{}, provenance: w.Provenance}
}

func (r *run) invoke(e *trace.Entry) error {
	r.note(e)
	return r.invocations.add(r.invocation(e))
}

// note collects from an entry what belongs to the whole run.
func (r *run) note(e *trace.Entry) {
	r.actions++
	if r.firstID == "" {
		r.firstID = e.Line.ID()
	}
	if e.Ran() {
		r.weakest = weaker(r.weakest, &e.Result.Capture.Sandbox)
	}
	known := len(r.bases.order)
	if id := r.bases.id(e.Action.Workspace); len(r.bases.order) > known && r.provenance != nil {
		if p := r.provenance(e.Action.Workspace); p != nil {
			r.sources = append(r.sources, versionControl{
				RepositoryURI: p.RepositoryURI, RevisionID: p.Revision, Branch: p.Branch, MappedTo: &artifactLocation{URIBaseID: id},
			})
		}
	}
}

// weaker returns the evidence with fewer controls in force; on a tie the first. Its connections are
// removed, because they are in the invocation.
func weaker(a, b *record.Sandbox) *record.Sandbox {
	if a == nil || enforced(b) < enforced(a) {
		c := *b
		c.Connections, c.ConnectionsMore = nil, 0
		return &c
	}
	return a
}

func enforced(s *record.Sandbox) (n int) {
	for _, c := range s.Controls {
		if c.State == "enforced" {
			n++
		}
	}
	return n
}

// maxEmbedded limits the commands that a run contains as artifacts.
const maxEmbedded = 100_000

// embed adds an artifact with contents, once, and returns its index, or nil if there are too many.
func (r *run) embed(a artifact) (*int, error) {
	if i, ok := r.embedded[a.Location.URI]; ok {
		return &i, nil
	}
	if len(r.embedded) == maxEmbedded {
		return nil, nil
	}
	i := r.artifacts.n
	r.embedded[a.Location.URI] = i
	return &i, r.artifacts.add(a)
}

func (r *run) writeTo(w *bufio.Writer, version string) error {
	d := driver{Name: r.name, Version: version, Rules: r.rules.list}
	if r.name == ownName {
		d.FullName = "ethos: decisions and confinement"
	} else {
		d.Version = "" // of the tool, unknown
	}
	if d.Rules == nil {
		d.Rules = []*rule{}
	}
	fmt.Fprintf(w, "\n    {\n      \"columnKind\": \"unicodeCodePoints\"")
	members := []struct {
		name string
		v    any
		omit bool
	}{
		{"tool", tool{d}, false},
		{"conversion", conversion{tool{driver{Name: "ethos-trace", Version: version, Rules: []*rule{}}}}, r.name == ownName},
		{"automationDetails", r.automation(), false},
		{"originalUriBaseIds", r.bases.original(), len(r.bases.order) == 0},
		{"versionControlProvenance", r.sources, len(r.sources) == 0},
		{"properties", runProperties{r.actions, r.weakest}, false},
	}
	for _, m := range members {
		if !m.omit {
			if err := section(w, m.name, m.v); err != nil {
				return err
			}
		}
	}
	return r.writeLists(w)
}

func (r *run) writeLists(w *bufio.Writer) error {
	for _, l := range []struct {
		name string
		list *list
		omit bool
	}{{"invocations", &r.invocations, true}, {"artifacts", &r.artifacts, true}, {"results", &r.results, false}} {
		if l.omit && l.list.n == 0 {
			continue
		}
		fmt.Fprintf(w, ",\n      %q: [", l.name)
		if err := l.list.writeTo(w); err != nil {
			return err
		}
		w.WriteString(strings.Repeat("\n      ", min(l.list.n, 1)) + "]")
	}
	_, err := w.WriteString("\n    }")
	return err
}

// automation returns the run's identity (3.17). The part of the id before its last slash is the
// category by which GitHub distinguishes analyses.
func (r *run) automation() automation {
	return automation{
		ID: "ethos/" + r.name + "/" + r.firstID, GUID: guid(r.name + " " + r.firstID),
		Description: &message{"What " + r.name + " reported of commands run under ethos."},
	}
}

// guid derives a UUID in the form of version 5 (RFC 9562) from a text, so that equal input gives an
// equal log.
func guid(text string) string {
	sum := sha256.Sum256([]byte("ethos sarif run " + text))
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func (r *run) close() {
	r.invocations.close()
	r.results.close()
	r.artifacts.close()
}
