package boundary

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/faultinject"
	"ethos/pkg/record"
)

// faults is a helper, and the directory in which it runs the program again and
// again.
type faults struct {
	*faultinject.Helper
	faultRoles
	faultCase
	base, mark string
	normal     faultResult // without a fault
	files      []string
	mounts     string
	tried      map[string]*outcomes // by part
	missed     int
}

// faultResult is what a run came to.
type faultResult struct {
	faultReport
	calls      []faultinject.Call // that were counted
	met        bool               // the call that was to fail was made
	late       bool               // an init was cloned by the Go program
	began      bool               // the command was executed
	found      string             // what it found of its boundary
	unfinished string             // what it had found of it when it ended early
	// controls are those of the evidence, with their states.
	controls []string
}

// startFaults prepares a directory that belongs to the user, and starts a helper.
func startFaults(t *testing.T, c faultCase, user *syscall.Credential) *faults {
	t.Helper()
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp("", "ethos-faults-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	base, err = filepath.EvalSymlinks(base)
	err = errors.Join(err, os.Chmod(base, 0o755))
	for _, name := range []string{"w", "home", "out", "tmp"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(base, name), 0o755))
	}
	for _, name := range []string{"w/denied", "home/private", "out/kept"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(base, name), []byte("a secret\n"), 0o644))
	}
	if user != nil {
		err = errors.Join(err, filepath.WalkDir(base, func(name string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(name, int(user.Uid), int(user.Gid)))
		}))
	}
	f := &faults{faultCase: c, base: base, mark: "ETHOS_TEST_MARK=" + base, tried: map[string]*outcomes{}}
	text, err2 := json.Marshal(faultRun{
		Program: exe, Dir: filepath.Join(base, "w"),
		Args: []string{"run", "--net", c.network, "--evidence", filepath.Join(base, "evidence"), "--deny-read", filepath.Join(base, "w/denied"), "--", "sh", "-c", faultScript},
		Env:  []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(base, "home"), "TMPDIR=" + filepath.Join(base, "tmp"), "LANG=C.UTF-8", "SHELL=/bin/sh", f.mark},
	})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	f.Helper = faultinject.Start(t, &f.faultRoles, "TestPreforkFaults", faultHelper+"="+string(text), user)
	return f
}

// faultScript writes what a command finds of its boundary into the work space.
const faultScript = `echo begun >begun; exec >finding 2>&1
` + state + `
cat denied ../home/private ../out/kept; for f in denied ../out/new ../home/new /etc/ethos-test; do echo x >$f; done; mkdir /usr/ethos-test
cut -d : -f 1 /proc/net/dev; unshare -U true; mount -t tmpfs none /tmp; ls -a / .. ../home
for n in user mnt pid ipc uts net cgroup; do readlink /proc/self/ns/$n; done >namespaces
mv finding found; exit 7`

// run runs the program once, while one call fails.
func (f *faults) run(t *testing.T, call faultinject.Call, errno syscall.Errno) (r faultResult) {
	t.Helper()
	r.calls, r.met = f.Run(t, call, errno, &r.faultReport)
	r.late = f.late != 0
	r.controls = f.evidence(t)
	text, _ := os.ReadFile(filepath.Join(f.base, "w/found"))
	namespaces, _ := os.ReadFile(filepath.Join(f.base, "w/namespaces"))
	finding, _ := os.ReadFile(filepath.Join(f.base, "w/finding"))
	r.unfinished = string(finding)
	_, err := os.Stat(filepath.Join(f.base, "w/begun"))
	r.found, r.began = steady(string(text)), err == nil
	for _, name := range []string{"begun", "finding", "found", "namespaces"} {
		os.Remove(filepath.Join(f.base, "w", name)) // it may not be there
	}
	lines := strings.Fields(string(namespaces))
	for i, name := range []string{"user", "mnt", "pid", "ipc", "uts", "net", "cgroup"} {
		ours, err := os.Readlink("/proc/self/ns/" + name)
		own := err == nil && i < len(lines) && lines[i] != ours && strings.HasPrefix(lines[i], name+":[")
		if r.found != "" && own != (name != "net" || f.network == "none") {
			t.Errorf("%v = %v: the %s namespace of the command, whose caller has %s: %q", call, errno, name, ours, lines)
		}
	}
	return r
}

// evidence returns the controls of the evidence, and takes that away.
func (f *faults) evidence(t *testing.T) (list []string) {
	t.Helper()
	name := filepath.Join(f.base, "evidence")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil // there is none of a run that was refused
	}
	var result record.Result
	if err := errors.Join(json.Unmarshal(text, &result), os.Remove(name)); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, c := range result.Capture.Sandbox.Controls {
		list = append(list, fmt.Sprintf("%s: %s %s", c.Name, c.State, c.Reason))
	}
	return list
}

// tree lists the files in the directory.
func (f *faults) tree(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(f.base, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.IsDir() {
			files = append(files, fmt.Sprintf("%s %s", info.Mode(), name))
		} else if err == nil {
			files = append(files, fmt.Sprintf("%s %s %d", info.Mode(), name, info.Size()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// mounts are those of this process, to which those of a run do not belong.
func mounts(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
