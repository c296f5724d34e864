package session

import (
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/session/dial"
)

// The limits of a message.
const (
	// MaxWords is the maximum number of bytes in a command's arguments and
	// environment together.
	MaxWords   = 4 << 20
	maxMessage = MaxWords + 1<<20
)

// Hello is the supervisor's message after its greeting.
type Hello struct {
	Name    string
	Digest  string // of the plan
	Managed bool   // git inside is managed
	// MostTime limits the time of each command; 0 means no limit.
	MostTime time.Duration
	// Asked is how the session was requested, in the terms of the program that
	// started it: see [Marshal].
	Asked []byte
}

// within returns the time limit for a command that asks for limit; 0 means
// none.
func (h *Hello) within(limit time.Duration) time.Duration {
	if h.MostTime > 0 && (limit <= 0 || limit > h.MostTime) {
		return h.MostTime
	}
	return limit
}

// Request is a client's message after its greeting. Exactly one field is set.
type Request struct {
	Run    *Run
	Status bool
	Logs   bool
	End    bool
	// Publish names a port to publish: [ADDRESS:]HOSTPORT:PORT, or PORT for the
	// same port on both sides.
	Publish    string
	PublishAny bool // other machines may connect
}

// Run asks to run a command. The descriptors sent with it are the passed
// streams.
type Run struct {
	dial.Command
	// Plain asks for what a command line without flags gives: the supervisor
	// makes the environment from Env, the client's own, and sets the time limit.
	Plain    bool
	Terminal bool
	Rows     uint16
	Cols     uint16
	Timeout  time.Duration // 0: none
	Evidence bool          // send the evidence at the end
	Narrow   Narrow
	Limits   Limits
}

// Limits are a command's own, in addition to those of the session. Zero means no limit.
type Limits struct {
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	CPUPercent  int64 `json:"cpu_percent,omitempty"` // of one processor
	Pids        int64 `json:"pids,omitempty"`
	Cgroup      bool  `json:"cgroup,omitempty"` // a cgroup must hold them
}

// Narrow lists what the session has and the command does without.
type Narrow struct {
	NoNetwork bool
	DenyWrite []string // absolute paths
	DenyRead  []string // absolute paths
	Profile   string   // the profile that the lists come from
}

// text describes the restrictions for the evidence.
func (n *Narrow) text() (list []string) {
	if n.Profile != "" {
		list = append(list, "profile "+n.Profile)
	}
	if n.NoNetwork {
		list = append(list, "network none")
	}
	for _, path := range n.DenyWrite {
		list = append(list, "deny_write "+path)
	}
	for _, path := range n.DenyRead {
		list = append(list, "deny_read "+path)
	}
	return list
}

// check returns an error if a Run is invalid, apart from its descriptors.
func (r *Run) check() error {
	switch {
	case len(r.Argv) == 0:
		return fmt.Errorf("no command is given")
	case r.Size() > MaxWords:
		return fmt.Errorf("the arguments and the environment have %d bytes together, and at most %d are allowed", r.Size(), MaxWords)
	}
	for i, s := range r.Streams {
		if s > dial.Terminal || s == dial.Terminal && !r.Terminal || s == dial.Joined && (i != 2 || r.Streams[1] != dial.Piped) || s == dial.Piped && i == 0 {
			return fmt.Errorf("stream %d cannot be of kind %d", i, s)
		}
	}
	return nil
}

// passed returns the number of descriptors sent with the request.
func (r *Run) passed() (n int) {
	for _, s := range r.Streams {
		if s == dial.Passed {
			n++
		}
	}
	return n
}

// Event is a message about a requested command. Exactly one field is set. The
// supervisor sends Fault, or Started and later Denied and Exited. With Started
// it sends the descriptors of the pipes, in the order of the streams, and of
// the terminal. The client sends Signal and Closed.
type Event struct {
	Fault   *Fault // nothing ran
	Started *Started
	Denied  *record.Denial // a refused destination
	Exited  *Exited
	Signal  int // for the command's process group
	Closed  int // 1 or 2: nobody reads this stream any more
}

// Fault says why nothing ran.
type Fault struct {
	Code    string
	Message string
	Hint    string
}

func (f *Fault) Error() string { return f.Message }

// Started says that the command is running.
type Started struct {
	PID int // in the outer PID namespace
}

// Exited says how a command ended.
type Exited struct {
	Status   int    // wait status as in wait(2)
	Timeout  bool   // its time limit expired
	OOM      bool   // a memory limit ended it
	Unheld   string // why its limit of processor time is not in force
	Fault    *Fault // it could not be executed: nothing ran
	Lost     string // why the session ended before the command
	Started  time.Time
	Duration time.Duration
	Denials  []record.Denial
	Evidence *record.Sandbox
}

// Published is the answer to a request to publish a port.
type Published struct {
	Fault *Fault
	Host  string // ADDRESS:PORT on the host
}

// Ended is the answer to a request to end the session. It is sent when the
// boundary is gone.
type Ended struct {
	Denials []record.Denial
}

// Status is the state of a session.
type Status struct {
	Name      string    `json:"name"`
	Workspace string    `json:"workspace"`
	Profile   string    `json:"profile"`
	Digest    string    `json:"plan_digest"`
	PID       int       `json:"pid"` // of the supervisor
	Since     time.Time `json:"since"`
	Used      time.Time `json:"last_used"`
	Idle      Duration  `json:"idle"` // idle time after which the session ends; 0 means never
	Commands  []Command `json:"commands"`
	Processes []Process `json:"processes"`
	Published []string  `json:"published"` // ports of the host, each with the port inside
	// Protected lists the absolute paths that no command may create, as of the
	// start of the session.
	Protected []string `json:"protected"`
	Plan      string   `json:"plan"`
}

// Command is a command that a client runs.
type Command struct {
	Argv   []string  `json:"argv"`
	Since  time.Time `json:"since"`
	PID    int       `json:"pid"`    // in the outer PID namespace
	Limits Limits    `json:"limits"` // its own
}

// Process is a live process inside.
type Process struct {
	PID    int    `json:"pid"`
	Inside int    `json:"pid_inside"`
	Line   string `json:"command"`
}

// Log is what the background processes of a command have printed.
type Log struct {
	Argv  []string  `json:"argv"`
	Since time.Time `json:"since"`
	Lost  int64     `json:"lost"` // number of bytes before Text that were dropped
	Text  []byte    `json:"text"`
}

// Duration is encoded as text, such as 30m0s.
type Duration time.Duration

// MarshalText implements [encoding.TextMarshaler] with [time.Duration.String].
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] with
// [time.ParseDuration].
func (d *Duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	*d = Duration(value)
	return err
}

func encode(message any) (text []byte, err error) {
	text = make([]byte, dial.HeaderBytes, 2<<10)
	if first, ok := message.(greeting); ok {
		text = append(text, first...)
	} else if text, err = appendValue(text, reflect.ValueOf(message)); err != nil {
		return nil, err
	}
	n := len(text) - dial.HeaderBytes
	if n > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes: at most %d are allowed", n, maxMessage)
	}
	binary.BigEndian.PutUint32(text, uint32(n))
	return text, nil
}

// decode reads the message after a header. Memory grows with the bytes
// received, not with the announced length.
func decode(header [dial.HeaderBytes]byte, from io.Reader, message any) error {
	n := binary.BigEndian.Uint32(header[:])
	if n > maxMessage {
		return fmt.Errorf("a message of %d bytes: at most %d are allowed", n, maxMessage)
	}
	text, err := readAll(from, int(n))
	if err != nil {
		return err
	}
	if first, ok := message.(*greeting); ok {
		*first = greeting(text)
		return nil
	}
	return parse(text, reflect.ValueOf(message).Elem())
}

// atOnce is the number of bytes allocated for a message before they arrive.
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
