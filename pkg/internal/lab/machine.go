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

// processor is a simple one, because what TCG need not emulate costs nothing. A guest has one CPU:
// with two they would wait for each other if guests outnumber the host's CPUs. Several guests use
// several CPUs.
var processor = []string{"-cpu", "qemu64", "-smp", "1"}

// commandLine is the kernel command line of every guest. The disabled features cost time and are
// not needed here: mitigations are for hardware defects, init_on_alloc is for the kernel's own, and
// with random addresses TCG would translate every program again at each start. Grace periods of the
// kernel are kept as short as possible.
const commandLine = "console=ttyS0 quiet panic=-1 tsc=reliable mitigations=off init_on_alloc=0 psi=0 rcupdate.rcu_expedited=1 nokaslr norandmaps rdinit=/lab/init"

// Run boots the machine, with a directory for its files, and returns its init's tally. The kernel's
// messages are in dir/console. The output of the cases is in dir/results, from the guest's second
// serial line, so that no kernel message can interrupt it.
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

// alone runs the machine so that it does not outlive this process.
func alone(cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread() // the signal of dieWithParent is sent when the thread that started the machine ends
	defer runtime.UnlockOSThread()
	dieWithParent(cmd)
	return cmd.CombinedOutput()
}

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
	_, err = m.Archive.WriteTo(file) // uncompressed: TCG would need seconds to unpack it
	return name, errors.Join(err, file.Close())
}
