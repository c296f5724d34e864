package lab

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Machine is one guest to boot.
type Machine struct {
	Kernel  Kernel
	Append  string // more kernel command line
	Archive *Archive
	Plan    Plan
	Memory  int // MiB
	Timeout time.Duration
}

// Run boots the machine in a directory for its files and returns what its init counted. The console's text is in dir/console.
func (m Machine) Run(ctx context.Context, dir string) (Tally, error) {
	initrd, err := m.initrd(dir)
	if err != nil {
		return Tally{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", fmt.Sprint(m.Memory),
		"-nographic", "-no-reboot", "-nic", "none", "-kernel", m.Kernel.Image, "-initrd", initrd,
		"-append", strings.TrimSpace("console=ttyS0 quiet panic=-1 rdinit=/lab/init "+m.Append))
	console, err := stream(cmd, filepath.Join(dir, "console"))
	if err != nil {
		return Tally{}, fmt.Errorf("qemu-system-x86_64: %w (%v): %s", err, ctx.Err(), tail(console, 2000))
	}
	tally, err := ReadTally(bytes.NewReader(console), m.Plan)
	if err != nil {
		return tally, fmt.Errorf("%w; the console ends with:\n%s", err, tail(console, 2000))
	}
	return tally, nil
}

// stream runs the machine with its console in a file, where it can be read while the guest runs, and returns what is in it at the end.
// The machine does not outlive this process.
func stream(cmd *exec.Cmd, name string) ([]byte, error) {
	console, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer console.Close()
	cmd.Stdout, cmd.Stderr = console, console
	runtime.LockOSThread() // the signal of dieWithParent comes when the thread that started the machine ends
	defer runtime.UnlockOSThread()
	dieWithParent(cmd)
	err = cmd.Run()
	text, readErr := os.ReadFile(name)
	return text, errors.Join(err, readErr)
}

func (m Machine) initrd(dir string) (string, error) {
	plan, err := json.Marshal(m.Plan)
	if err != nil {
		return "", err
	}
	m.Archive.File(PlanFile, 0o644, plan)
	name := filepath.Join(dir, "initrd.gz")
	file, err := os.Create(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	packed, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		return "", err
	}
	if _, err := m.Archive.WriteTo(packed); err != nil {
		return "", fmt.Errorf("write the initial RAM file system: %w", err)
	}
	if err := packed.Close(); err != nil {
		return "", err
	}
	return name, file.Close()
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
