package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/plan"
)

// Users that nothing else on the machine has; they do not have to exist.
const (
	ownerID = 64017
	thirdID = 64018
)

// give makes a user the owner of a tree.
func give(t *testing.T, dir string, uid, gid int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error { return errors.Join(err, os.Lchown(path, uid, gid)) })
	if err != nil {
		t.Fatal(err)
	}
}

// owned is a script that root runs in a work space of somebody else, who lets nobody in, in a directory that is the owner's as well.
func owned(t *testing.T, text string) Spec {
	t.Helper()
	probetest.Need(t, probetest.UserNS, probetest.Root) // it makes files of other users
	spec := repository(t, text)
	home := filepath.Join(filepath.Dir(spec.Workspace), "owner")
	w := filepath.Join(home, "w")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Rename(spec.Workspace, w), os.Chmod(w, 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"file": "text\n", "dir/file": "deep\n", "sealed": "sealed\n"} {
		write(t, filepath.Join(w, name), text)
	}
	give(t, home, ownerID, ownerID)
	if err := errors.Join(os.Chmod(filepath.Join(w, "dir"), 0o700), os.Chmod(filepath.Join(w, "file"), 0o600), os.Chmod(filepath.Join(w, "sealed"), 0o400)); err != nil {
		t.Fatal(err)
	}
	spec.Workspace, spec.Dir = w, w
	return spec
}

// ids are who owns a path.
func ids(t *testing.T, path string) (uid, gid int) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	return int(st.Uid), int(st.Gid)
}

// TestOwner: root does in the work space of somebody else what it does there outside, and what it makes is root's.
func TestOwner(t *testing.T) {
	spec := owned(t, `set -e
		cat file dir/file; echo more >> file; echo more >> dir/file; echo over > sealed; echo new > dir/new; mkdir -p made/below
		mv dir/file dir/moved; rm -r .git/hooks 2>/dev/null || true; chmod 640 file; touch -d @1000000000 file; ln sealed hard; rm sealed
		echo given > given; chown $OWNER:$OWNER given; chown 0:0 made; stat -c %u file; sh -c 'id -u; cp -a file copy'`)
	spec.Argv[2] = "OWNER=" + strconv.Itoa(ownerID) + "\n" + spec.Argv[2]
	r := execute(t, spec)
	if want := "text\ndeep\n" + strconv.Itoa(ownerID) + "\n0\n"; r.err != nil || r.ExitCode != 0 || r.Stdout.Text != want {
		t.Fatalf("%v %d %q\n%s", r.err, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
	}
	for name, want := range map[string]int{"file": ownerID, "dir/moved": ownerID, "hard": ownerID, "given": ownerID, "copy": ownerID, "dir/new": 0, "made": 0, "made/below": 0} {
		if uid, gid := ids(t, filepath.Join(spec.Workspace, name)); uid != want || gid != want {
			t.Errorf("%s belongs to %d:%d, not %d", name, uid, gid, want)
		}
	}
	for name, want := range map[string]string{"userns": "a user namespace of its own that has user 64017 too", "privileges": "CAP_CHOWN, CAP_DAC_OVERRIDE and CAP_FOWNER over files of user 64017, no_new_privs"} {
		if line := line(r.Evidence, name); line.State != control.Enforced || line.Requested != want {
			t.Errorf("%s: %+v", name, line)
		}
	}
}

// TestOwnerAttacks: what the command can do to the owner's files opens nothing else, neither files of others nor another user, nor what is hidden or protected.
func TestOwnerAttacks(t *testing.T) {
	spec := owned(t, "")
	base := filepath.Dir(filepath.Dir(spec.Workspace))
	shown, beside, third := filepath.Join(base, "shown"), filepath.Join(base, "beside"), filepath.Join(spec.Workspace, "third")
	for _, dir := range []string{shown, beside, third, filepath.Join(third, "closed")} {
		write(t, filepath.Join(dir, "secret"), "secret\n")
	}
	write(t, filepath.Join(spec.Workspace, ".env"), "KEY=1\n")
	write(t, filepath.Join(spec.Workspace, "group"), "group\n")
	write(t, filepath.Join(spec.Workspace, "denied"), "denied\n")
	give(t, shown, ownerID, ownerID)
	give(t, beside, ownerID, ownerID)
	give(t, third, thirdID, thirdID)
	err := errors.Join(os.Lchown(filepath.Join(spec.Workspace, "group"), ownerID, thirdID), os.Lchown(filepath.Join(spec.Workspace, ".env"), ownerID, ownerID), os.Chmod(filepath.Join(spec.Workspace, "group"), 0o600),
		os.Chmod(filepath.Join(shown, "secret"), 0o600), os.Chmod(filepath.Join(third, "secret"), 0o600), os.Chmod(filepath.Join(third, "closed"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	spec.ReadPaths, spec.DenyReadPaths = []string{shown}, []string{filepath.Join(spec.Workspace, "denied")}
	for _, c := range []struct{ attack, met, twin string }{
		{"cat third/secret", "Permission denied", "ls third"},
		{"echo x > third/secret", "ermission denied", "echo x > mine"},
		{"echo x > third/made", "ermission denied", "echo x > dir/made"},
		{"ls third/closed", "Permission denied", "ls dir"},
		{"chmod 777 third", "Operation not permitted", "chmod 755 dir"},
		{"chown 0 third/secret", "Operation not permitted", "chown 0 dir/file && chown 64017 dir/file"},
		{"chown 64018 file", "Invalid argument", "chgrp 64017 file"},
		{"chmod u+s file", "Operation not permitted", "chmod u+x file"},
		{"chmod g+xs file", "Operation not permitted", "chmod g+x file"},
		{"cp /bin/true sg; chmod 2755 sg", "Operation not permitted", "cp /bin/true sg; chmod 755 sg"},
		{"mkdir dir/sg; chmod g+s dir/sg", "Operation not permitted", "mkdir dir/plain"},
		{"cat group", "Permission denied", "cat file"},
		{"echo x > " + shown + "/secret", "ead-only file system", "cat " + shown + "/secret"},
		{"chown 0 " + shown + "/secret", "ead-only file system", "ls -l " + shown},
		{"cat " + beside + "/secret", "No such file", "true"},
		{"cat .env", "Permission denied", "echo x > .envrc"},
		{"cat denied", "Permission denied", "cat file"},
		{"echo x > .git/hooks/pre-commit", "", "echo x > .git/description"},
		{"echo x > /etc/made", "ead-only file system", "echo x > /tmp/made"},
		{"setpriv --reuid 64017 --keep-groups true", "Operation not permitted", "setpriv --reuid 0 --keep-groups true"},
		{"setpriv --inh-caps +sys_admin true", "", "setpriv --inh-caps -chown true"},
		{"mount -t tmpfs none dir", "", "true"},
	} {
		one := spec
		one.Argv = []string{"sh", "-c", "(" + c.attack + ") 2>&1 && echo 'the attack passed'; (" + c.twin + ") >/dev/null && echo 'the twin passed'"}
		r := execute(t, one)
		if r.err != nil || strings.Contains(r.Stdout.Text, "the attack passed") || !strings.Contains(r.Stdout.Text, c.met) || !strings.Contains(r.Stdout.Text, "the twin passed") {
			t.Errorf("%s: %v\n%s%s", c.attack, r.err, r.Stdout.Text, r.Stderr.Text)
		}
	}
}

// TestOwnerMaps: what the kernel does not map does not run, and says which.
func TestOwnerMaps(t *testing.T) {
	p := mustBuild(t, owned(t, "echo ran"))
	for id, refused := range map[uint32]bool{thirdID: false, 1<<32 - 1: true} {
		other, owner := *p, *p.Owner
		owner.GIDs = append(slices.Clone(owner.GIDs), id)
		other.Owner = &owner
		_, got, err := RunCaptured(t.Context(), &other, nil)
		if refused && (err == nil || got.Stdout.Text != "" || !strings.Contains(err.Error(), "gid_map")) || !refused && (err != nil || got.Stdout.Text != "ran\n") {
			t.Errorf("%d: %v %q", id, err, got.Stdout.Text)
		}
	}
}

// TestOwnerGit: git enters the repository of somebody else inside where it does outside, and says the same where it does not.
func TestOwnerGit(t *testing.T) {
	for _, c := range []struct {
		name, config string
		environ      []string
		enters       bool
	}{
		{"nothing is said", "", nil, false},
		{"safe.directory", "[safe]\n\tdirectory = *\n", nil, true},
		{"sudo", "", []string{"SUDO_UID=" + strconv.Itoa(ownerID)}, true},
		{"sudo by another", "", []string{"SUDO_UID=" + strconv.Itoa(thirdID)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := owned(t, "git status --short")
			spec.Environ = append(spec.Environ, c.environ...)
			write(t, filepath.Join(plan.Lookup(spec.Environ, "HOME"), ".gitconfig"), c.config)
			outside := exec.Command("git", "status", "--short")
			outside.Dir, outside.Env = spec.Workspace, spec.Environ
			said, err := outside.CombinedOutput()
			r := execute(t, spec)
			if r.err != nil || (r.ExitCode == 0) != (err == nil) || (err == nil) != c.enters || r.Stdout.Text+r.Stderr.Text != string(said) {
				t.Errorf("outside %v\n%s\ninside %v %d\n%s%s", err, said, r.err, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
			}
		})
	}
}

// TestOwnerSession: the same for the commands of a session, and one that does with less.
func TestOwnerSession(t *testing.T) {
	probetest.Need(t, probetest.UserNS, probetest.Root)
	s, p := session(t, func(spec *Spec) {
		write(t, filepath.Join(spec.Workspace, "d/file"), "text\n")
		give(t, spec.Workspace, ownerID, ownerID)
		if err := os.Chmod(spec.Workspace, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	status, said, err := say(t, s, p, "cat d/file; echo more >> d/file; echo new > d/new; chmod u+s d/new || echo refused")
	if err != nil || status != 0 || !strings.HasPrefix(said, "text\n") || !strings.HasSuffix(said, "refused\n") {
		t.Errorf("%v %v %q", err, status, said)
	}
	if uid, _ := ids(t, filepath.Join(p.Workspace, "d/file")); uid != ownerID {
		t.Errorf("the file belongs to %d", uid)
	}
}

// TestOwnerView: what a view is applied as has the owner that it had.
func TestOwnerView(t *testing.T) {
	probetest.Need(t, probetest.UserNS, probetest.Root)
	needUpper(t)
	spec := owned(t, "echo more >> file; echo new > dir/new; rm dir/file")
	v, changes, r := kept(t, spec)
	if r.ExitCode != 0 {
		t.Fatalf("%d %s", r.ExitCode, r.Stderr.Text)
	}
	if text, err := os.ReadFile(filepath.Join(spec.Workspace, "file")); err != nil || string(text) != "text\n" {
		t.Errorf("before it is applied: %q %v", text, err)
	}
	if result := ApplyView(t.Context(), v, environ(spec), changes); len(result.Left) > 0 {
		t.Fatalf("%+v", result.Left)
	}
	if text, err := os.ReadFile(filepath.Join(spec.Workspace, "file")); err != nil || string(text) != "text\nmore\n" {
		t.Errorf("applied: %q %v", text, err)
	}
	for name, want := range map[string]int{"file": ownerID, "dir/new": 0, "dir": ownerID} {
		if uid, _ := ids(t, filepath.Join(spec.Workspace, name)); uid != want {
			t.Errorf("%s belongs to %d, not %d", name, uid, want)
		}
	}
}

// TestOwnerKilled: what stands in the owner's directories while root runs there goes with the run, also when that is killed.
func TestOwnerKilled(t *testing.T) {
	spec := owned(t, "")
	killedAtAnyMoment(t, spec)
}

// TestOwnerNotHad: where root may not do outside what the command is to do, the plan has no owner, and it says what to do.
func TestOwnerNotHad(t *testing.T) {
	spec := owned(t, "true")
	for _, text := range []string{"CapEff:\t0000000000000000\n", "CapEff:\t000001ffffffff3f\n", ""} {
		p, err := Build(spec, machineFiles{files: map[string]string{"/proc/thread-self/status": text}}, 0)
		if err != nil || p.Owner != nil {
			t.Fatalf("%q: %v %+v", text, err, p)
		}
		if _, _, err := RunCaptured(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "root cannot write to") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestOwnerHome: the owner's home directory is as closed as one's own: it is no work space, credentials in it are hidden, and what ethos of the owner keeps.
func TestOwnerHome(t *testing.T) {
	spec := owned(t, "(cat ../.ssh/id_rsa) 2>&1 && echo 'the attack passed'; cat ../notes; echo more >> file && tail -n 1 file")
	home := filepath.Dir(spec.Workspace)
	for _, name := range []string{".ssh/id_rsa", "notes", ".bashrc"} {
		write(t, filepath.Join(home, name), name+"\n")
	}
	write(t, filepath.Join(home, ".local/state/ethos/trust/x"), "x\n")
	give(t, home, ownerID, ownerID)
	files := machineFiles{files: map[string]string{"/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nowner:x:" + strconv.Itoa(ownerID) + ":0::" + home + ":/bin/sh\n"}}
	for name, c := range map[string]struct {
		change func(*Spec)
		met    string
	}{
		"work space":    {func(s *Spec) { s.Workspace, s.Dir = home, home }, "contains the home directory of user 64017"},
		"the one above": {func(s *Spec) { s.WritePaths = []string{filepath.Dir(home)} }, "contains the home directory"},
		"state folder":  {func(s *Spec) { s.WritePaths = []string{filepath.Join(home, ".local/state/ethos/trust")} }, "state folder"},
	} {
		one := spec
		c.change(&one)
		if _, err := Build(one, files, 0); err == nil || !strings.Contains(err.Error(), c.met) {
			t.Errorf("%s: %v", name, err)
		}
	}
	spec.ReadPaths = []string{home}
	p, err := Build(spec, files, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := RunCaptured(t.Context(), p, nil)
	if text := got.Stdout.Text; err != nil || strings.Contains(text, "the attack passed") || !strings.Contains(text, "Permission denied") || !strings.HasSuffix(text, "notes\nmore\n") {
		t.Errorf("%v %q %q", err, text, got.Stderr.Text)
	}
}

// TestOwnerStateFolder: root's state folder is in nobody else's hands, or nothing runs; what the hint says runs.
func TestOwnerStateFolder(t *testing.T) {
	spec := owned(t, "cat file")
	home := filepath.Dir(spec.Workspace)
	base := filepath.Dir(home)
	for _, dir := range []string{home + "/roots", base + "/open", base + "/open/roots", base + "/sticky", base + "/sticky/roots", base + "/root"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(home, "link")
	err := errors.Join(os.Chmod(base+"/open", 0o775), os.Chmod(base+"/sticky", 0o777|os.ModeSticky), os.Symlink(base+"/root", link), os.Lchown(link, ownerID, ownerID), os.Symlink(base+"/root", base+"/sticky/link"), os.Lchown(base+"/sticky/link", ownerID, ownerID))
	if err != nil {
		t.Fatal(err)
	}
	passwd := func(home string) machineFiles {
		return machineFiles{files: map[string]string{"/etc/passwd": "root:x:0:0:root:" + home + ":/bin/sh\n"}}
	}
	with := func(variable string) Spec {
		one := spec
		one.Environ = append(slices.Clone(spec.Environ), variable)
		return one
	}
	for _, c := range []struct{ variable, met string }{
		{"HOME=" + home, home + " belongs to user 64017"},
		{"HOME=" + home + "/roots", home + " belongs to user 64017"},
		{"HOME=" + link, "belongs to user 64017"},
		{"HOME=" + base + "/sticky/link", base + "/sticky/link belongs to user 64017"},
		{"HOME=" + base + "/open/roots", "others can write to " + base + "/open"},
		{"XDG_STATE_HOME=" + home + "/none/yet", home + " belongs to user 64017"},
		{"XDG_STATE_HOME=" + base + "/sticky/none/yet", "others can write to " + base + "/sticky"},
	} {
		one := with(c.variable)
		_, err := Build(one, passwd(base+"/root"), 0)
		var r *plan.Refusal
		if !errors.As(err, &r) || !strings.Contains(err.Error(), c.met) {
			t.Errorf("%s: %v", c.variable, err)
			continue
		}
		said, ok := strings.CutPrefix(r.Hint, "set ")
		if !ok || said != "XDG_STATE_HOME="+base+"/root/.local/state" {
			t.Errorf("%s: %q", c.variable, r.Hint)
			continue
		}
		one.Environ = append(one.Environ, said)
		if r := execute(t, one); r.err != nil || r.Stdout.Text != "text\n" {
			t.Errorf("%s: %v %q %s", said, r.err, r.Stdout.Text, r.Stderr.Text)
		}
		_, err = Build(with(c.variable), passwd(home), 0)
		if !errors.As(err, &r) || strings.Contains(r.Hint, "=") {
			t.Errorf("it names a directory that is not root's alone: %v %q", err, r.Hint)
		}
	}
	for _, variable := range []string{"XDG_STATE_HOME=" + base + "/sticky/roots", "XDG_STATE_HOME=" + base + "/none/yet"} {
		if r := execute(t, with(variable)); r.err != nil || r.Stdout.Text != "text\n" {
			t.Errorf("%s: %v %s", variable, r.err, r.Stderr.Text)
		}
	}
}

// TestOwnerDatagrams: a third user's datagram socket, in a directory that nobody else enters, is sent nothing; the command's own are.
func TestOwnerDatagrams(t *testing.T) {
	probetest.Need(t, "command:python3")
	spec := owned(t, "")
	third := filepath.Join(spec.Workspace, "third")
	if err := os.Mkdir(third, 0o700); err != nil {
		t.Fatal(err)
	}
	spec.Argv = []string{"python3", "-c", `
import socket, time
def attempt(name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        s.connect(name); s.send(b"word"); return "sent"
    except OSError as e: return "refused"
own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); own.bind("dir/own"); own.settimeout(5)
open("ready", "x").close()
for _ in range(500):
    try: open("go").close(); break
    except OSError: time.sleep(.01)
print(attempt("third/s"), attempt("dir/own"), own.recv(9).decode())`}
	got := make(chan string)
	go func() { // once it runs: what is there before is hidden
		for range 500 {
			if _, err := os.Lstat(filepath.Join(spec.Workspace, "ready")); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		dir, err := os.Open(third) // a socket's path has 108 bytes
		if err != nil {
			got <- err.Error()
			return
		}
		defer dir.Close()
		l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/s", Net: "unixgram"})
		if err != nil {
			got <- err.Error()
			return
		}
		defer l.Close()
		err = errors.Join(os.Chown(filepath.Join(third, "s"), thirdID, thirdID), os.Chmod(filepath.Join(third, "s"), 0o600), os.Chown(third, thirdID, thirdID), os.WriteFile(filepath.Join(spec.Workspace, "go"), nil, 0o644))
		l.SetReadDeadline(time.Now().Add(2 * time.Second))
		n, _, read := l.ReadFrom(make([]byte, 9))
		got <- fmt.Sprintln(err, n, errors.Is(read, os.ErrDeadlineExceeded))
	}()
	r := execute(t, spec)
	if r.err != nil || r.Stdout.Text != "refused sent word\n" {
		t.Errorf("%v %q %s", r.err, r.Stdout.Text, r.Stderr.Text)
	}
	if said := <-got; said != "<nil> 0 true\n" {
		t.Errorf("the third user's socket: %s", said)
	}
}

// machineFiles is the machine with some files of other content.
type machineFiles struct {
	HostFiles
	files map[string]string
}

func (f machineFiles) ReadFile(path string) ([]byte, error) {
	if text, ok := f.files[path]; ok {
		return []byte(text), nil
	}
	return f.HostFiles.ReadFile(path)
}
