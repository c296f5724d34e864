package control

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// CommandSteps adds the calls of a session's command to i. The command inherits its
// confinement from the process that clones it. What remains is its own: a session, streams,
// a umask, a directory, limits, and a narrowing if there is one. fds are the descriptors of
// its streams, except those of a terminal. tells says that somebody waits for the news that
// it has begun and is confined.
func CommandSteps(c Command, fds [3]int, n *Narrowing, own *Own, tells bool, i *steps.Image) {
	if tells {
		i.Add(i.Begun())
	}
	own.start(i)
	i.Add(step("terminal", "setsid", unix.SYS_SETSID, ""))
	streams := i.Streams
	if c.Terminal {
		slave := terminalSteps(i)
		for n, f := range c.Streams {
			if f == nil {
				streams[n] = slave
			}
		}
	}
	for n, from := range streams {
		if from == i.Streams[n] {
			if again := deviceOf(fds[n]).steps(n, &i.Slots, i.Str); again != nil {
				i.Add(again...)
				continue
			}
		}
		i.Add(step("descriptors", "dup3", unix.SYS_DUP3, strconv.Itoa(n), steps.From(from), steps.Int(n), steps.Int(0)))
	}
	i.Add(
		step("descriptors", "close_range", unix.SYS_CLOSE_RANGE, "", steps.Int(3), steps.Int(uint32(1<<32-1)), steps.Int(unix.CLOSE_RANGE_CLOEXEC)),
		i.Mask(0),
		step("mount", "umask", unix.SYS_UMASK, "", steps.Int(c.Umask&0o777)),
		step(directoryStage, "chdir", unix.SYS_CHDIR, c.Dir, i.Str(c.Dir)))
	if n != nil {
		n.steps(i)
	}
	ready := i.Ready()
	if !tells {
		ready = ready[1:] // what remains waits to be released
	}
	i.Add(ready...)
	paths := candidates(c.Argv[0], c.Env)
	argv, envp := i.Strings(c.Argv), i.Strings(c.Env)
	for n, path := range paths {
		s := execStep(path, i.Str(path), argv, envp)
		if n == len(paths)-1 {
			s.Tolerate, s.Ignore = nil, nil
		}
		i.Add(s)
	}
}

// directoryStage is the stage of the step that enters the command's directory.
const directoryStage = "directory"

// terminalSteps create a pseudo-terminal in the session's own devpts, hand its master over,
// and make the slave the controlling terminal: ioctl_tty(2). TIOCGPTPEER opens the slave from
// the master and not by its name, which another command of the session could have replaced.
func terminalSteps(i *steps.Image) (slave steps.Slot) {
	const stage, ptmx = "terminal", "/dev/pts/ptmx"
	master := i.Slots.New()
	slave = i.Slots.New()
	open := step(stage, "openat", unix.SYS_OPENAT, ptmx, steps.Int(unix.AT_FDCWD), i.Str(ptmx), steps.Int(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC))
	open.Save = master
	peer := step(stage, "ioctl", unix.SYS_IOCTL, "TIOCGPTPEER", steps.From(master), steps.Int(unix.TIOCGPTPEER), steps.Int(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC))
	peer.Save = slave
	i.Add(open,
		step(stage, "ioctl", unix.SYS_IOCTL, "TIOCSPTLCK", steps.From(master), steps.Int(unix.TIOCSPTLCK), steps.Value(i, int32(0))),
		peer,
		step(stage, "ioctl", unix.SYS_IOCTL, "TIOCSCTTY", steps.From(slave), steps.Int(unix.TIOCSCTTY), steps.Int(0)),
		i.Hand(0, master))
	return slave
}

// execStep is one attempt of execvp(3). A path that does not exist leads to the next attempt;
// EACCES does too, and is noted.
func execStep(path string, name, argv, envp steps.Arg) steps.Step {
	s := steps.Step{Stage: "exec", Call: "execve", Nr: unix.SYS_EXECVE, Object: path, Args: [6]steps.Arg{name, argv, envp}}
	s.Ignore, s.Tolerate = []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.ENAMETOOLONG}, []syscall.Errno{syscall.EACCES}
	return s
}

// candidates returns the paths that execvp(3) tries for a name, in the command's own PATH.
// Relative entries are left out: a program that the command put into its working directory
// must not take the place of another one.
func candidates(name string, env []string) []string {
	if strings.Contains(name, "/") || name == "" {
		return []string{name}
	}
	var paths []string
	for _, entry := range env {
		value, ok := strings.CutPrefix(entry, "PATH=")
		for dir := range strings.SplitSeq(value, ":") {
			if ok && strings.HasPrefix(dir, "/") {
				paths = append(paths, dir+"/"+name)
			}
		}
	}
	if len(paths) == 0 {
		return []string{"/usr/bin/" + name}
	}
	return paths
}

// CommandRefusal returns the refusal for a session's command that did not start.
func CommandRefusal(err error, c Command) error {
	if r := (*plan.Refusal)(nil); errors.As(err, &r) {
		return r
	}
	var fault *steps.StepError
	if errors.As(err, &fault) && fault.Step.Stage == directoryStage {
		return plan.Refuse(plan.CodeSetup, "use a directory that the session sees: ethos-sandbox session show", "directory %s: %w", filepath.Clean(c.Dir), fault.Errno)
	}
	return StepRefusal(err, c.Argv)
}
