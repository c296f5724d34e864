package session

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"ethos/pkg/record"
)

// The limits of a message. Its words are base64-encoded, so that they may be
// any bytes: four bytes for three.
const (
	// MaxWords is the maximum number of bytes in a command's arguments and
	// environment together.
	MaxWords   = 4 << 20
	maxMessage = MaxWords/3*4 + 1<<20
)

// version is the version of the message format. Both ends are usually the same
// program; a session started by another release reports the difference instead
// of guessing.
const version = 4

// Hello is the supervisor's first message.
type Hello struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Digest  string `json:"digest"`  // of the plan
	Managed bool   `json:"managed"` // git inside is managed
	// MostTime limits the time of each command; 0 means no limit.
	MostTime time.Duration `json:"most_time,omitempty"`
	// Asked is how the session was requested, in the terms of the program that
	// started it.
	Asked json.RawMessage `json:"asked,omitempty"`
}

// within returns the time limit for a command that asks for limit; 0 means
// none.
func (h *Hello) within(limit time.Duration) time.Duration {
	if h.MostTime > 0 && (limit <= 0 || limit > h.MostTime) {
		return h.MostTime
	}
	return limit
}

// Request is a client's first message. Exactly one field is set.
type Request struct {
	Run    *Run `json:"run,omitempty"`
	Status bool `json:"status,omitempty"`
	Logs   bool `json:"logs,omitempty"`
	End    bool `json:"end,omitempty"`
	// Publish names a port to publish: [ADDRESS:]HOSTPORT:PORT, or PORT for the
	// same port on both sides.
	Publish    string `json:"publish,omitempty"`
	PublishAny bool   `json:"publish_any,omitempty"` // other machines may connect
}

// Run asks to run a command. The descriptors sent with it are the passed
// streams.
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
	Evidence bool          `json:"evidence"` // send the evidence at the end
	Narrow   Narrow        `json:"narrow"`
	Limits   Limits        `json:"limits"`
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
	NoNetwork bool     `json:"no_network,omitempty"`
	DenyWrite [][]byte `json:"deny_write,omitempty"` // absolute paths
	DenyRead  [][]byte `json:"deny_read,omitempty"`  // absolute paths
	Profile   string   `json:"profile,omitempty"`    // the profile that the lists come from
}

// Denied returns the paths that the command cannot write, and those that it
// cannot read.
func (n *Narrow) Denied() (write, read []string) { return texts(n.DenyWrite), texts(n.DenyRead) }

// text describes the restrictions for the evidence.
func (n *Narrow) text() (list []string) {
	if n.Profile != "" {
		list = append(list, "profile "+n.Profile)
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

// words returns the number of bytes in the arguments and the environment.
func (r *Run) words() (n int) {
	for _, list := range [][][]byte{r.Argv, r.Env} {
		for _, word := range list {
			n += len(word) + 1
		}
	}
	return n
}

// check returns an error if a Run is invalid, apart from its descriptors.
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

// Stream is the kind of a command's standard stream.
type Stream uint8

// The kinds of streams.
const (
	Null     Stream = iota
	Passed          // the client's own file
	Piped           // a pipe; the client gets the other end
	Joined          // standard error goes where standard output goes
	Terminal        // the command's terminal
)

// passed returns the number of descriptors sent with the request.
func (r *Run) passed() (n int) {
	for _, s := range r.Streams {
		if s == Passed {
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
	Fault   *Fault         `json:"fault,omitempty"` // nothing ran
	Started *Started       `json:"started,omitempty"`
	Denied  *record.Denial `json:"denied,omitempty"` // a refused destination
	Exited  *Exited        `json:"exited,omitempty"`
	Signal  int            `json:"signal,omitempty"` // for the command's process group
	Closed  int            `json:"closed,omitempty"` // 1 or 2: nobody reads this stream any more
}

// Fault says why nothing ran.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (f *Fault) Error() string { return f.Message }

// Started says that the command is running.
type Started struct {
	PID int `json:"pid"` // in the outer PID namespace
}

// Exited says how a command ended.
type Exited struct {
	Status   int             `json:"status"`  // wait status as in wait(2)
	Timeout  bool            `json:"timeout"` // its time limit expired
	OOM      bool            `json:"oom"`     // a memory limit ended it
	Unheld   string          `json:"unheld"`  // why its limit of processor time is not in force
	Fault    *Fault          `json:"fault"`   // it could not be executed: nothing ran
	Lost     string          `json:"lost"`    // why the session ended before the command
	Started  time.Time       `json:"started"`
	Duration time.Duration   `json:"duration"`
	Denials  []record.Denial `json:"denials,omitempty"`
	Evidence *record.Sandbox `json:"evidence,omitempty"`
}

// sentExited is the encoded form of [Exited]. encoding/json inspects every
// nested type the first time it meets one. For denials and evidence, which few
// messages contain, that would take a client longer than all other types
// together.
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

// Published is the answer to a request to publish a port.
type Published struct {
	Fault *Fault `json:"fault,omitempty"`
	Host  string `json:"host"` // ADDRESS:PORT on the host
}

// Ended is the answer to a request to end the session. It is sent when the
// boundary is gone.
type Ended struct {
	Denials []record.Denial `json:"denials"`
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

// headerBytes is the length of the header of a message. The header is the
// message's length in bytes, big-endian.
const headerBytes = 4

// encode returns a message preceded by its header.
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

// decode reads the message after a header. Memory grows with the bytes
// received, not with the announced length.
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

// words and texts convert the words of a command to the form in a message and
// back.
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
