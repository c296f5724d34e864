package dial

import (
	"encoding/binary"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sending is a request whose supervisor is the test.
func sending(t *testing.T, streams ...Stream) (s *Sent, supervisor int) {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fd := range pair {
			syscall.Close(fd)
		}
	})
	s = &Sent{FD: pair[0]}
	copy(s.Streams[:], streams)
	return s, pair[1]
}

// framed is a message.
func framed(text string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) + text
}

const usualLimit = 100 * time.Millisecond

// TestSucceeds: only a command that has ended with status 0, after the usual
// messages and without output, is over.
func TestSucceeds(t *testing.T) {
	before := framed(Greeting) + framed("hello") + framed("started")
	for name, c := range map[string]struct {
		said string
		over bool
	}{
		"success":          {before + Success, true},
		"nothing":          {"", false},
		"greeting":         {framed(Greeting), false},
		"half a header":    {before[:2], false},
		"half":             {before + Success[:len(Success)-1], false},
		"more":             {before + Success + "\x00", false},
		"another status":   {before + strings.Replace(Success, "\x01\x00", "\x01\x02", 1), false},
		"one message more": {before + framed("denied") + Success, false},
		"one message less": {framed(Greeting) + framed("hello") + Success, false},
		"a huge message":   {before + "\xff\xff\xff\xff", false},
	} {
		s, supervisor := sending(t)
		for i := range len(c.said) { // byte by byte
			if _, err := syscall.Write(supervisor, []byte{c.said[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if over := s.Succeeds(usualLimit); over != c.over || string(s.Read) != c.said {
			t.Errorf("%s: %t, and %q was kept", name, over, s.Read)
		}
	}
}

// TestSucceedsLater: it waits for the end, for as long as it may and not
// longer, and notices when the connection ends.
func TestSucceedsLater(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // it waits without the scheduler
	text := framed(Greeting) + framed("hello") + framed("started") + Success
	s, supervisor := sending(t)
	go func(supervisor int) {
		for _, piece := range []string{text[:9], text[9:60], text[60:]} {
			time.Sleep(5 * time.Millisecond)
			syscall.Write(supervisor, []byte(piece))
		}
	}(supervisor)
	if !s.Succeeds(time.Minute) {
		t.Error("it did not wait")
	}
	s, supervisor = sending(t)
	start := time.Now()
	if s.Succeeds(usualLimit) || time.Since(start) < usualLimit {
		t.Errorf("it waited %v", time.Since(start))
	}
	syscall.Shutdown(supervisor, syscall.SHUT_RDWR)
	if s.Succeeds(time.Hour) {
		t.Error("a connection that ended is success")
	}
}

// TestSucceedsWithPipes: output is left to whoever relays it, with the pipes.
func TestSucceedsWithPipes(t *testing.T) {
	before := framed(Greeting) + framed("hello") + framed("started")
	for name, c := range map[string]struct {
		output string
		shut   bool // the command's end
		ended  bool
		over   bool
	}{
		"no output":                {"", true, true, true},
		"a background process":     {"", false, true, true},
		"output":                   {"x", true, true, false},
		"output, and it runs":      {"x", false, false, false},
		"closed, and it runs":      {"", true, false, false},
		"nothing, and it runs":     {"", false, false, false},
		"output beside background": {"x", false, true, false},
	} {
		s, supervisor := sending(t, Passed, Piped, Joined)
		var pipe [2]int
		if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		syscall.Write(pipe[1], []byte(c.output))
		if c.shut {
			syscall.Close(pipe[1])
		}
		if err := syscall.Sendmsg(supervisor, []byte(before), syscall.UnixRights(pipe[0]), nil, 0); err != nil {
			t.Fatal(err)
		}
		syscall.Close(pipe[0])
		if c.ended {
			syscall.Write(supervisor, []byte(Success))
		}
		if over := s.Succeeds(usualLimit); over != c.over || len(s.Pipes) != 1 {
			t.Errorf("%s: %t, %d pipes", name, over, len(s.Pipes))
			continue
		}
		text := make([]byte, 10)
		if n, _ := syscall.Read(s.Pipes[0], text[:len(c.output)]); string(text[:max(0, n)]) != c.output {
			t.Errorf("%s: %q is left", name, text[:max(0, n)])
		}
		syscall.Close(s.Pipes[0])
		if !c.shut {
			syscall.Close(pipe[1])
		}
	}
}
