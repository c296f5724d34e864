package boundary

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// typing is what every test here begins with.
func typing(t *testing.T) *typist {
	t.Helper()
	probetest.Need(t, probetest.UserNS, "command:bash")
	t.Parallel()
	return sitDown(t)
}

// ends waits for the prompt, and for the status of the last command.
func (k *typist) ends(status string) {
	k.t.Helper()
	k.hasTerminal() // what is typed before may be read by the command, or thrown away by it
	k.types("printf 'status-%s\\n' $?")
	k.sees("status-" + status + "\r\n")
	k.hasTerminal()
}

// TestKeys: the keys that send signals reach the command, and no one else: ethos-sandbox ends as the command does.
func TestKeys(t *testing.T) {
	for signal, key := range map[string]string{"INT": ctrlC, "QUIT": ctrlBackslash} {
		t.Run(signal, func(t *testing.T) {
			k := typing(t)
			k.types(`$box run -- sh -c 'trap "printf got-%s\\\\n ` + signal + `; exit 7" ` + signal + `; printf "rea%s\n" dy; while :; do sleep 0.05; done'`)
			k.sees("ready")
			k.press(key)
			k.sees("got-" + signal)
			k.ends("7")
			k.types(`$box run -- sh -c 'printf "rea%s\n" dy; exec sleep 1000'`)
			k.sees("ready")
			k.press(key)
			k.ends(map[string]string{"INT": "130", "QUIT": "131"}[signal])
		})
	}
}

// TestStopAndGo: Ctrl-Z stops the command as a job of the user's shell, and fg goes on with it.
func TestStopAndGo(t *testing.T) {
	k := typing(t)
	k.types(`$box run -- sh -c 'printf "rea%s\n" dy; while read line; do printf "line-%s\n" "$line"; done; exit 5'`)
	k.sees("ready")
	for _, word := range []string{"one", "two"} {
		k.press(ctrlZ)
		k.sees("Stopped")
		k.hasTerminal()
		k.types("printf 'at-%s\\n' prompt; jobs")
		k.sees("at-prompt")
		k.sees("Stopped")
		k.types("fg")
		k.types(word)
		k.sees("line-" + word)
	}
	k.press(ctrlD)
	k.ends("5")
}

// TestBackground: a job that wants the terminal stops until it has it.
func TestBackground(t *testing.T) {
	k := typing(t)
	k.types(`$box run -- sh -c 'read line < /dev/tty; printf "line-%s\n" "$line"' &`)
	k.until("the job does not stop", func() bool {
		k.types("jobs -s")
		k.mu.Lock()
		defer k.mu.Unlock()
		return strings.Contains(k.seen.String(), "Stopped")
	})
	k.types("fg")
	k.types("word")
	k.sees("line-word")
	k.ends("0")
}

// TestWindow: a change of the window's size is told.
func TestWindow(t *testing.T) {
	k := typing(t)
	k.types(`$box run -- sh -c 'trap "printf size-%s\\\\n \"\$(stty size | tr \" \" -)\"; exit" WINCH; printf "rea%s\n" dy; while :; do sleep 0.05; done'`)
	k.sees("ready")
	if err := unix.IoctlSetWinsize(int(k.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 41, Col: 97}); err != nil {
		t.Fatal(err)
	}
	k.sees("size-41-97")
	k.ends("0")
}

// TestTakenBack: whatever way the command ends, the user's shell has the terminal afterwards.
func TestTakenBack(t *testing.T) {
	k := typing(t)
	for script, status := range map[string]string{
		`exit 3`:                     "3",
		`kill -9 $$`:                 "137",
		`set -m; sleep 0`:            "0", // a shell with job control moves the foreground
		`bash -ic true`:              "0",
		`setsid sleep 1000 & exit 4`: "4",
	} {
		k.types(`$box run -- sh -c '` + script + `' 2> /dev/null`)
		k.ends(status)
	}
	k.types(`$box run --timeout 0.3s -- sh -c 'trap "" INT TERM HUP TSTP; while :; do sleep 1; done' 2> /dev/null`)
	k.ends("124")
	k.types(`$box run -- sh -c 'printf "rea%s\n" dy; exec sleep 1000'`)
	k.sees("ready")
	killParent(k)
	k.ends("137")
}

// killParent kills the ethos-sandbox of the shell's job with SIGKILL.
func killParent(k *typist) {
	k.t.Helper()
	parent := fmt.Sprintf("\nPPid:\t%d\n", k.shell.Process.Pid)
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		k.t.Fatal(err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file)
		exe, _ := os.Readlink(filepath.Dir(file) + "/exe")
		if filepath.Dir(exe) != built || !strings.Contains(string(text), parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil {
			err = unix.Kill(pid, unix.SIGKILL)
		}
		if err != nil {
			k.t.Fatal(err)
		}
		return
	}
	k.t.Fatal("ethos-sandbox is not to be found")
}

// TestShellOnATerminal: somebody types in it, it is a shell with job control, and it has no time limit.
func TestShellOnATerminal(t *testing.T) {
	k := typing(t)
	k.types(`SHELL=/bin/bash $box shell --plain-git --evidence e.json`)
	k.types("PS1=; printf 'in-%s\\n' $$")
	k.sees("in-2")
	k.types(`printf 'by-%s\n' name > "$(tty)"; printf 'tty-%s\n' "$(tty < /dev/null || tty)"`)
	k.sees("by-name")
	k.sees("/dev/console")
	k.types("sleep 1000")
	k.types("") // typed ahead, and read by nobody until sleep ends
	k.until("sleep does not run", func() bool {
		group, err := unix.IoctlGetInt(int(k.master.Fd()), unix.TIOCGPGRP)
		return err == nil && commandOf(group) == "sleep"
	})
	k.press(ctrlC)
	k.types("printf 'broken-%s\\n' $?")
	k.sees("broken-130")
	k.types("exit 6")
	k.ends("6")
	text, err := os.ReadFile(filepath.Join(k.dir, "e.json"))
	if err != nil || !strings.Contains(string(text), `"name":"timeout","requested":"","enforced":"","state":"not_requested"`) {
		t.Errorf("the evidence says of the time limit: %v %s", err, text)
	}
}

// TestTerminalsInside: programs that make terminals of their own can.
func TestTerminalsInside(t *testing.T) {
	probetest.Need(t, "command:script", "command:tmux")
	k := typing(t)
	k.types(`$box run -- script -qec 'tty; printf "in-%s\n" script' /tmp/typescript`)
	k.sees("/dev/pts/0")
	k.sees("in-script")
	k.ends("0")
	k.types(`$box run -- sh -c 'tmux -f /dev/null new-session -d "exec cat" && tmux list-sessions -F "sessions-#{session_windows}" && tmux send-keys typed Enter && until tmux capture-pane -p | grep -q typed; do sleep 0.05; done; tmux kill-server; printf "after-%s\n" tmux'`)
	k.sees("sessions-1")
	k.sees("after-tmux")
	k.ends("0")
}

// TestNobodyToContinue: where no shell has job control, as in a container, Ctrl-Z stops nothing: it could not be undone.
func TestNobodyToContinue(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	t.Parallel()
	k := open(t, space(t), "run", "--", "sh", "-c", `stty -echo; printf "rea%s\n" dy; while read line; do printf "line-%s\n" "$line"; done; exit 5`)
	k.begin()
	k.sees("ready")
	for _, word := range []string{"one", "two"} {
		k.press(ctrlZ)
		k.types(word)
		k.sees("line-" + word)
	}
	k.press(ctrlD)
	k.until("it does not end", func() bool { return ended(k.shell.Process.Pid) })
}

// TestHangUp: a job that is stopped because it wants the terminal ends with the terminal; see also what every test here ends with.
func TestHangUp(t *testing.T) {
	k := typing(t)
	k.types(`$box run -- sh -c 'read line < /dev/tty' &`)
	k.until("the job does not stop", func() bool {
		k.types("jobs -s")
		k.mu.Lock()
		defer k.mu.Unlock()
		return strings.Contains(k.seen.String(), "Stopped")
	})
}
