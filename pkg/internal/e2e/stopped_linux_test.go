package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// TestStoppedAsAWhole: a command that stops itself below an interactive shell, whose
// supervisor stops with it, leaves nothing that runs on. In the foreground again it
// goes on where it was.
func TestStoppedAsAWhole(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:bash")
	s := shellSession(t)
	s.env = append(s.env, "XDG_STATE_HOME="+t.TempDir(), "PS1=READY> ", "HISTFILE=")
	s.write("beat.sh", `setsid sh -c 'while :; do echo x >> beats; sleep 0.05; done' > /dev/null 2>&1 < /dev/null &
sleep 0.5
kill -TSTP $$
echo went on
sleep 0.3
exit 7
`)
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	master, slave := openTerminal(t)
	defer master.Close()
	cmd := exec.Command("bash", "--norc", "-i")
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	defer cmd.Wait()
	defer cmd.Process.Kill()
	master.SetReadDeadline(time.Now().Add(time.Minute))
	var screen bytes.Buffer
	seen := 0
	until := func(text string) {
		t.Helper()
		buffer := make([]byte, 4096)
		for {
			if at := strings.Index(screen.String()[seen:], text); at >= 0 {
				seen += at + len(text)
				return
			}
			n, err := master.Read(buffer)
			if screen.Write(buffer[:n]); err != nil {
				t.Fatalf("%q does not come: %v\n%s", text, err, screen.String())
			}
		}
	}
	say := func(line string) {
		if _, err := master.WriteString(line + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	beats := func() int { text, _ := os.ReadFile(s.path("beats")); return len(text) }
	until("READY> ")
	say(dir + "/ethos-sandbox run -- bash beat.sh")
	until("Stopped ")
	until("READY> ")
	first := beats()
	time.Sleep(500 * time.Millisecond)
	if second := beats(); first == 0 || second != first {
		t.Errorf("%d beats when it was stopped, and then %d", first, second)
	}
	say(`fg; echo "status=$?"`)
	until("went on")
	until(fmt.Sprint("status=", 7))
	if last := beats(); last <= first {
		t.Errorf("%d beats before it was stopped, and %d at the end", first, last)
	}
}
