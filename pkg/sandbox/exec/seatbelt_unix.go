//go:build unix

package exec

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/inherited"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/seatbelt"
)

// macOS is what the backend seatbelt needs of the system. It is a value so that everything but
// Seatbelt itself is tested on other systems too.
type macOS struct {
	system  string // runtime.GOOS
	program string // sandbox-exec(1), which puts a process under a profile and then becomes the command
	shell   string // sh(1), which sets resource limits and becomes sandbox-exec
}

var thisMac = macOS{runtime.GOOS, "/usr/bin/sandbox-exec", "/bin/sh"}

// seatbeltRun is one run under a profile.
type seatbeltRun struct {
	macOS
	plan     *plan.Plan
	io       IO
	scratch  seatbeltScratch
	profile  string
	env      []string
	verified bool // a probe under the profile could do nothing that it should not
	usage    syscall.Rusage
}

// run carries out a plan of the backend seatbelt. It refuses on every system but macOS.
func (m macOS) run(ctx context.Context, p *plan.Plan, io IO) (Outcome, error) {
	r := &seatbeltRun{macOS: m, plan: p, io: io}
	out, err := r.run(ctx)
	out.Evidence = r.evidence(err)
	return out, plan.AsSetup(err)
}

func (r *seatbeltRun) run(ctx context.Context) (Outcome, error) {
	if err := r.possible(); err != nil {
		return Outcome{}, err
	}
	path, err := r.find()
	if err != nil {
		return Outcome{}, err
	}
	if r.scratch, err = makeSeatbeltScratch(r.plan); err != nil {
		return Outcome{}, err
	}
	defer r.scratch.remove()
	for _, entry := range r.plan.Env {
		r.env = append(r.env, strings.Replace(entry, "="+plan.Scratch, "="+r.scratch.inside, 1))
	}
	if r.profile, err = seatbelt.Write(r.plan); err != nil {
		return Outcome{}, err
	}
	if err := seatbelt.Check(r.profile, r.plan, r.scratch.inside); err != nil {
		return Outcome{}, &plan.Refusal{Code: plan.CodeVerify, Err: err, Hint: "please report it with the output of ethos-sandbox plan --backend seatbelt"}
	}
	if err := r.prove(ctx); err != nil {
		return Outcome{}, err
	}
	if err := r.required(); err != nil {
		return Outcome{}, err
	}
	return r.command(ctx, path)
}

// possible refuses what this system or this road cannot do.
func (r *seatbeltRun) possible() error {
	switch {
	case r.system != "darwin":
		return plan.Refuse(plan.CodeUnsupported, "here use --backend native or landlock; ethos-sandbox plan --backend seatbelt shows the profile, to be tried on a Mac",
			"the backend seatbelt needs macOS, and this is %s", r.system)
	case r.io.Began != nil:
		return plan.Refuse(plan.CodeUnsupported, "omit --info-fd", "the backend seatbelt cannot hold a command before it begins")
	}
	for _, path := range []string{r.program, r.shell} {
		if unix.Access(path, unix.X_OK) != nil {
			return plan.Refuse(plan.CodeUnsupported, "sandbox-exec(1) is a part of macOS; if Apple has removed it, this backend has no way to run", "there is no %s", path)
		}
	}
	for _, fd := range r.plan.Descriptors {
		if fd <= 2 || !inherited.Has(fd) {
			return plan.Refuse(plan.CodeDeclaration, "start ethos-sandbox with it open: COMMAND 3<FILE", "descriptor %d was not inherited, or is not above 2", fd)
		}
	}
	return nil
}

// find returns the resolved path of the command's program.
func (r *seatbeltRun) find() (string, error) {
	name := r.plan.Argv[0]
	candidates := []string{name}
	if !strings.Contains(name, "/") {
		candidates = nil
		for _, dir := range filepath.SplitList(plan.Lookup(r.plan.Env, "PATH")) {
			candidates = append(candidates, filepath.Join(dir, name))
		}
	}
	refusal := plan.Refuse(plan.CodeNotFound, "install it where the command can see it, or name its path", "%s: command not found", name)
	for _, path := range candidates {
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.plan.Dir, path)
		}
		resolved, err := filepath.EvalSymlinks(path)
		if err != nil || plan.Covering(r.plan.Paths, resolved).Access == plan.Hidden {
			continue
		}
		if info, err := os.Stat(resolved); err == nil && info.Mode().IsRegular() && unix.Access(resolved, unix.X_OK) == nil {
			return path, nil
		}
		refusal = plan.Refuse(plan.CodeNotExec, "chmod +x makes a script executable", "%s: not an executable file", name)
	}
	return "", refusal
}

// launch is the command line that sets the resource limits, enters the profile and becomes argv.
// [seatbeltRun.prove] has run it before the command does.
func (r *seatbeltRun) launch(argv ...string) []string {
	return append([]string{r.shell, "-c", fmt.Sprintf(`ulimit -c 0 && ulimit -n %d && exec "$@"`, r.openFiles()), "sh",
		r.program, "-D", seatbelt.Scratch + "=" + r.scratch.inside, "-p", r.profile}, argv...)
}

// openFiles returns the limit of open files: the plan's, or what this process may have if that is
// lower.
func (r *seatbeltRun) openFiles() uint64 {
	want := uint64(4096)
	if n := r.plan.Limits.OpenFiles; n > 0 {
		want = uint64(n)
	}
	var has syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &has); err != nil {
		return want
	}
	return min(want, has.Max, math.MaxInt32)
}

func (r *seatbeltRun) command(ctx context.Context, path string) (Outcome, error) {
	files, done, err := r.files()
	if err != nil {
		return Outcome{}, err
	}
	defer done()
	argv := r.launch(append([]string{path}, r.plan.Argv[1:]...)...)
	out := Outcome{Started: time.Now()}
	pid, err := syscall.ForkExec(r.shell, argv, &syscall.ProcAttr{Dir: r.plan.Dir, Env: r.env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return out, &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("start %s: %w", r.shell, err), Hint: "if the command line is long, write it into a file"}
	}
	timedOut, status := r.follow(ctx, pid)
	out.Duration = time.Since(out.Started)
	switch {
	case timedOut:
		out.Status, out.Signal = record.StatusTimeout, syscall.SIGKILL
	case status.Signaled():
		out.Status, out.Signal = record.StatusSignaled, status.Signal()
	default:
		out.Status, out.ExitCode = record.StatusExited, status.ExitStatus()
	}
	return out, nil
}

// follow waits for the command, passes signals on, and ends its process group at the end of the
// context, at the time limit, and when the command has ended.
func (r *seatbeltRun) follow(ctx context.Context, pid int) (timedOut bool, status syscall.WaitStatus) {
	ended := make(chan syscall.WaitStatus, 1)
	go func() {
		var s syscall.WaitStatus
		for {
			if _, err := syscall.Wait4(pid, &s, 0, &r.usage); err != syscall.EINTR {
				break
			}
		}
		ended <- s
	}()
	end := func() { _ = syscall.Kill(-pid, syscall.SIGKILL) } // ESRCH: nothing is left
	var limit <-chan time.Time
	if r.plan.Limits.Timeout > 0 {
		timer := time.NewTimer(r.plan.Limits.Timeout)
		defer timer.Stop()
		limit = timer.C
	}
	over := ctx.Done()
	for {
		select {
		case status = <-ended:
			end()
			return timedOut, status
		case <-limit:
			timedOut = true
			end()
		case <-over:
			over = nil
			end()
		case s, ok := <-r.io.Signals:
			if number, is := s.(syscall.Signal); ok && is {
				_ = syscall.Kill(-pid, number)
			}
		}
	}
}

// files returns the descriptors of the command; done closes those that were opened for it.
func (r *seatbeltRun) files() (files []uintptr, done func(), err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	for i, f := range []*os.File{r.io.Stdin, r.io.Stdout, r.io.Stderr} {
		if f == nil || i == 0 && r.plan.CloseStdin {
			f = null
		}
		files = append(files, f.Fd())
	}
	for _, fd := range r.plan.Descriptors { // sorted
		for len(files) < fd {
			files = append(files, ^uintptr(0)) // stays closed
		}
		files = append(files, uintptr(fd))
	}
	return files, func() { null.Close() }, nil
}
