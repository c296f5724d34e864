package session

import (
	"slices"
	"sync"
	"time"
)

// The bounds of what is kept of commands in the background.
const (
	// LogBytes is how much is kept of what one command's background prints: the
	// last of it.
	LogBytes = 64 << 10
	// maxLogs is how many commands are kept: the last of them.
	maxLogs = 64
)

// logs are what commands left in the background have printed.
type logs struct {
	mu   sync.Mutex
	kept []*backlog // in the order of their first bytes
}

// backlog is the end of what one command's background has printed.
type backlog struct {
	argv  []string
	since time.Time
	lost  int64
	text  []byte
	added bool
}

// add appends to a log, which is kept from its first bytes on.
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

// all are the logs of now.
func (l *logs) all() []Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Log, len(l.kept))
	for i, b := range l.kept {
		list[i] = Log{Argv: b.argv, Since: b.since, Lost: b.lost, Text: slices.Clone(b.text)}
	}
	return list
}
