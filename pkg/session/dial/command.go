package dial

import "encoding/binary"

// Command is what every request for a command says.
type Command struct {
	Argv    []string
	Env     []string
	Dir     string
	Umask   int
	Streams [3]Stream
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

// Greeting is the first message of both ends. It is in JSON so that a release
// which sends everything in JSON can read it. It names the version, and the
// types of all messages by their hash, which a test of package session holds to
// be right: an end with another greeting would read wrong values.
const Greeting = `{"version":6,"types":"935856a1639f3bd"}`

// Success is the event that a plain command has ended with status 0, and that
// nothing else is to be said, in the encoding of package session. A test of that
// package compares it.
const Success = "\x00\x00\x00\x1f\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00" + // status 0
	"\x0f\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff" + // time.Time{}
	"\x00\x00\x00\x00\x00"

// HeaderBytes is the length of the header of a message. The header is the
// message's length in bytes, big-endian.
const HeaderBytes = 4

// Size returns the number of bytes in the arguments and the environment.
func (c *Command) Size() (n int) {
	for _, list := range [2][]string{c.Argv, c.Env} {
		for _, word := range list {
			n += len(word) + 1
		}
	}
	return n
}

// rest holds the fields of a request after those of the command, and Plain.
const rest = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// AppendRequest appends the messages that request a plain command: the greeting
// and session.Request, in the encoding of package session. A test of that
// package compares them.
func (c *Command) AppendRequest(to []byte) []byte {
	to = append(binary.BigEndian.AppendUint32(to, uint32(len(Greeting))), Greeting...)
	start := len(to)
	to = append(to, 0, 0, 0, 0, 1) // the header, and the pointer to the command
	for _, list := range [...][]string{c.Argv, c.Env} {
		to = binary.AppendUvarint(to, uint64(len(list))+1)
		for _, word := range list {
			to = append(binary.AppendUvarint(to, uint64(len(word))), word...)
		}
	}
	to = append(binary.AppendUvarint(to, uint64(len(c.Dir))), c.Dir...)
	to = binary.AppendVarint(to, int64(c.Umask))
	for _, kind := range c.Streams {
		to = append(to, byte(kind))
	}
	to = append(append(to, 1), rest...) // Plain
	binary.BigEndian.PutUint32(to[start:], uint32(len(to)-start-HeaderBytes))
	return to
}

// Sent is a connection on which a plain command was requested: it gets the
// environment and the time limit that the session gives a command without
// flags.
type Sent struct {
	FD      int
	Name    string // of the session
	Streams [3]Stream
	Read    []byte // what has been received on it
	Pipes   []int  // the descriptors that came with it, of the piped streams in order

	text  [4 << 10]byte // holds Read
	pipes [3]int        // holds Pipes
}
