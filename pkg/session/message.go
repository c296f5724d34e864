package session

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"ethos/pkg/record"
)

// The limits of a message. Its words are base64 in it, so that they may be any
// bytes: four for three.
const (
	// MaxWords is how many bytes the arguments and the environment of a command
	// may have together.
	MaxWords   = 4 << 20
	maxMessage = MaxWords/3*4 + 1<<20
)

// version is that of the messages. Both ends are mostly the same program; a
// session that was started by another release says so instead of guessing.
const version = 3

// Hello is the first message, from the supervisor.
type Hello struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Digest  string `json:"digest"`  // of the plan
	Managed bool   `json:"managed"` // git inside is managed
	// MostTime bounds the time of each command; 0 is no bound.
	MostTime time.Duration `json:"most_time,omitempty"`
	// Asked is how the session was asked for, in the words of whoever started it.
	Asked json.RawMessage `json:"asked,omitempty"`
}

// within is the limit of a command that asks for one; 0 is none.
func (h *Hello) within(limit time.Duration) time.Duration {
	if h.MostTime > 0 && (limit <= 0 || limit > h.MostTime) {
		return h.MostTime
	}
	return limit
}

// Request is a client's first message. Exactly one member is set.
type Request struct {
	Run    *Run `json:"run,omitempty"`
	Status bool `json:"status,omitempty"`
	Logs   bool `json:"logs,omitempty"`
	End    bool `json:"end,omitempty"`
	// Publish is a port to publish: [ADDRESS:]HOSTPORT:PORT, or one PORT for both.
	Publish    string `json:"publish,omitempty"`
	PublishAny bool   `json:"publish_any,omitempty"` // other machines may come
}

// Run asks for a command. The descriptors that come with it are those of the
// streams that are passed.
type Run struct {
	Argv     [][]byte      `json:"argv"`
	Env      [][]byte      `json:"env"`
	Dir      []byte        `json:"dir"`
	Umask    int           `json:"umask"`
	Streams  [3]Stream     `json:"streams"`
	Terminal bool          `json:"terminal"`
	Rows     uint16        `json:"rows"`
	Cols     uint16        `json:"cols"`
	Timeout  time.Duration `json:"timeout"`  // 0: none
	Evidence bool          `json:"evidence"` // wanted with the end
	Narrow   Narrow        `json:"narrow"`
}

// Narrow is what a command does without that its session has.
type Narrow struct {
	NoNetwork bool     `json:"no_network,omitempty"`
	DenyWrite [][]byte `json:"deny_write,omitempty"` // paths, absolute
	DenyRead  [][]byte `json:"deny_read,omitempty"`  // paths, absolute
	Profile   string   `json:"profile,omitempty"`    // which the rest was made of
}

// Denied are the paths that it cannot write, and those that it cannot read.
func (n *Narrow) Denied() (write, read []string) { return texts(n.DenyWrite), texts(n.DenyRead) }

// text says so in the evidence.
func (n *Narrow) text() (list []string) {
	if n.Profile != "" {
		list = append(list, "profile "+n.Profile+", with the limits of the session")
	}
	if n.NoNetwork {
		list = append(list, "network none")
	}
	write, read := n.Denied()
	for _, path := range write {
		list = append(list, "deny_write "+path)
	}
	for _, path := range read {
		list = append(list, "deny_read "+path)
	}
	return list
}

// words is how many bytes the arguments and the environment have.
func (r *Run) words() (n int) {
	for _, list := range [][][]byte{r.Argv, r.Env} {
		for _, word := range list {
			n += len(word) + 1
		}
	}
	return n
}

// check reports what is wrong with a request of a command, apart from its
// descriptors.
func (r *Run) check() error {
	switch {
	case len(r.Argv) == 0:
		return fmt.Errorf("no command is given")
	case r.words() > MaxWords:
		return fmt.Errorf("the arguments and the environment have %d bytes together, and at most %d are allowed", r.words(), MaxWords)
	}
	for i, s := range r.Streams {
		if s > Terminal || s == Terminal && !r.Terminal || s == Joined && (i != 2 || r.Streams[1] != Piped) || s == Piped && i == 0 {
			return fmt.Errorf("stream %d cannot be of kind %d", i, s)
		}
	}
	return nil
}

// Stream is what a standard stream of a command is.
type Stream uint8

// The kinds of streams.
const (
	Null     Stream = iota
	Passed          // the client's own
	Piped           // a pipe whose other end the client gets
	Joined          // standard error is where standard output goes
	Terminal        // the command's terminal
)

// passed is how many descriptors a request has.
func (r *Run) passed() (n int) {
	for _, s := range r.Streams {
		if s == Passed {
			n++
		}
	}
	return n
}

// Event is a message about a command that was asked for. Exactly one member is
// set. From the supervisor come Fault, or Started and after it Denied and Exited;
// with Started come the descriptors of the pipes, in the order of the streams, and
// of the terminal. From the client come Signal and Closed.
type Event struct {
	Fault   *Fault         `json:"fault,omitempty"` // nothing ran
	Started *Started       `json:"started,omitempty"`
	Denied  *record.Denial `json:"denied,omitempty"` // a destination that was refused
	Exited  *Exited        `json:"exited,omitempty"`
	Signal  int            `json:"signal,omitempty"` // for the command's process group
	Closed  int            `json:"closed,omitempty"` // 1 or 2: nobody reads this stream any more
}

// Fault is why nothing ran.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (f *Fault) Error() string { return f.Message }

// Started says that the command runs.
type Started struct {
	PID int `json:"pid"` // outside
}

// Exited is how a command ended.
type Exited struct {
	Status   int             `json:"status"`  // as wait(2) has it
	Timeout  bool            `json:"timeout"` // its time was over
	Fault    *Fault          `json:"fault"`   // it could not be executed: nothing ran
	Lost     string          `json:"lost"`    // the session ended under it: why
	Started  time.Time       `json:"started"`
	Duration time.Duration   `json:"duration"`
	Denials  []record.Denial `json:"denials,omitempty"`
	Evidence *record.Sandbox `json:"evidence,omitempty"`
}

// sentExited is [Exited] on its way. encoding/json looks at every type below one
// that it meets for the first time. For those of the denials and the evidence,
// which few messages have, a client would take longer than for all others.
type sentExited struct {
	plainExited
	Denials  json.RawMessage `json:"denials,omitempty"`
	Evidence json.RawMessage `json:"evidence,omitempty"`
}

type plainExited Exited // without the methods

// MarshalJSON implements [json.Marshaler].
func (e Exited) MarshalJSON() (_ []byte, err error) {
	s := sentExited{plainExited: plainExited(e)}
	if len(e.Denials) > 0 {
		s.Denials, err = json.Marshal(e.Denials)
	}
	if e.Evidence != nil && err == nil {
		s.Evidence, err = json.Marshal(e.Evidence)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *Exited) UnmarshalJSON(text []byte) (err error) {
	var s sentExited
	if err = json.Unmarshal(text, &s); err != nil {
		return err
	}
	*e = Exited(s.plainExited)
	if len(s.Denials) > 0 {
		err = json.Unmarshal(s.Denials, &e.Denials)
	}
	if len(s.Evidence) > 0 && err == nil {
		err = json.Unmarshal(s.Evidence, &e.Evidence)
	}
	return err
}

// Published is the answer to the request to publish a port.
type Published struct {
	Fault *Fault `json:"fault,omitempty"`
	Host  string `json:"host"` // ADDRESS:PORT, where it can be reached
}

// Ended is the answer to the request for the end, when the boundary is gone.
type Ended struct {
	Denials []record.Denial `json:"denials"`
}

// Status is what is to be known of a session.
type Status struct {
	Name      string    `json:"name"`
	Workspace string    `json:"workspace"`
	Profile   string    `json:"profile"`
	Digest    string    `json:"plan_digest"`
	PID       int       `json:"pid"` // of the supervisor
	Since     time.Time `json:"since"`
	Used      time.Time `json:"last_used"`
	Idle      Duration  `json:"idle"` // after which it ends; 0 is never
	Commands  []Command `json:"commands"`
	Processes []Process `json:"processes"`
	Published []string  `json:"published"` // ports of the host, each with the one inside
	// Protected are the names, absolute, that no command may make, as they were when
	// the session began.
	Protected []string `json:"protected"`
	Plan      string   `json:"plan"`
}

// Command is one that a client runs.
type Command struct {
	Argv  []string  `json:"argv"`
	Since time.Time `json:"since"`
	PID   int       `json:"pid"` // outside
}

// Process is one that is alive inside.
type Process struct {
	PID    int    `json:"pid"`
	Inside int    `json:"pid_inside"`
	Line   string `json:"command"`
}

// Log is what a command left in the background has printed.
type Log struct {
	Argv  []string  `json:"argv"`
	Since time.Time `json:"since"`
	Lost  int64     `json:"lost"` // bytes before Text that were not kept
	Text  []byte    `json:"text"`
}

// Duration is written as text, such as 30m0s.
type Duration time.Duration

// MarshalText is [time.Duration.String].
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText is [time.ParseDuration].
func (d *Duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	*d = Duration(value)
	return err
}

// headerBytes are before each message: its length, with the high byte first.
const headerBytes = 4

// encode is a message with its length before it.
func encode(message any) ([]byte, error) {
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if len(text) > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes: at most %d are allowed", len(text), maxMessage)
	}
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, headerBytes+len(text)), uint32(len(text))), text...), nil
}

// decode reads what comes after a header. Memory grows with what has come, not
// with what was announced.
func decode(header [headerBytes]byte, from io.Reader, message any) error {
	n := binary.BigEndian.Uint32(header[:])
	if n > maxMessage {
		return fmt.Errorf("a message of %d bytes: at most %d are allowed", n, maxMessage)
	}
	text, err := readAll(from, int(n))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, message)
}

// atOnce is how many bytes of a message are taken memory for before they come.
const atOnce = 16 << 10

func readAll(from io.Reader, n int) ([]byte, error) {
	if n <= atOnce {
		text := make([]byte, n)
		_, err := io.ReadFull(from, text)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return text, err
	}
	text, err := io.ReadAll(io.LimitReader(from, int64(n)))
	if err == nil && len(text) < n {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}

// words and texts turn the words of a command into what a message holds, and back.
func words(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, word := range list {
		out[i] = []byte(word)
	}
	return out
}

func texts(list [][]byte) []string {
	out := make([]string, len(list))
	for i, word := range list {
		out[i] = string(word)
	}
	return out
}
