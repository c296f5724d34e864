package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/inherited"
)

// callerFlags tie a run to the process that started it.
type callerFlags struct {
	InfoFd        int  `placeholder:"N" help:"Write the command's process id and namespaces to this descriptor, as a line of JSON, before its first instruction."`
	DieWithParent bool `help:"End the run at once, with everything inside, when the thread that started ethos-sandbox ends. Without this flag the run goes on."`
}

// alone refuses what a command of a session cannot have.
func (c *callerFlags) alone() error {
	if c.InfoFd == 0 && !c.DieWithParent {
		return nil
	}
	return cli.Errorf(cli.Refused, "omit --session, or use ethos-sandbox session show", "--info-fd and --die-with-parent cannot be used with --session")
}

// begin ties this process to its parent. It returns a function to call with the
// PID of the command before its first instruction, or nil if there is nothing
// to do.
func (c *callerFlags) begin() (func(pid int) error, error) {
	if c.DieWithParent {
		if err := cli.DieWithParent(); err != nil {
			return nil, cli.Errorf(cli.Refused, "omit --die-with-parent", "--die-with-parent: %w", err)
		}
	}
	if c.InfoFd == 0 {
		return nil, nil
	}
	to := inherited.File(c.InfoFd, "fd:"+strconv.Itoa(c.InfoFd))
	if c.InfoFd < 3 || to == nil {
		return nil, cli.Errorf(cli.Refused, "open it: ethos-sandbox run --info-fd 3 -- CMD 3>FILE", "--info-fd %d is not an open descriptor above 2", c.InfoFd)
	}
	return func(pid int) error {
		defer to.Close()
		status, err := infoOf("/proc/" + strconv.Itoa(pid))
		if err == nil {
			err = json.NewEncoder(to).Encode(status)
		}
		if err != nil {
			return fmt.Errorf("--info-fd: %w", err)
		}
		return nil
	}, nil
}

// info describes a command that is about to begin. PIDs are those in the PID
// namespace of ethos-sandbox.
type info struct {
	PID        int               `json:"pid"`
	Init       int               `json:"init"`       // of the command's PID namespace, which ends if this process is killed
	Namespaces map[string]uint64 `json:"namespaces"` // inode numbers: namespaces(7)
}

// infoOf reads the information from a directory of proc(5).
func infoOf(dir string) (s info, err error) {
	text, err := os.ReadFile(dir + "/status")
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		switch name {
		case "Pid":
			s.PID, err = strconv.Atoi(value)
		case "PPid":
			s.Init, err = strconv.Atoi(value)
		}
		if err != nil {
			return s, err
		}
	}
	s.Namespaces = map[string]uint64{}
	for _, name := range []string{"user", "mnt", "pid", "ipc", "uts", "cgroup", "net"} {
		link, err := os.Readlink(dir + "/ns/" + name)
		if err != nil {
			return s, err
		}
		if s.Namespaces[name], err = strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(link, name+":["), "]"), 10, 64); err != nil {
			return s, err
		}
	}
	return s, nil
}
