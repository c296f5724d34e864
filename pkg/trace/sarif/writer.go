package sarif

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"time"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

const (
	schemaURI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	ownName   = "ethos"
	maxRuns   = 20 // GitHub's limit of runs in a file
)

// Writer collects entries and writes one log. It is not safe for concurrent use.
type Writer struct {
	// Version is the version of ethos, for the driver.
	Version string
	// Provenance returns the origin of a workspace, or nil if unknown; see [FromEnvironment] and
	// [FromGit].
	Provenance func(workspace string) *Provenance

	own      *run
	tools    []*run
	byTool   map[string]*run
	seen     seen
	baseline *Baseline
	badLines int
}

// NewWriter returns a writer. With a baseline, results are marked as new or unchanged, and missing
// ones are listed as absent.
func NewWriter(version string, baseline *Baseline) *Writer {
	return &Writer{Version: version, byTool: map[string]*run{}, seen: seen{}, baseline: baseline}
}

// Add adds an entry and returns how many of its findings and denials are new: all of them without a
// baseline.
func (w *Writer) Add(e *trace.Entry) (fresh int, err error) {
	r := w.runOf(e)
	if err := r.invoke(e); err != nil {
		return 0, err
	}
	ordinals := map[string]int{}
	for _, reason := range e.Why() {
		to := r
		if reason.Effect == record.VerdictWarn {
			to = w.ownRun()
		}
		if err := w.put(to, to.denial(e, reason), ordinals, &fresh); err != nil {
			return fresh, err
		}
	}
	for _, d := range e.Denials() {
		if err := w.put(r, r.denied(e, d), ordinals, &fresh); err != nil {
			return fresh, err
		}
	}
	for _, f := range e.Findings {
		if err := w.put(r, r.finding(e, f), ordinals, &fresh); err != nil {
			return fresh, err
		}
	}
	return fresh, nil
}

// AddError adds the error line with the given id.
func (w *Writer) AddError(id string, e record.Error) error {
	r := w.ownRun()
	w.badLines++
	if err := r.invalid(id, e); err != nil {
		return err
	}
	var fresh int
	return w.put(r, r.badLine(id, e), map[string]int{}, &fresh)
}

// put writes a result, unless one with the same fingerprint was written.
func (w *Writer) put(r *run, d draft, ordinals map[string]int, fresh *int) error {
	base := fingerprint(d.identity...)
	ordinals[base]++
	res := d.result
	res.Message.Text = printable.Text(res.Message.Text) // as a baseline has it
	res.PartialFingerprints = fingerprints(base, ordinals[base])
	key := r.name + "\x00" + res.PartialFingerprints[fingerprintKey]
	res.BaselineState = w.baseline.state(key, res.Message.Text)
	if res.BaselineState == "" || res.BaselineState == stateNew {
		*fresh++
	}
	if !w.seen.add(key) {
		return nil
	}
	if d.artifact != nil {
		index, err := r.embed(*d.artifact)
		if err != nil {
			return err
		}
		for i := range res.Locations {
			res.Locations[i].PhysicalLocation.ArtifactLocation.Index = index
		}
	}
	return r.results.add(res)
}

func (w *Writer) runOf(e *trace.Entry) *run {
	id := e.Tool()
	if id == "" || !e.Ran() {
		return w.ownRun()
	}
	if r := w.byTool[id]; r != nil {
		return r
	}
	if len(w.tools) == maxRuns-1 {
		return w.ownRun()
	}
	r := w.newRun(id)
	w.byTool[id] = r
	w.tools = append(w.tools, r)
	return r
}

func (w *Writer) ownRun() *run {
	if w.own == nil {
		w.own = w.newRun(ownName)
	}
	return w.own
}

// runs lists the runs to write: at least one.
func (w *Writer) runs() []*run {
	if w.own == nil && len(w.tools) > 0 {
		return w.tools
	}
	return append([]*run{w.ownRun()}, w.tools...)
}

// WriteTo writes the log and discards the collected data.
func (w *Writer) WriteTo(out io.Writer) (int64, error) {
	defer w.Close()
	counted := &counter{w: out}
	buf := bufio.NewWriterSize(counted, 64<<10)
	fmt.Fprintf(buf, "{\n  \"$schema\": %q,\n  \"version\": \"2.1.0\",\n  \"runs\": [", schemaURI)
	for i, r := range w.runs() {
		if i > 0 {
			buf.WriteByte(',')
		}
		if err := w.finish(r); err != nil {
			return counted.n, err
		}
		if err := r.writeTo(buf, w.Version); err != nil {
			return counted.n, fmt.Errorf("write sarif: %w", err)
		}
	}
	buf.WriteString("\n  ]\n}\n")
	err := buf.Flush()
	return counted.n, err
}

// finish adds the baseline's results that this run lacks.
func (w *Writer) finish(r *run) error {
	for _, gone := range w.baseline.absent(r.name, w.seen) {
		if err := r.results.add(gone); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the temporary files. [Writer.WriteTo] does so too.
func (w *Writer) Close() {
	for _, r := range append([]*run{w.own}, w.tools...) {
		if r != nil {
			r.close()
		}
	}
}

// counter counts the bytes written to w.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// utc formats a time as SARIF requires (3.9), in milliseconds.
func utc(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// section writes one member of a run.
func section(w *bufio.Writer, name string, v any) error {
	var text bytes.Buffer
	if err := encodeTo(&text, v, "      ", true); err != nil {
		return err
	}
	fmt.Fprintf(w, ",\n      %q: %s", name, bytes.TrimSpace(text.Bytes()))
	return nil
}
