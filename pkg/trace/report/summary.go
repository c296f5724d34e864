package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

const (
	maxReasons  = 200 // policies listed in a summary
	maxExamples = 3   // commands shown for each
	maxTools    = 200 // and sessions
)

// summary counts entries in limited memory.
type summary struct {
	actions  int
	outcomes map[trace.Outcome]int
	findings int
	denials  int // by the sandbox, at run time
	denied   deniedRows
	network  destinations
	bad      int
	ran      float64 // milliseconds
	compared bool    // a baseline was given,
	fresh    int     // which lacks this number of findings and denials
	tools    map[string]*tally
	sessions map[string]*tally // by agent session or ethos session
	reasons  map[string]*reasonRow
	failures failures
	alike    likenesses
}

// tally counts the actions of one tool, or of one session.
type tally struct {
	name                                                 string
	runs, passed, found, failed, asked, denied, findings int
	ms                                                   float64
}

// reasonRow is one policy that was the strictest reason against an action.
type reasonRow struct {
	trace.Reason
	count    int
	examples []string
}

func newSummary() *summary {
	return &summary{outcomes: map[trace.Outcome]int{}, tools: map[string]*tally{}, sessions: map[string]*tally{}, reasons: map[string]*reasonRow{}, alike: likenesses{}}
}

// add counts an entry, and returns how often its like has occurred: see [trace.Entry.Likeness].
func (s *summary) add(e *trace.Entry) (again int) {
	outcome := e.Outcome()
	s.actions++
	s.outcomes[outcome]++
	s.findings += len(e.Reported())
	s.denials += len(e.Denials())
	for _, d := range e.Denials() {
		s.denied.add(d, s.actions+s.bad)
	}
	s.network.add(e, s.actions+s.bad)
	if e.Result != nil {
		s.ran += e.Result.DurationMS
	}
	name := e.Tool()
	if name == "" {
		name = e.CommandName()
	}
	count(s.tools, name, e, outcome)
	if who := e.Who(); who != "" {
		count(s.sessions, who, e, outcome)
	}
	s.failures.add(e, s.actions+s.bad)
	if why := e.Why(); len(why) > 0 {
		s.addReason(why[0], e.Command())
	}
	return s.alike.add(e)
}

// count adds an action to the tally of a name, or to that of the others if there are too many
// names.
func count(rows map[string]*tally, name string, e *trace.Entry, outcome trace.Outcome) {
	if _, ok := rows[name]; !ok && len(rows) >= maxTools {
		name = "others"
	}
	row := rows[name]
	if row == nil {
		row = &tally{name: name}
		rows[name] = row
	}
	row.runs++
	row.findings += len(e.Reported())
	switch outcome {
	case trace.Passed, trace.Allowed, trace.Reported:
		row.passed++
	case trace.Denied:
		row.denied++
	case trace.Asked, trace.Undecided:
		row.asked++
	case trace.Found:
		row.found++
	default:
		row.failed++
	}
	if e.Result != nil {
		row.ms += e.Result.DurationMS
	}
}

func (s *summary) addReason(r trace.Reason, command string) {
	row := s.reasons[r.ID]
	if row == nil {
		if len(s.reasons) == maxReasons {
			return
		}
		row = &reasonRow{Reason: r}
		s.reasons[r.ID] = row
	}
	row.count++
	if len(row.examples) < maxExamples && !slices.Contains(row.examples, command) {
		row.examples = append(row.examples, clip(command, 1000))
	}
}

func (s *summary) compare(fresh int) { s.compared, s.fresh = true, fresh }

func (s *summary) addBad(record.Error) { s.bad++ }

// attention returns the number of actions that need attention.
func (s *summary) attention() int {
	n := s.bad
	for o, count := range s.outcomes {
		if o.Negative() {
			n += count
		}
	}
	return n
}

// verdict answers whether anything needs attention, with a sign for the answer.
func (s *summary) verdict() (sign, text string) {
	switch wrong := s.attention(); {
	case wrong > 0:
		return "❌", fmt.Sprintf("%d of %s to look at", wrong, Count(s.actions+s.bad, "action"))
	case s.actions == 0:
		return "❔", "nothing was recorded"
	}
	return "✅", "nothing to look at"
}

// sorted returns tallies, slowest first.
func sorted(rows map[string]*tally) []*tally {
	return slices.SortedFunc(maps.Values(rows), func(a, b *tally) int {
		return cmp.Or(cmp.Compare(b.ms, a.ms), cmp.Compare(b.runs, a.runs), cmp.Compare(a.name, b.name))
	})
}

// sortedReasons returns the reasons, strictest first, then most frequent first.
func (s *summary) sortedReasons() []*reasonRow {
	rank := map[string]int{record.VerdictDeny: 0, record.VerdictAsk: 1, record.VerdictWarn: 2}
	return slices.SortedFunc(maps.Values(s.reasons), func(a, b *reasonRow) int {
		return cmp.Or(cmp.Compare(rank[a.Effect], rank[b.Effect]), cmp.Compare(b.count, a.count), cmp.Compare(a.ID, b.ID))
	})
}

// outcomeOrder returns the order in which outcomes are listed: those that need attention come
// first.
func outcomeOrder() []trace.Outcome {
	return []trace.Outcome{trace.Failed, trace.NoResult, trace.Denied, trace.Asked, trace.Undecided, trace.Found, trace.Passed, trace.Allowed, trace.Reported}
}

// cells returns the numbers of a row, in the order of tallyHead.
func (t *tally) cells() []string {
	return []string{number(t.runs), number(t.failed), number(t.denied), number(t.asked), number(t.found), number(t.passed), number(t.findings), orDot(t.ms)}
}

func tallyHead() []string {
	return []string{"runs", "failed", "denied", "asked", "found", "passed", "findings", "time"}
}

// whoTitle is the title of the column with the agents and sessions.
const whoTitle = "agent and session"
