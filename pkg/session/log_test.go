package session

import (
	"bytes"
	"fmt"
	"testing"
)

// TestLogsAreBounded: the last of what a command prints is kept, of the last
// commands.
func TestLogsAreBounded(t *testing.T) {
	var l logs
	b := &backlog{argv: []string{"yes"}}
	l.add(b, nil)
	if len(l.all()) != 0 {
		t.Error("a command that printed nothing has a log")
	}
	for i := range 10 {
		l.add(b, bytes.Repeat([]byte{'0' + byte(i)}, LogBytes/4+1))
	}
	all := l.all()
	if len(all) != 1 || len(all[0].Text) != LogBytes || all[0].Lost != 10*(LogBytes/4+1)-LogBytes || all[0].Text[LogBytes-1] != '9' {
		t.Errorf("%d logs; %d bytes, %d lost", len(all), len(all[0].Text), all[0].Lost)
	}
	for i := range maxLogs + 5 {
		l.add(&backlog{argv: []string{fmt.Sprint(i)}}, []byte("x"))
	}
	if all = l.all(); len(all) != maxLogs || all[0].Argv[0] != "5" {
		t.Errorf("%d logs, the first of %q", len(all), all[0].Argv)
	}
}
