package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/session"
)

// confined implements a session's boundary with package sandbox.
type confined struct {
	*sandbox.Session
	plain sandbox.Spec // of a command without flags, without its client's environment
	home  string
	name  string // of the session
	calls callServers

	mu   sync.Mutex
	told map[record.Denial]bool             // what was quarantined
	last struct{ client, command []string } // environments: of the last client without flags, and of its command
}

func (c *confined) Spawn(s session.Spawn) (session.Child, error) {
	child, err := c.Session.SpawnFrom(context.Background(), func() (sandbox.Command, error) { return c.command(s) })
	if err != nil {
		return nil, faultOf(err)
	}
	return &inside{child, c.Session}, nil
}

// command returns the command that a client requests. The error is a [*session.Fault].
func (c *confined) command(s session.Spawn) (sandbox.Command, error) {
	plan := c.Plan()
	if sandbox.Covering(plan.Paths, s.Dir).Access == sandbox.Hidden {
		return sandbox.Command{}, &session.Fault{
			Code: sandbox.CodeDeclaration, Message: "working directory " + s.Dir + " is not visible in the session", Hint: "run it in the work space, " + plan.Workspace,
		}
	}
	env, err := s.Env, error(nil)
	if s.Plain {
		env, err = c.environment(env)
	}
	if err == nil {
		env, err = plan.Joined(s.Argv, env)
	}
	return sandbox.Command{
		Argv: s.Argv, Env: env, Dir: s.Dir, Umask: s.Umask, Streams: s.Streams, Terminal: s.Terminal, Rows: s.Rows, Cols: s.Cols,
		Narrow:     sandbox.Narrow{NoNetwork: s.Narrow.NoNetwork, DenyWrite: s.Narrow.DenyWrite, DenyRead: s.Narrow.DenyRead},
		Limits:     sandbox.Limits{MemoryBytes: s.Limits.MemoryBytes, CPUPercent: s.Limits.CPUPercent, Pids: s.Limits.Pids, Timeout: s.Timeout},
		MustCgroup: s.Limits.Cgroup,
	}, faultOf(err)
}

// environment returns the environment of a command without flags, for that of
// its client. Most clients have the same one.
func (c *confined) environment(client []string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.command != nil && slices.Equal(client, c.last.client) {
		return c.last.command, nil
	}
	spec := c.plain
	spec.Environ = withHome(cli.Environ(client), c.home)
	env, err := sandbox.Environment(spec, sandbox.HostFiles{})
	if err == nil {
		c.last.client, c.last.command = client, env
	}
	return env, err
}

// faultOf converts a refusal to the form of a session.
func faultOf(err error) error {
	var r *sandbox.Refusal
	if errors.As(err, &r) {
		return &session.Fault{Code: r.Code, Message: r.Error(), Hint: r.Hint}
	}
	return err
}

// Prepare prepares the next command, and takes over the servers of calls from a
// session that has ended.
func (c *confined) Prepare() {
	c.Session.Prepare()
	c.calls.take()
}

func (c *confined) Look(ctx context.Context) []record.Denial {
	found := c.first(c.Session.Look(ctx))
	for i := range found {
		found[i].Remedy = afterEnd(c.name, found[i])
	}
	return found
}

// afterEnd returns the remedy for what a session has put aside and would put aside
// again: the session is ended first.
func afterEnd(name string, d record.Denial) string {
	if d.Kept == "" {
		return d.Remedy
	}
	return strings.Replace(d.Remedy, ": mv ", ": ethos-sandbox session end "+name+" && mv ", 1)
}

// first returns the denials that were not reported before.
func (c *confined) first(denials []record.Denial) (list []record.Denial) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range denials {
		if !c.told[d] {
			list = append(list, d)
		}
		if c.told == nil {
			c.told = map[record.Denial]bool{}
		}
		c.told[d] = true
	}
	return list
}

func (c *confined) Publish(text string, anywhere bool) (string, error) {
	published, err := c.Session.Publish(text, anywhere)
	if err != nil {
		return "", faultOf(err)
	}
	return published.Host.String(), nil
}

func (c *confined) Wait() (why string, left []record.Denial) {
	out, err := c.Session.Wait()
	if why = out.Evidence.Reason; err != nil {
		why = err.Error()
	}
	return why, c.first(out.Evidence.Denials)
}

// because returns the reason of an end without what the evidence says before it:
// the Why of an Ending in pkg/sandbox/control.
func because(why string) string {
	return strings.TrimPrefix(strings.TrimPrefix(why, "ended because "), "of ")
}

// inside is a command in such a boundary.
type inside struct {
	*sandbox.Child
	session *sandbox.Session
}

func (i *inside) PID() int           { return i.Child.PID }
func (i *inside) Terminal() *os.File { return i.Child.Terminal }
func (i *inside) Started() time.Time { return i.Child.Started }

// endingTime is the time that a session's end may take to become visible after
// a command's end.
const endingTime = 2 * time.Second

// Wait distinguishes a command that could not be executed from one whose
// session ended.
func (i *inside) Wait() (syscall.WaitStatus, error) {
	status, err := i.Child.Wait()
	if err == nil {
		return status, nil
	}
	var r *sandbox.Refusal
	if errors.As(err, &r) && r.Code == sandbox.CodeSetup {
		select {
		case <-i.session.Done():
			out, _ := i.session.Wait()
			if why := out.Evidence.Reason; why != "" {
				return status, errors.New("the session ended while it ran: " + because(why))
			}
			return status, errors.New("the session ended while it ran")
		case <-time.After(endingTime):
		}
	}
	return status, faultOf(err)
}
