//go:build linux

// Command guest is the init of a lab guest. It turns the initial RAM file system into a root that
// pivot_root(2) accepts, mounts the usual file systems, runs the cases of its plan one after the
// other, prints the tally and powers off.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/lab"
)

func main() {
	if err := run(); err != nil {
		fmt.Println("lab guest:", err)
	}
	unix.Sync()
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func run() error {
	if err := os.Setenv("PATH", "/usr/bin"); err != nil {
		return err
	}
	for _, step := range []func() error{moveRoot, mountAll, loopbackUp} {
		if err := step(); err != nil {
			return err
		}
	}
	plan, err := readPlan()
	if err != nil {
		return err
	}
	if err := prepare(plan); err != nil {
		return err
	}
	out, err := os.OpenFile("/dev/ttyS1", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	passed, failed := 0, 0
	for _, c := range plan.Cases {
		fmt.Fprintln(out, lab.BeginMark(c.Name))
		began := time.Now()
		status := runCase(out, c)
		fmt.Fprintln(out, "\n"+lab.EndMark(c.Name, status, time.Since(began)))
		if status == c.Status {
			passed++
		} else {
			failed++
		}
	}
	fmt.Fprintln(out, lab.TallyMark(passed+failed, passed, failed))
	return nil
}

func readPlan() (plan lab.Plan, err error) {
	text, err := os.ReadFile(lab.PlanFile)
	if err != nil {
		return plan, err
	}
	return plan, json.Unmarshal(text, &plan)
}

// prepare loads modules, runs commands and sets sysctls.
func prepare(plan lab.Plan) error {
	for _, m := range plan.Modules {
		if err := load(m); err != nil {
			return fmt.Errorf("load module %s: %w", m.File, err)
		}
	}
	for _, argv := range plan.Prepare {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, out)
		}
	}
	for name, value := range plan.Sysctls {
		if err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0); err != nil {
			return err
		}
	}
	return nil
}

func load(m lab.Module) error {
	f, err := os.Open(m.File)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.FinitModule(int(f.Fd()), m.Parameters, 0)
}

func loopbackUp() error {
	out, err := exec.Command("/bin/busybox", "ip", "link", "set", "lo", "up").CombinedOutput()
	if err != nil {
		return fmt.Errorf("set lo up: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
