package boundary

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// rounds is how often a test does what it does: a sample, or as often as a
// variable of the environment says.
func rounds(t *testing.T, variable string, sample int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return sample
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestSessionKilledAtRandom: whichever processes of a session are killed, at
// whatever moment of its start, its life and its end, nothing is left: no process,
// mount, socket or file. ETHOS_TEST_SESSION_KILLS says how often.
func TestSessionKilledAtRandom(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil { // what loses its parent becomes ours: nothing escapes the count
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
	l := &lodge{t, space(t)}
	l.must("run", "--", "true")
	files := tree(l.dir)
	for i := range rounds(t, "ETHOS_TEST_SESSION_KILLS", 8) {
		seed := uint64(time.Now().UnixNano())
		what := l.killSome(rand.New(rand.NewPCG(seed, 0)))
		l.alone(what)
		l.must("run", "--", "true") // what was left for git is judged when the next run begins
		l.empty(nil)
		if now := tree(l.dir); !slices.Equal(now, files) {
			t.Errorf("%s: of files there are %q, before %q", what, now, files)
		}
		if t.Failed() {
			t.Fatalf("round %d", i)
		}
	}
}

// killSome starts a command in a session that may be there already, kills some of
// all the processes at some moment, and ends what is left of the session. It says
// what it did.
func (l *lodge) killSome(chance *rand.Rand) string {
	l.t.Helper()
	if chance.IntN(2) == 0 {
		l.start()
	}
	client := sandboxed(l.t, l.dir, "run", "--session", "auto:w", "--", "sh", "-c", "sleep 1000 & setsid sleep 1000 & sleep 1000")
	client.Stdout, client.Stderr = io.Discard, io.Discard
	if err := client.Start(); err != nil {
		l.t.Fatal(err)
	}
	var ending *exec.Cmd
	moment := time.Duration(chance.IntN(80)) * time.Millisecond
	time.Sleep(moment)
	if chance.IntN(4) == 0 {
		ending = sandboxed(l.t, l.dir, "session", "end", "--all")
		if err := ending.Start(); err != nil {
			l.t.Fatal(err)
		}
		time.Sleep(time.Duration(chance.IntN(10)) * time.Millisecond)
	}
	all := below(os.Getpid())
	chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	victims := all[:1+chance.IntN(len(all))]
	what := fmt.Sprintf("after %v, of %d processes killed", moment, len(all))
	for _, pid := range victims {
		what += " " + strings.TrimSpace(string(readAllOf(fmt.Sprintf("/proc/%d/comm", pid))))
	}
	for _, pid := range victims {
		_ = syscall.Kill(pid, syscall.SIGKILL) // one may have taken another with it
	}
	if ending != nil {
		what += ", at its end"
		l.wait(ending)
	}
	over := make(chan error, 1)
	go func() { over <- client.Wait() }()
	l.until(what+": its client hangs", func() bool {
		_, _, _ = l.does("", "session", "end", "--all") // not one that is just being started
		select {
		case <-over:
			return true
		default:
			return false
		}
	})
	return what
}

// alone waits until this process has no children any more.
func (l *lodge) alone(what string) {
	l.t.Helper()
	l.until(what+": processes are left", func() bool {
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err == unix.ECHILD {
				return true
			}
			if pid <= 0 {
				return false
			}
		}
	})
}

// readAllOf is a file's content, or nothing.
func readAllOf(name string) []byte {
	text, _ := os.ReadFile(name)
	return text
}

// tree are the names below a directory, but for what ethos keeps in its own.
func tree(dir string) (names []string) {
	for _, name := range readDir(dir) {
		if name != ".coding-ethos" {
			names = append(append(names, name), readDir(dir+"/"+name)...)
		}
	}
	return names
}
