package probe

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// Mission is what the confined process tries. Everything in it exists outside.
type Mission struct {
	Write   string `json:"write"`   // declared: must succeed
	Outside string `json:"outside"` // undeclared: must not be written
	Secret  string `json:"secret"`  // undeclared: must not be read
	TCP     string `json:"tcp"`     // a listener outside: must not be reached
	Unix    string `json:"unix"`    // a socket file outside: must not be reached
	PID     int    `json:"pid"`     // a process outside: must not be signalled
}

// Attempt maps the name of each attempt to its error, or "" if it succeeded.
type Attempt map[string]string

// Inside makes all attempts and reports the results as one line of JSON. The confined process calls
// it.
func Inside(mission string, out io.Writer) error {
	var m Mission
	if err := json.Unmarshal([]byte(mission), &m); err != nil {
		return err
	}
	said := Attempt{}
	for _, a := range attempts {
		said[a.key] = ""
		if err := a.try(&m); err != nil {
			said[a.key] = err.Error()
		}
	}
	return json.NewEncoder(out).Encode(said)
}

// mark is the text that the confined process writes.
const mark = "ethos probe\n"

func dial(network, address string) error {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// signalOutside must not reach the process outside. In a PID namespace of its own the number may
// belong to a process or thread inside, so the process outside decides whether a signal came.
func signalOutside(pid int) error {
	if pid <= 2 {
		return errors.New("not tried: the process id is in use inside")
	}
	return syscall.Kill(pid, syscall.SIGUSR1)
}
