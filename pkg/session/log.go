package session

import (
	"slices"
	"sync"
	"time"
)

// The limits of the logs of background processes.
const (
	// LogBytes is the number of bytes kept of one command's background output:
	// the last ones.
	LogBytes = 64 << 10
	// maxLogs is the number of commands whose output is kept: the latest ones.
	maxLogs = 64
)

// logs holds what the background processes of commands have printed.
type logs struct {
	mu   sync.Mutex
	kept []*backlog // in the order of their first bytes
}

// backlog holds the end of what one command's background processes have
// printed.
type backlog struct {
	argv  []string
	since time.Time
	lost  int64
	text  []byte
	added bool
}

// add appends to a log. The log is kept from its first byte on.
func (l *logs) add(b *backlog, text []byte) {
	if len(text) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !b.added {
		b.added = true
		if l.kept = append(l.kept, b); len(l.kept) > maxLogs {
			l.kept = slices.Delete(l.kept, 0, 1)
		}
	}
	b.text = append(b.text, text...)
	if more := len(b.text) - LogBytes; more > 0 {
		b.lost += int64(more)
		b.text = slices.Delete(b.text, 0, more)
	}
}

func (l *logs) all() []Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Log, len(l.kept))
	for i, b := range l.kept {
		list[i] = Log{Argv: b.argv, Since: b.since, Lost: b.lost, Text: slices.Clone(b.text)}
	}
	return list
}
