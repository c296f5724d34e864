package boundary

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestFull: where a file system has no room, nothing runs that needs it, and the message names the place and what shows it. The twin has room.
func TestFull(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for name, c := range map[string]struct {
		full  string // below the directory of the test
		flags []string
	}{
		"directory of ethos": {full: "/.coding-ethos"},
		"evidence":           {full: "/e", flags: []string{"--evidence", "e/result"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := space(t)
			args := append(append([]string{"run"}, c.flags...), "--", "touch", "marker")
			cmd := lacking(t, dir, []string{"full:" + dir + c.full}, args...)
			refuses(t, cmd, "no space left on device")
			said := cmd.Stderr.(*bytes.Buffer).String()
			if want := "the file system that holds " + dir + c.full + " is full (df " + dir + c.full; !strings.Contains(said, want) {
				t.Errorf("it does not say %q: %s", want, said)
			}
			if _, err := os.Lstat(filepath.Join(dir, "marker")); err == nil {
				t.Error("the command ran")
			}
			if out, err := sandboxed(t, dir, args...).CombinedOutput(); err != nil {
				t.Errorf("with room: %v: %s", err, out)
			}
		})
	}
}
