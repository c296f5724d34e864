package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Machine is one guest to boot.
type Machine struct {
	Kernel  Kernel
	Append  string // more kernel command line
	Archive *Archive
	Plan    Plan
	Memory  int // MiB
}

// processor is a plain one, and a guest has one of it: what TCG does not emulate costs nothing, and two would wait for each other where guests
// outnumber the machine's. Several guests use several.
var processor = []string{"-cpu", "qemu64", "-smp", "1"}

// commandLine is every guest's. What is off costs time and holds nothing here: mitigations are for a hardware's defects, init_on_alloc for the kernel's own, and
// with random addresses TCG would translate every program anew each time it starts. Nobody waits for a grace period of the kernel's longer than he must.
const commandLine = "console=ttyS0 quiet panic=-1 tsc=reliable mitigations=off init_on_alloc=0 psi=0 rcupdate.rcu_expedited=1 nokaslr norandmaps rdinit=/lab/init"

// Run boots the machine in a directory for its files and returns what its init counted. The kernel's messages are in dir/console, what the cases
// printed in dir/results, the guest's second serial line: nothing that the kernel says can stand in the middle of it.
func (m Machine) Run(ctx context.Context, dir string) (Tally, error) {
	initrd, err := m.initrd(dir)
	if err != nil {
		return Tally{}, err
	}
	defer os.Remove(initrd)
	console, results := filepath.Join(dir, "console"), filepath.Join(dir, "results")
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", slices.Concat([]string{"-accel", "tcg", "-m", fmt.Sprint(m.Memory)}, processor, []string{
		"-display", "none", "-monitor", "none", "-serial", "file:" + console, "-serial", "file:" + results, "-no-reboot", "-nic", "none",
		"-kernel", m.Kernel.Image, "-initrd", initrd, "-append", strings.TrimSpace(commandLine + " " + m.Append)})...)
	said, err := alone(cmd)
	text, readErr := os.ReadFile(results)
	if err := errors.Join(err, ctx.Err(), readErr); err != nil {
		return Tally{}, fmt.Errorf("qemu-system-x86_64: %w: %s\n%s", err, said, ends(console, results))
	}
	tally, err := ReadTally(bytes.NewReader(text), m.Plan)
	tally.Processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		return tally, fmt.Errorf("%w\n%s", err, ends(console, results))
	}
	return tally, nil
}

// alone runs the machine, which does not outlive this process.
func alone(cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread() // the signal of dieWithParent comes when the thread that started the machine ends
	defer runtime.UnlockOSThread()
	dieWithParent(cmd)
	return cmd.CombinedOutput()
}

// ends is the end of each file, for a message.
func ends(files ...string) string {
	var b strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		fmt.Fprintf(&b, "%s ends with (%v):\n%s\n", name, err, text[max(0, len(text)-2000):])
	}
	return b.String()
}

func (m Machine) initrd(dir string) (string, error) {
	plan, err := json.Marshal(m.Plan)
	if err != nil {
		return "", err
	}
	m.Archive.File(PlanFile, 0o644, plan)
	name := filepath.Join(dir, "initrd")
	file, err := os.Create(name)
	if err != nil {
		return "", err
	}
	_, err = m.Archive.WriteTo(file) // not compressed: TCG would take seconds to unpack it
	return name, errors.Join(err, file.Close())
}
