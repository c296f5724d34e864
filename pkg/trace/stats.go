package trace

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"ethos/pkg/record"
)

// Stats counts entries. Its size grows only with the number of policies and tools, up to a limit.
type Stats struct {
	Lines    int             `json:"lines"`
	Actions  int             `json:"actions"`
	Errors   int             `json:"errors"` // error lines
	First    string          `json:"first"`
	Last     string          `json:"last"`
	Outcomes map[Outcome]int `json:"outcomes"`
	Verdicts map[string]int  `json:"verdicts"`
	Policies []PolicyCount   `json:"policies"` // most often first
	Tools    []ToolStats     `json:"tools"`    // most time first
	Denials  []DenialCount   `json:"denials"`  // most often first
	Sandbox  []LayerCount    `json:"sandbox"`  // what the sandbox denied at run time, most often first
	Decide   Times           `json:"decide"`   // from the decisions
	Wait     Times           `json:"wait"`     // from the creation of a record to the start of its run: facts, decision and queue
	Run      Times           `json:"run"`

	now      time.Time
	find     func(*Entry)
	policies map[string]*PolicyCount
	tools    map[string]*ToolStats
	denials  map[string]*DenialCount
	layers   map[string]*LayerCount
	decide   sketch
	wait     sketch
	run      sketch
}

// PolicyCount counts the matches of a policy.
type PolicyCount struct {
	ID     string `json:"id"`
	Effect string `json:"effect"`
	Count  int    `json:"count"`
}

// DenialCount counts the refusals of a command.
type DenialCount struct {
	Command string `json:"command"`
	Policy  string `json:"policy"`
	Count   int    `json:"count"`
}

// LayerCount counts the run-time denials of a sandbox layer, and the runs with such denials.
type LayerCount struct {
	Layer string `json:"layer"`
	Count int    `json:"count"`
	Runs  int    `json:"runs"`
}

// ToolStats holds the statistics of one tool.
type ToolStats struct {
	Name   string `json:"name"`
	Count  int    `json:"count"`
	Failed int    `json:"failed"`
	Denied int    `json:"denied"`
	Run    Times  `json:"run"`

	run sketch
}

// Times describes durations in milliseconds.
type Times struct {
	Count     int     `json:"count"`
	Sum       float64 `json:"sum_ms"`
	Min       float64 `json:"min_ms"`
	P50       float64 `json:"p50_ms"`
	P90       float64 `json:"p90_ms"`
	P99       float64 `json:"p99_ms"`
	Max       float64 `json:"max_ms"`
	Histogram []int   `json:"histogram"` // counts below each of HistogramLimits, then the rest
}

// HistogramLimits returns the upper limits of the histogram's bars, in milliseconds.
func HistogramLimits() []float64 {
	return []float64{1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000}
}

const (
	// maxStatNames limits the policies, tools and commands that are counted separately; further
	// ones are counted together.
	maxStatNames = 2000
	others       = "others"
)

// NewStats returns empty statistics. now decides which results are late. If find is not nil, it sets the findings of an entry
// (tooloutput.Fill), so that actions with findings are distinguished from failed ones.
func NewStats(now time.Time, find func(*Entry)) *Stats {
	return &Stats{
		now: now, find: find,
		Outcomes: map[Outcome]int{}, Verdicts: map[string]int{},
		policies: map[string]*PolicyCount{}, tools: map[string]*ToolStats{}, denials: map[string]*DenialCount{},
		layers: map[string]*LayerCount{},
	}
}

// Add counts one line of a store or of a pipe. A line that is not a record counts as an error.
func (s *Stats) Add(text []byte) {
	s.Lines++
	e, isAction := Skim(text, s.now)
	switch {
	case e == nil:
		s.Errors++
	case isAction:
		if s.find != nil {
			s.find(e)
		}
		s.Entry(e)
	}
}

// Merge adds the counts of other, which were collected in parallel.
func (s *Stats) Merge(other *Stats) {
	s.Lines += other.Lines
	s.Actions += other.Actions
	s.Errors += other.Errors
	s.span(other.First)
	s.span(other.Last)
	for o, n := range other.Outcomes {
		s.Outcomes[o] += n
	}
	for v, n := range other.Verdicts {
		s.Verdicts[v] += n
	}
	for id, p := range other.policies {
		counterOf(s.policies, id, func(id string) *PolicyCount { return &PolicyCount{ID: id, Effect: p.Effect} }).Count += p.Count
	}
	for key, d := range other.denials {
		counterOf(s.denials, key, func(key string) *DenialCount { return denialOf(key, d.Command, d.Policy) }).Count += d.Count
	}
	for name, l := range other.layers {
		to := counterOf(s.layers, name, newLayerCount)
		to.Count += l.Count
		to.Runs += l.Runs
	}
	for name, t := range other.tools {
		to := counterOf(s.tools, name, func(name string) *ToolStats { return &ToolStats{Name: name} })
		to.Count += t.Count
		to.Failed += t.Failed
		to.Denied += t.Denied
		to.run.merge(&t.run)
	}
	s.decide.merge(&other.decide)
	s.wait.merge(&other.wait)
	s.run.merge(&other.run)
}

// span extends First and Last to include a time; RFC 3339 in UTC sorts as text up to the second.
func (s *Stats) span(stamp string) {
	if stamp == "" {
		return
	}
	if s.First == "" || stamp < s.First {
		s.First = stamp
	}
	s.Last = max(s.Last, stamp)
}

// Entry counts one entry.
func (s *Stats) Entry(e *Entry) {
	s.Actions++
	s.span(e.Time)
	outcome := e.Outcome()
	s.Outcomes[outcome]++
	if e.Decision != nil {
		s.Verdicts[e.Decision.Verdict]++
		if took := e.Decision.DurationMS; took > 0 { // not every decision has it
			s.decide.add(took)
		}
		for _, m := range e.Decision.Matches {
			p := counterOf(s.policies, m.ID, func(id string) *PolicyCount { return &PolicyCount{ID: id, Effect: m.Effect} })
			p.Count++
		}
	}
	if why := e.Why(); (outcome == Denied || outcome == Asked) && len(why) > 0 {
		d := counterOf(s.denials, why[0].ID+"\x00"+e.Command(), func(key string) *DenialCount { return denialOf(key, e.Command(), why[0].ID) })
		d.Count++
	}
	s.sandbox(e.Denials())
	s.tool(e, outcome)
}

func newLayerCount(layer string) *LayerCount { return &LayerCount{Layer: clip(layer, maxStatCommand)} }

func (s *Stats) sandbox(denials []record.Denial) {
	runs := map[*LayerCount]bool{}
	for _, d := range denials {
		l := counterOf(s.layers, d.Layer, newLayerCount)
		l.Count++
		runs[l] = true
	}
	for l := range runs {
		l.Runs++
	}
}

func (s *Stats) tool(e *Entry, outcome Outcome) {
	name := cmp.Or(e.Tool(), e.CommandName())
	t := counterOf(s.tools, name, func(name string) *ToolStats { return &ToolStats{Name: name} })
	t.Count++
	switch outcome {
	case Failed, Found, NoResult:
		t.Failed++
	case Denied, Asked:
		t.Denied++
	}
	if !e.Ran() {
		return
	}
	t.run.add(e.Result.DurationMS)
	s.run.add(e.Result.DurationMS)
	made, err1 := time.Parse(time.RFC3339Nano, e.Time)
	started, err2 := time.Parse(time.RFC3339Nano, e.Result.Started)
	if errors.Join(err1, err2) == nil {
		s.wait.add(float64(started.Sub(made)) / float64(time.Millisecond))
	}
}

func denialOf(key, command, policy string) *DenialCount {
	if key == others {
		return &DenialCount{Command: others}
	}
	return &DenialCount{Command: clip(command, maxStatCommand), Policy: policy}
}

// maxStatCommand limits the length of commands that are counted separately, in bytes.
const maxStatCommand = 4096

// counterOf returns the counter for a name, and creates it if necessary.
func counterOf[T any](m map[string]*T, name string, make func(string) *T) *T {
	if c := m[name]; c != nil {
		return c
	}
	if len(m) >= maxStatNames {
		name = others
		if c := m[name]; c != nil {
			return c
		}
	}
	c := make(name)
	m[name] = c
	return c
}

// Finish computes the derived values. Call it once, after the last Add.
func (s *Stats) Finish() *Stats {
	s.Decide, s.Wait, s.Run = s.decide.times(), s.wait.times(), s.run.times()
	s.Policies = sortedBy(s.policies, func(a, b PolicyCount) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.ID, b.ID)) })
	s.Denials = sortedBy(s.denials, func(a, b DenialCount) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Command, b.Command))
	})
	s.Sandbox = sortedBy(s.layers, func(a, b LayerCount) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Layer, b.Layer)) })
	for _, t := range s.tools {
		t.Run = t.run.times()
	}
	s.Tools = sortedBy(s.tools, func(a, b ToolStats) int {
		return cmp.Or(cmp.Compare(b.Run.Sum, a.Run.Sum), b.Count-a.Count, cmp.Compare(a.Name, b.Name))
	})
	return s
}

func sortedBy[T any](m map[string]*T, order func(a, b T) int) []T {
	out := make([]T, 0, len(m))
	for v := range maps.Values(m) {
		out = append(out, *v)
	}
	slices.SortFunc(out, order)
	return out
}

func (s *sketch) times() Times {
	return Times{
		Count: s.n, Sum: s.sum, Min: s.min, P50: s.quantile(0.5), P90: s.quantile(0.9), P99: s.quantile(0.99), Max: s.max,
		Histogram: s.histogram(HistogramLimits()),
	}
}
