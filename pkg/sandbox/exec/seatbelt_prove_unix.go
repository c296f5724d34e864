//go:build unix

package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ethos/pkg/printable"
	"ethos/pkg/sandbox/plan"
)

// seatbeltScratch holds the private directory of a command and, beside it, files that the command
// must not reach.
type seatbeltScratch struct{ dir, inside, outside string }

// makeSeatbeltScratch makes the directories. They are removed when the run ends.
func makeSeatbeltScratch(p *plan.Plan) (s seatbeltScratch, err error) {
	within, err := filepath.EvalSymlinks(os.TempDir())
	if err == nil {
		s.dir, err = os.MkdirTemp(within, "ethos-seatbelt-")
	}
	if err != nil {
		return s, &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("private directory: %w", err), Hint: "set TMPDIR to a directory that you can write"}
	}
	s.inside, s.outside = filepath.Join(s.dir, "inside"), filepath.Join(s.dir, "outside")
	err = errors.Join(os.Mkdir(s.inside, 0o700), os.Mkdir(s.outside, 0o700))
	if err == nil {
		err = os.WriteFile(filepath.Join(s.outside, "secret"), []byte("secret\n"), 0o600)
	}
	if err == nil && plan.Covering(p.Paths, s.outside).Access != plan.Hidden {
		err = plan.Refuse(plan.CodeDeclaration, "set TMPDIR to a directory that the command cannot see", "the directory for temporary files, %s, lies in what the command can see", within)
	}
	if err != nil {
		s.remove()
	}
	return s, err
}

func (s *seatbeltScratch) remove() {
	if os.RemoveAll(s.dir) == nil {
		return
	}
	_ = filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error { // restores permissions that the command removed
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		if err != nil {
			return filepath.SkipDir
		}
		return nil
	})
	_ = os.RemoveAll(s.dir)
}

// probeScript tries to write and to read what is not granted, and to write what is. $1 is the
// private directory, $2 the one beside it. Its status says which attempt went wrong; only
// probeHeld says that none did.
const probeScript = `(: > "$2/made") 2>/dev/null && exit 10
(read -r line < "$2/secret") 2>/dev/null && exit 11
(: > "$1/made") 2>/dev/null || exit 12
exit 42`

const probeHeld = 42

// probeLimit bounds the probe.
const probeLimit = 30 * time.Second

// prove runs the probe under the profile, with the command's limits and environment, and looks from
// outside at what became of it. So a sandbox-exec that confines nothing, or does not accept the
// profile, ends the run before the command starts.
func (r *seatbeltRun) prove(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, probeLimit)
	defer stop()
	argv := r.launch(r.shell, "-c", probeScript, "sh", r.scratch.inside, r.scratch.outside)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = r.env, r.plan.Dir, time.Second
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return fmt.Errorf("probe: %w", err)
	}
	_, made := os.Lstat(filepath.Join(r.scratch.outside, "made"))
	_, own := os.Lstat(filepath.Join(r.scratch.inside, "made"))
	fault := ""
	switch status := cmd.ProcessState.ExitCode(); {
	case made == nil || status == 10:
		fault = "it could write a file that is not granted"
	case status == 11:
		fault = "it could read a file that is not granted"
	case own != nil || status == 12:
		fault = "it could not write to its private directory"
	case status != probeHeld:
		fault = "it did not run"
	}
	if fault != "" {
		return plan.Refuse(plan.CodeVerify, "ethos-sandbox plan --backend seatbelt shows the profile; please report it with the version of macOS",
			"a probe under the profile: %s: %s: %s", fault, cmd.ProcessState, printable.Sprintf("%.300s", strings.TrimSpace(string(said))))
	}
	r.verified = true
	return os.Remove(filepath.Join(r.scratch.inside, "made"))
}
