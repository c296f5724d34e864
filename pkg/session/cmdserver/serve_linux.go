package cmdserver

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
)

// folderFD is the descriptor of the folder for sockets, which a server inherits.
const folderFD = 3

// Command is the command with which a program, given by its name and the function
// that makes it for a command line, serves its calls for a session, until the end
// of standard input. Each call reads the ceiling again.
func Command(ctx context.Context, sys *cli.System, name string, program func(args []string) cli.Program) error {
	syscall.CloseOnExec(folderFD)
	dir := os.NewFile(folderFD, "inherited")
	if info, err := dir.Stat(); err != nil || !info.IsDir() {
		return cli.Errorf(cli.Usage, "ethos-sandbox session start starts a session", "serve is an internal command of sessions")
	}
	return Serve(ctx, Program{Name: name, Run: func(ctx context.Context, sys *cli.System, args []string) cli.Status {
		ceiling.Forget()
		return program(args).Run(ctx, sys, args)
	}}, dir, sys.Stdin)
}

// Process is a server that runs.
type Process struct {
	life   *os.File      // the server ends with it
	gone   chan struct{} // closed at its end
	killed bool          // by a signal; valid once gone is closed
}

// Start starts the server of a program, for at most as long as this process
// lives. Its socket is in folder.
func Start(program string, folder *os.File) (*Process, error) {
	path, err := cli.Beside(program)
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	ended, life, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ended.Close()
	p, err := os.StartProcess(path, []string{program, "serve"}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{ended, null, null, folder}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, errors.Join(err, life.Close())
	}
	started := &Process{life: life, gone: make(chan struct{})}
	go func() {
		state, err := p.Wait()
		started.killed = err == nil && !state.Exited()
		close(started.gone)
	}()
	return started, nil
}

// Killed reports whether a signal has ended the server. One that has ended
// otherwise cannot serve here.
func (p *Process) Killed() bool {
	select {
	case <-p.gone:
		return p.killed
	default:
		return false
	}
}

// grace is how long [Process.End] waits for the calls that are being served. The
// server then ends by itself.
const grace = time.Second

// End ends a server.
func (p *Process) End() {
	p.life.Close()
	select {
	case <-p.gone:
	case <-time.After(grace):
	}
}
