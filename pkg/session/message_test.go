package session

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/session/dial"
)

// headerOf splits a message.
func headerOf(t *testing.T, text []byte) (header [dial.HeaderBytes]byte, rest *bytes.Reader) {
	t.Helper()
	if len(text) < dial.HeaderBytes {
		t.Fatalf("a message of %d bytes", len(text))
	}
	copy(header[:], text)
	return header, bytes.NewReader(text[dial.HeaderBytes:])
}

// TestMessages: what is sent is what is received, whatever bytes are in it.
func TestMessages(t *testing.T) {
	sent := Request{Run: &Run{
		Command: dial.Command{
			Argv: []string{"printf", "\xff\xfe\n\x01", ""}, Env: []string{"A=é\x80"}, Dir: "/tmp/\xff", Umask: 0o27,
			Streams: [3]dial.Stream{dial.Passed, dial.Piped, dial.Joined},
		},
		Timeout: time.Minute,
	}}
	text, err := encode(sent)
	if err != nil {
		t.Fatal(err)
	}
	header, rest := headerOf(t, text)
	var got Request
	if err := decode(header, rest, &got); err != nil || !reflect.DeepEqual(sent, got) {
		t.Errorf("%v: %+v, want %+v", err, got.Run, sent.Run)
	}
}

// TestExitedMessage: the end of a command arrives whole, with evidence and denials
// and without.
func TestExitedMessage(t *testing.T) {
	denial := record.Denial{Layer: "network", What: "connect", Path: "/x", Count: 2}
	whole := Exited{
		Status: 256, Timeout: true, OOM: true, Unheld: "no", Fault: &Fault{Code: "c", Message: "m", Hint: "h"}, Lost: "why", Started: time.Unix(1, 2).UTC(), Duration: time.Second,
		Denials: []record.Denial{denial}, Evidence: &record.Sandbox{Session: "s", Denials: []record.Denial{denial}},
	}
	for i := range reflect.TypeFor[Exited]().NumField() {
		if field := reflect.ValueOf(whole).Field(i); field.IsZero() {
			t.Errorf("%s is not tried", reflect.TypeFor[Exited]().Field(i).Name)
		}
	}
	for _, sent := range []Exited{whole, {}} {
		text, err := encode(Event{Exited: &sent})
		if err != nil {
			t.Fatal(err)
		}
		header, rest := headerOf(t, text)
		var got Event
		if err := decode(header, rest, &got); err != nil || got.Exited == nil || !reflect.DeepEqual(sent, *got.Exited) {
			t.Errorf("%v: %+v, want %+v", err, got.Exited, sent)
		}
	}
}

// TestHostileMessages: what is too large is not read, what is cut is an error, and
// memory is taken for what has come alone.
func TestHostileMessages(t *testing.T) {
	var header [dial.HeaderBytes]byte
	binary.BigEndian.PutUint32(header[:], maxMessage+1)
	if err := decode(header, strings.NewReader("{}"), new(Request)); err == nil {
		t.Error("a message that is too large is read")
	}
	for _, size := range []uint32{2, atOnce, atOnce + 1} {
		binary.BigEndian.PutUint32(header[:], size)
		for _, cut := range []string{"", "{"} {
			if err := decode(header, strings.NewReader(cut), new(Request)); err != io.ErrUnexpectedEOF {
				t.Errorf("%d of %d bytes: %v", len(cut), size, err)
			}
		}
		var whole greeting
		if err := decode(header, strings.NewReader(strings.Repeat(" ", int(size))+"x"), &whole); err != nil || len(whole) != int(size) {
			t.Errorf("%d bytes: %v, %d", size, err, len(whole))
		}
	}
	binary.BigEndian.PutUint32(header[:], maxMessage)
	grown := testing.AllocsPerRun(1, func() {
		if err := decode(header, strings.NewReader("{"), new(Request)); err != io.ErrUnexpectedEOF {
			t.Errorf("half a message: %v", err)
		}
	})
	if grown > 20 {
		t.Errorf("half a message took %v allocations", grown)
	}
	big := Request{Run: &Run{Command: dial.Command{Argv: []string{strings.Repeat("x", maxMessage)}}}}
	if _, err := encode(big); err == nil {
		t.Error("a message that is too large is sent")
	}
}

// TestLargestCommand: a command at the limit fits into a message.
func TestLargestCommand(t *testing.T) {
	r := &Run{Command: dial.Command{Argv: []string{strings.Repeat("\xff", MaxWords-1)}}}
	if err := r.check(); err != nil {
		t.Fatal(err)
	}
	if _, err := encode(Request{Run: r}); err != nil {
		t.Error(err)
	}
	r.Env = []string{""}
	if err := r.check(); err == nil {
		t.Error("one byte more is taken")
	}
}

func TestRunIsChecked(t *testing.T) {
	run := func(terminal bool, streams ...dial.Stream) Run {
		r := Run{Command: dial.Command{Argv: []string{"true"}}, Terminal: terminal}
		copy(r.Streams[:], streams)
		return r
	}
	for name, c := range map[string]struct {
		run  Run
		good bool
	}{
		"usual":                          {run(false, dial.Passed, dial.Piped, dial.Joined), true},
		"terminal":                       {run(true, dial.Terminal, dial.Terminal, dial.Piped), true},
		"nothing":                        {Run{}, false},
		"no such kind":                   {run(false, 9), false},
		"a terminal without a terminal":  {run(false, dial.Terminal), false},
		"piped input":                    {run(false, dial.Piped), false},
		"joined to what is not piped":    {run(false, dial.Null, dial.Passed, dial.Joined), false},
		"standard output that is joined": {run(false, dial.Null, dial.Joined, dial.Piped), false},
	} {
		if err := c.run.check(); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPlainRequest: what package dial sends before the encoding of this package is initialised is
// in that encoding.
func TestPlainRequest(t *testing.T) {
	for range 200 {
		c := dial.Command{Dir: "/" + text(40), Umask: rand.IntN(0o1000)}
		for range rand.IntN(200) {
			c.Argv, c.Env = append(c.Argv, text(300)), append(c.Env, text(3))
		}
		for i := range c.Streams {
			c.Streams[i] = dial.Stream(rand.IntN(5))
		}
		greet, err1 := encode(greeting(dial.Greeting))
		request, err2 := encode(Request{Run: &Run{Command: c, Plain: true}})
		if c.Argv == nil { // a command always has words
			continue
		}
		if got := c.AppendRequest(nil); err1 != nil || err2 != nil || string(got) != string(greet)+string(request) {
			t.Fatalf("%v %v: %q, want %q", err1, err2, got, request)
		}
	}
}

// TestSuccess: what package dial takes for the end of a command is what a command ends with that
// leaves nothing to say.
func TestSuccess(t *testing.T) {
	if text, err := encode(Event{Exited: &Exited{}}); err != nil || string(text) != dial.Success {
		t.Errorf("%v: %q", err, text)
	}
}

// text returns up to max random bytes.
func text(max int) string {
	b := make([]byte, rand.IntN(max))
	for i := range b {
		b[i] = byte(rand.IntN(256))
	}
	return string(b)
}

func FuzzMessage(f *testing.F) {
	for _, r := range []any{Request{Status: true}, Request{Run: &Run{Command: dial.Command{Argv: []string{"a"}}}}, Event{Signal: 15}} {
		text, err := encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, '{'})
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < dial.HeaderBytes {
			return
		}
		header, rest := headerOf(t, text)
		var r Request
		if decode(header, rest, &r) == nil && r.Run != nil && r.Run.check() == nil && (len(r.Run.Argv) == 0 || r.Run.passed() > 3) {
			t.Errorf("%+v is taken", r.Run)
		}
	})
}

// TestMostTime: no client has more time than the session gives.
func TestMostTime(t *testing.T) {
	bounded, free := Hello{MostTime: time.Minute}, Hello{}
	for asked, want := range map[time.Duration]time.Duration{0: time.Minute, -1: time.Minute, time.Hour: time.Minute, time.Second: time.Second} {
		if have := bounded.within(asked); have != want {
			t.Errorf("%v: have %v, want %v", asked, have, want)
		}
		if have := free.within(asked); have != asked {
			t.Errorf("%v without a bound: %v", asked, have)
		}
	}
}
