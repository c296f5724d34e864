package probe

import (
	"bytes"
	"os"
)

// attempt is one thing that the confined process tries, and how the outside
// checks the result.
type attempt struct {
	key  string // in the report of the confined process
	name string // of the check
	try  func(m *Mission) error
	held func(s *scene, said Attempt) bool // reports whether the result is as the boundary promises
}

// attempts are made and checked in this order. A new attempt is one more entry.
var attempts = []attempt{
	{"write", "a declared file can be written",
		func(m *Mission) error { return os.WriteFile(m.Write, []byte(mark), 0o600) },
		func(s *scene, _ Attempt) bool {
			written, _ := os.ReadFile(s.Write)
			return bytes.Equal(written, []byte(mark))
		}},
	{"outside", "an undeclared file cannot be written",
		func(m *Mission) error { return os.WriteFile(m.Outside, []byte(mark), 0o600) },
		func(s *scene, _ Attempt) bool {
			outside, _ := os.ReadFile(s.Outside)
			return len(outside) == 0
		}},
	{"secret", "an undeclared file cannot be read",
		func(m *Mission) error { _, err := os.ReadFile(m.Secret); return err },
		func(_ *scene, said Attempt) bool { return said["secret"] != "" }},
	{"tcp", "a listener of the host cannot be reached",
		func(m *Mission) error { return dial("tcp", m.TCP) },
		func(s *scene, said Attempt) bool { return said["tcp"] != "" && s.accepted.Load() == 0 }},
	{"unix", "a socket file of the host cannot be reached",
		func(m *Mission) error { return dial("unix", m.Unix) },
		func(s *scene, said Attempt) bool { return said["unix"] != "" && s.accepted.Load() == 0 }},
	{"signal", "a process of the host cannot be signalled",
		func(m *Mission) error { return signalOutside(m.PID) },
		func(s *scene, said Attempt) bool { return s.unsignalled(said) }},
}
