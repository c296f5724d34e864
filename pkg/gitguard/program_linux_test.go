package gitguard

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestProgramWithoutProc: in a container with a covered /proc there is no
// /proc/self inside of a boundary.
func TestProgramWithoutProc(t *testing.T) {
	if os.Getenv("ETHOS_TEST_NO_PROC") != "" {
		fmt.Println(program())
		os.Exit(0)
	}
	probetest.Need(t, probetest.UserNS, "command:unshare", "command:mount")
	want, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{want, "./" + want[len("/"):]} { // as it is executed
		cmd := exec.Command("unshare", "-rm", "/bin/sh", "-c", `mount -t tmpfs none /proc && cd / && exec "$@"`, "sh", name, "-test.run=^TestProgramWithoutProc$")
		cmd.Env = append(os.Environ(), "ETHOS_TEST_NO_PROC=1")
		if out, err := cmd.Output(); err != nil || string(out) != want+" <nil>\n" {
			t.Errorf("%s: %v: %s, not %s", name, err, out, want)
		}
	}
}
