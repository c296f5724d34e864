package control

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/signing"
	"ethos/pkg/statedir"
)

// gitSigning serves the socket through which git inside has its commits and tags signed:
// package signing. Init creates the socket on the run's own tmpfs.
type gitSigning struct {
	*Job
	defaults
	signer *signing.Signer
	fd     int // the socket; 0 before it is handed over
	ctx    context.Context
	stop   func()
	told   int // how many denials Look has reported
	served sync.WaitGroup
}

// signingConns bounds the concurrent connections; further ones wait in the socket's queue.
const signingConns = 8

func newSigning(j *Job) *gitSigning {
	c := &gitSigning{Job: j}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

func (c *gitSigning) Name() string { return plan.ControlSigning }

func (c *gitSigning) wanted() bool { return c.Job.Plan.GitSigning != "" }

func (c *gitSigning) Requested() (string, bool) { return c.Job.Plan.GitSigning, c.wanted() }

// Prepare reads the user's configuration before the command can run. A failure only
// prevents signatures; it does not prevent the run.
func (c *gitSigning) Prepare(context.Context) error {
	if !c.wanted() {
		return nil
	}
	p := c.Job.Plan
	c.signer = &signing.Signer{Anybody: p.GitSigning == capability.SignCommitter, Now: time.Now}
	person, err := signing.Read(p.Workspace, p.Getenv, p.CommandWrites)
	if err == nil {
		var state string
		if state, err = statedir.Make(p.Getenv, "signing"); err == nil {
			c.signer.Program, err = signing.Find(person, p.Getenv, state, p.CommandWrites)
		}
	}
	c.signer.Unusable = err
	if p.Decide != nil {
		c.signer.Decide = c.decide
	}
	return nil
}

// decide asks policy. The action's directory is the work tree that git is in, if that is
// known.
func (c *gitSigning) decide(o *signing.Object, repository string) (reason, hint string) {
	p := c.Job.Plan
	action := record.Action{Kind: record.KindExec, Argv: o.Command(), Cwd: p.Workspace, Workspace: p.Workspace}
	if dir, name := filepath.Split(repository); name == ".git" && mount.Within(filepath.Clean(dir), p.Workspace) {
		action.Cwd = filepath.Clean(dir)
	}
	err := p.Decide(c.ctx, action)
	if err == nil {
		return "", ""
	}
	if r := (*plan.Refusal)(nil); errors.As(err, &r) {
		hint = r.Hint
	}
	return err.Error(), hint
}

func (c *gitSigning) Steps(at Phase, p *Program) {
	if at != InitInside || !c.wanted() {
		return
	}
	const stage, path, dir = "git signing", plan.SigningSocket, plan.SigningDir
	address := make([]byte, 2+len(path)+1) // unix(7), struct sockaddr_un
	binary.NativeEndian.PutUint16(address, unix.AF_UNIX)
	copy(address[2:], path)
	socket := p.Slots.New()
	made := step(stage, "socket", unix.SYS_SOCKET, path, steps.Int(unix.AF_UNIX), steps.Int(unix.SOCK_STREAM|unix.SOCK_CLOEXEC), steps.Int(0))
	made.Save = socket
	p.Init = append(p.Init, made,
		step(stage, "bind", unix.SYS_BIND, path, steps.From(socket), steps.Buf(address), steps.Int(len(address))),
		step(stage, "listen", unix.SYS_LISTEN, path, steps.From(socket), steps.Int(signingConns)),
		steps.Hand(HandedSigning, socket),
		step(stage, "close", unix.SYS_CLOSE, path, steps.From(socket)))
}

func (c *gitSigning) Receive(what, fd int) bool {
	if what != HandedSigning || c.fd != 0 || !c.wanted() {
		return false
	}
	c.fd = fd
	return true
}

// VerifyPlace asks the kernel to which path the socket is bound, and opens the root of the
// boundary.
func (c *gitSigning) VerifyPlace(pid int) error {
	if !c.wanted() {
		return nil
	}
	if c.fd == 0 {
		return errors.New("git signing: there is no socket")
	}
	at, err := unix.Getsockname(c.fd)
	if name, ok := at.(*unix.SockaddrUnix); err != nil || !ok || name.Name != plan.SigningSocket {
		return fmt.Errorf("git signing: the socket is at %v: %w", at, err)
	}
	if c.signer.Root, err = os.OpenRoot("/proc/" + strconv.Itoa(pid) + "/root"); err != nil {
		return Unreadable(err)
	}
	return nil
}

// Begin starts serving the socket.
func (c *gitSigning) Begin(int) error {
	if !c.wanted() {
		return nil
	}
	file := os.NewFile(uintptr(c.fd), plan.SigningSocket)
	c.fd = -1
	listener, err := net.FileListener(file)
	file.Close()
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("git signing: %w", err)}
	}
	context.AfterFunc(c.ctx, func() { listener.Close() })
	c.served.Go(func() { c.serve(listener) })
	return nil
}

func (c *gitSigning) serve(listener net.Listener) {
	free := make(chan struct{}, signingConns)
	for {
		free <- struct{}{}
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		c.served.Go(func() {
			defer func() { <-free }()
			stop := context.AfterFunc(c.ctx, func() { conn.Close() })
			defer stop()
			if !own(conn) {
				conn.Close()
				return
			}
			c.signer.Serve(c.ctx, conn)
		})
	}
}

// own reports whether a client belongs to this user: unix(7), SO_PEERCRED. There is no
// other user inside.
func own(conn net.Conn) (yes bool) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return false
	}
	fault := raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		yes = err == nil && cred.Uid == uint32(os.Geteuid())
	})
	return yes && fault == nil
}

// endingSigning is how long the end of a run waits for signatures in progress.
const endingSigning = 5 * time.Second

// End cancels signatures in progress, including a signing program that waits for a person.
// What does not end in time does not delay the end of the run further.
func (c *gitSigning) End() {
	if c.stop(); !c.wanted() {
		return
	}
	ended := make(chan struct{})
	go func() { c.served.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(endingSigning):
	}
	if c.fd > 0 {
		unix.Close(c.fd)
		c.fd = -1
	}
	if c.signer != nil && c.signer.Root != nil {
		c.signer.Root.Close()
	}
}

// Look returns what was refused to the commands of a session.
func (c *gitSigning) Look(context.Context, bool) []record.Denial {
	list := c.denied()
	list, c.told = list[c.told:], len(list)
	return list
}

func (c *gitSigning) denied() (list []record.Denial) {
	if c.signer == nil {
		return nil
	}
	for _, d := range c.signer.Denied() {
		d.Layer, d.Reason = plan.ControlSigning, shown(d.Reason)
		list = append(list, d)
	}
	return list
}

func (c *gitSigning) Wake(context.Context) error { return nil }

// Report marks the control as absent if it was known from the start that nothing can be
// signed.
func (c *gitSigning) Report(line record.Control) record.Control {
	if c.signer != nil && c.signer.Unusable != nil && line.State == Enforced {
		line.State, line.Enforced, line.Reason = Absent, "", c.signer.Unusable.Error()
	}
	return line
}

func (c *gitSigning) Hint() string {
	return "request it with --git-signing own, once signing works outside: git commit -S --allow-empty in a throw-away repository"
}

func (c *gitSigning) Evidence(e *record.Sandbox, _ bool) {
	if c.signer == nil {
		return
	}
	e.Signatures, e.SignaturesMore = c.signer.Signatures()
	e.Denials = append(e.Denials, c.denied()...)
}
