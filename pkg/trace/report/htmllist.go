package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"ethos/pkg/trace"
)

// maxGroups limits the agents and sessions with a group of their own; the
// actions of all others share one.
const maxGroups = 200

// actionList orders the actions, which are in a file: by agent and session,
// within a group those that need attention first, and repeated failures below
// the first one. It uses about 40 bytes per action.
type actionList struct {
	groups  []*actionGroup
	known   map[string]int
	actions []listed
	firsts  map[groupLike]int // first action of each kind of failure
	end     int64             // length of the file so far
}

// actionGroup is what one agent requested in one session.
type actionGroup struct {
	who     string
	count   int
	wrong   int
	classes []string // of its actions, for the filters
}

// listed is the position of an action.
type listed struct {
	from   int64
	size   int32
	group  int16
	filter int16
	rank   int16
	class  trace.Outcome
	like   int // index of the first action with the same failure, from 0; its own index if it is the first
}

type groupLike struct {
	group int16
	like  [sha256.Size]byte
}

// add adds an action that takes size bytes in the file. A nil entry stands for
// an invalid line.
func (l *actionList) add(e *trace.Entry, size int64, filter int) {
	who, outcome, wrong := "", trace.Outcome("invalid"), true
	if e != nil {
		who, outcome, wrong = e.Who(), e.Outcome(), e.Outcome().Negative()
	}
	at := l.groupOf(who)
	g := l.groups[at]
	g.count++
	classes := []string{"o-" + string(outcome), fmt.Sprintf("t-%d", filter)}
	if wrong {
		g.wrong++
		classes = append(classes, "w")
	}
	for _, c := range classes {
		if !slices.Contains(g.classes, c) {
			g.classes = append(g.classes, c)
		}
	}
	n := len(l.actions)
	a := listed{from: l.end, size: int32(size), group: int16(at), filter: int16(filter), rank: rank(outcome), class: outcome, like: n}
	if e != nil {
		if like, ok := e.Likeness(); ok {
			key := groupLike{a.group, like}
			if first, known := l.firsts[key]; known {
				a.like = first
			} else if len(l.firsts) < maxLikenesses {
				l.firsts[key] = n
			}
		}
	}
	l.actions = append(l.actions, a)
	l.end += size
}

func (l *actionList) groupOf(who string) int {
	if l.known == nil {
		l.known, l.firsts = map[string]int{}, map[groupLike]int{}
	}
	if at, known := l.known[who]; known {
		return at
	}
	if len(l.groups) == maxGroups {
		return maxGroups - 1
	}
	if len(l.groups) == maxGroups-1 {
		who = "others"
	}
	l.known[who] = len(l.groups)
	l.groups = append(l.groups, &actionGroup{who: clip(who, 200)})
	return len(l.groups) - 1
}

// rank orders the actions of a group.
func rank(o trace.Outcome) int16 {
	switch o {
	case trace.Failed, trace.NoResult, "invalid":
		return 0
	case trace.Denied:
		return 1
	case trace.Asked, trace.Undecided:
		return 2
	case trace.Found:
		return 3
	}
	return 4
}

// write copies the actions from the file in their final order. Groups that need
// attention come first.
func (l *actionList) write(w *bufio.Writer, body *os.File) error {
	order := make([]int, len(l.actions))
	for i := range order {
		order[i] = i
	}
	calm := func(a *listed) int { return min(l.groups[a.group].wrong, 1) * -1 }
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &l.actions[i], &l.actions[j]
		return cmp.Or(cmp.Compare(calm(a), calm(b)), cmp.Compare(a.group, b.group), cmp.Compare(a.rank, b.rank), cmp.Compare(a.like, b.like), cmp.Compare(i, j))
	})
	alike := map[int]int{}
	for i := range l.actions {
		alike[l.actions[i].like]++
	}
	group, folded := int16(-1), -1
	unfold := func() {
		if folded >= 0 {
			io.WriteString(w, "</details>\n")
		}
		folded = -1
	}
	for _, i := range order {
		a := &l.actions[i]
		if folded != a.like {
			unfold()
		}
		if a.group != group {
			if group >= 0 {
				io.WriteString(w, "</div>\n")
			}
			group = a.group
			l.groups[group].begin(w, len(l.groups) > 1 || l.groups[0].who != "")
		}
		if a.like != i && folded < 0 {
			folded = a.like
			fmt.Fprintf(w, "<details class=\"again f w o-%s t-%d\"><summary>%s like the one above</summary>\n", a.class, a.filter, Count(alike[a.like]-1, "more action"))
		}
		if _, err := io.Copy(w, io.NewSectionReader(body, a.from, int64(a.size))); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	unfold()
	if group >= 0 {
		io.WriteString(w, "</div>\n")
	}
	return nil
}

// begin opens the element of a group, with its name if there are several
// groups.
func (g *actionGroup) begin(w io.Writer, named bool) {
	fmt.Fprintf(w, "<div class=\"g f %s\">\n", strings.Join(g.classes, " "))
	if !named {
		return
	}
	wrong := ""
	if g.wrong > 0 {
		wrong = fmt.Sprintf(", %d to look at", g.wrong)
	}
	fmt.Fprintf(w, "<h3>%s <span class=\"dim\">%s%s</span></h3>\n", text(whoever(g.who)), Count(g.count, "action"), wrong)
}
