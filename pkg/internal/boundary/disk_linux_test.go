package boundary

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// disk is a file system that cannot be written to when a command has ended, and what becomes of what it left.
type disk struct {
	before, gone string // scripts that make it so: before the run, and when the command has left what it leaves
	inForce      bool   // nothing can be done about it until there is room again
	says         string // on standard error
}

// The scripts have a writable directory in D, on a file system of its own, and the state folder in XDG_STATE_HOME.
var disks = map[string]disk{
	"as ever":             {says: "; the rest of the file stays"},
	"read-only":           {gone: `mount -o remount,bind,ro "$D"`, inForce: true, says: "still in force"},
	"full":                {gone: `i=0; while touch "$D/f$i"; do i=$((i + 1)); done 2>/dev/null`},
	"full of data":        {gone: `dd if=/dev/zero of="$D/f" bs=64k 2>/dev/null || :`},
	"state read-only":     {before: `mount --bind "$XDG_STATE_HOME" "$XDG_STATE_HOME"; mount -o remount,bind,ro "$XDG_STATE_HOME"`, says: "; the rest of the file stays"},
	"state without room":  {before: `mount -t tmpfs -o nr_inodes=1 tmpfs "$XDG_STATE_HOME"`, says: "; the rest of the file stays"},
	"state is full later": {before: `mount -t tmpfs -o size=256k tmpfs "$XDG_STATE_HOME"`, gone: `dd if=/dev/zero of="$XDG_STATE_HOME/f" bs=64k 2>/dev/null || :`, says: "; the rest of the file stays"},
}

// TestDisk: where nothing can be written when the command has ended, what it left is out of force all the same, or it
// is said that it is not, and where it is; the next run that can puts it aside. Nothing is lost.
func TestDisk(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:git", "command:mount")
	for name, d := range disks {
		t.Run(name, func(t *testing.T) { d.try(t) })
	}
}

func (d disk) try(t *testing.T) {
	dir := space(t)
	base := filepath.Dir(dir)
	evidence := filepath.Join(base, "evidence")
	cmd := sandboxed(t, dir)
	script := `
mount --make-rprivate /
mkdir "$D"
mount -t tmpfs -o size=1m,nr_inodes=200,mode=755 tmpfs "$D"
git init -q "$D/own"
git -C "$D/own" config core.editor ./mine
mkfifo begun end
exec 3<>begun 4<>end
` + d.before + `
"$SANDBOX" run --timeout 60s --rw "$D" --evidence "$EVIDENCE" -- sh -c '
	cd "$1"; git init -q --template= n; git -C n config core.fsmonitor ./evil; git -C n config core.editor ./theirs
	echo x > "$2/begun"; read x < "$2/end"; exit 7' sh "$D" "$PWD" 3>&- 4>&- &
read -r x <&3
` + d.gone + `
echo x >&4
status=0; wait $! || status=$?
echo "status $status"
cat "$D"/n/.git/config* "$D"/.coding-ethos/quarantine/*/n/.git.quarantined/* > "$LEFT" 2>/dev/null || :
! git -C "$D/n" config core.fsmonitor || echo in force
mount -o remount,bind,rw "$D"
rm -f "$D"/f*
git init -q "$D/mine" # by the person
git -C "$D/mine" config core.editor ./later
echo again >&2
"$SANDBOX" run -- true
! git -C "$D/n" config core.fsmonitor || echo in force at last
cat "$D/own/.git/config" "$D/mine/.git/config" | grep editor
`
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-ec", script}
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(base, "left")
	cmd.Env = append(cmd.Env, "D="+base+"/d", "SANDBOX="+exe, "EVIDENCE="+evidence, "LEFT="+left, "XDG_STATE_HOME="+base+"/state", "GIT_CONFIG_NOSYSTEM=1")
	if err := os.Mkdir(base+"/state", 0o700); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, told, err := outputs(cmd)
	first, again, _ := strings.Cut(told, "again\n")
	if err != nil || strings.Contains(told, "panic") {
		t.Fatalf("%v\n%s%s", err, out, told)
	}
	want := "status 7\n\teditor = ./mine\n\teditor = ./later\n"
	if d.inForce {
		want = "status 7\n./evil\nin force\n\teditor = ./mine\n\teditor = ./later\n"
	}
	if out != want {
		t.Errorf("%q, not %q\n%s", out, want, told)
	}
	if !strings.Contains(first, base+"/d/n/.git/config") || !strings.Contains(first, d.says) {
		t.Errorf("it does not say %q: %s", d.says, first)
	}
	if d.inForce != strings.Contains(again, "left by an earlier run: ") || d.inForce != strings.Contains(again, base+"/d/n/.git/config") {
		t.Errorf("the next run says %q", again)
	}
	if text, err := os.ReadFile(left); err != nil || !strings.Contains(string(text), "./theirs") {
		t.Errorf("what was there is lost: %q %v", text, err)
	}
	d.told(t, evidence, base+"/d/n/.git/config")
}

// told is what the evidence says.
func (d disk) told(t *testing.T, file, path string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var result record.Result
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	denials := result.Capture.Sandbox.Denials
	i := slices.IndexFunc(denials, func(e record.Denial) bool { return e.Layer == sandbox.ControlGit && e.Path == path })
	if i < 0 {
		t.Fatalf("the evidence says nothing of it: %+v", denials)
	}
	if inForce := strings.Contains(denials[i].Reason, "still in force"); inForce != d.inForce || inForce != (denials[i].Kept == "") {
		t.Errorf("the evidence: %+v", denials[i])
	}
}

// outputs runs a command, for a minute or two at most.
func outputs(cmd *exec.Cmd) (stdout, stderr string, err error) {
	var out, told strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &told, time.Second
	if err := cmd.Start(); err != nil {
		return "", "", err
	}
	late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	err = cmd.Wait()
	return out.String(), told.String(), err
}
