package boundary

import (
	"debug/elf"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// entryPoint is where the kernel starts the program that is released.
const entryPoint = "ethos/cmd/ethos-sandbox/early.entry"

// TestBeforeTheRuntime: what runs before the Go runtime needs nothing of it. No
// function that can be called allocates memory, meets the scheduler, or calls
// what is not known here.
func TestBeforeTheRuntime(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	if at := entryOf(t, exe); at != entryPoint && at != entryPoint+".abi0" {
		t.Fatalf("the program starts at %s", at)
	}
	calls := callsOf(t, exe)
	// These need nothing that the runtime sets up, or are never reached: slices
	// have room (TestSendAllocatesNothing), the goroutine of zeros has no limit
	// of its stack, and the collector is off.
	fine := map[string]bool{
		"runtime.memmove": true, "runtime.memequal": true, "runtime.memclrNoHeapPointers": true,
		"runtime.growslice": true, "runtime.morestack": true, "runtime.morestack_noctxt": true, "runtime.gcWriteBarrier": true,
		"runtime.slicebytetostring": true, // by strconv, for other bases
	}
	digits := regexp.MustCompile(`\d+$`)
	from := map[string]string{}
	for todo := []string{entryPoint}; len(todo) > 0; {
		caller := todo[0]
		todo = todo[1:]
		if _, known := calls[caller]; !known {
			t.Errorf("%s, called by %s, is not in the program", caller, from[caller])
		}
		for _, callee := range calls[caller] {
			name := digits.ReplaceAllString(callee, "")
			switch {
			case from[callee] != "", callee == "_rt0_amd64_linux", fine[name], strings.HasPrefix(name, "runtime.panic"), strings.HasPrefix(name, "runtime.gopanic"):
			case strings.HasPrefix(callee, "runtime."):
				t.Errorf("%s calls %s; it is called by %s", caller, callee, from[caller])
			default:
				from[callee] = caller
				todo = append(todo, callee)
			}
		}
	}
	if len(from) < 20 || from["ethos/pkg/session/dial.(*Sent).Succeeds"] == "" || from["ethos/pkg/statedir.(*Room).open"] == "" {
		t.Errorf("only these were found: %v", from)
	}
}

// entryOf returns the function where a program starts.
func entryOf(t *testing.T, exe string) string {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Value == f.Entry && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			return s.Name
		}
	}
	return "an unknown address"
}

var (
	function = regexp.MustCompile(`^TEXT (\S+)\(SB\)`)
	branch   = regexp.MustCompile(`\t(?:CALL|J[A-Z]+) (\S+)\(SB\)`)
	closure  = regexp.MustCompile(`^(.+)\.func\d+$`)
)

// callsOf returns the functions that each function calls or jumps to. A closure
// counts as called by the function that makes it.
func callsOf(t *testing.T, exe string) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "tool", "objdump", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string][]string{}
	name := ""
	for line := range strings.Lines(string(out)) {
		if m := function.FindStringSubmatch(line); m != nil {
			name = strings.TrimSuffix(m[1], ".abi0")
			calls[name] = append([]string{}, calls[name]...)
			if m := closure.FindStringSubmatch(name); m != nil {
				calls[m[1]] = append(calls[m[1]], name)
			}
		} else if m := branch.FindStringSubmatch(line); m != nil {
			if callee := strings.TrimSuffix(m[1], ".abi0"); callee != name {
				calls[name] = append(calls[name], callee)
			}
		}
	}
	return calls
}

// TestEntry: the program starts whatever its arguments, environment and stack
// are.
func TestEntry(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	request := []string{"x", "run", "--session=none", "--"}
	long, variables := strings.Repeat("x", 100<<10), slices.Repeat([]string{"A=1"}, 1026)
	for _, c := range [][2][]string{
		{{}, {}},
		{{""}, {}},
		{make([]string, 3000), {}},
		{{"x", "run"}, make([]string, 3000)},
		{{"x", "--version"}, {"", "=", "A", "A=", "A=1"}},
		{append(request[:4:4], make([]string, 508)...), {}},
		{append(request[:4:4], make([]string, 509)...), {}},
		{append(request, "true"), variables[:1023]},
		{append(request, "true"), variables[:1024]},
		{append(request, "true"), variables[:1025]},
		{append(request, "true"), variables},
		{append(request, long), {"HOME=/" + long}},
		{append(request, "true"), {"XDG_RUNTIME_DIR=/" + long[:5000], "HOME=/"}},
		{append(request, "true"), {"XDG_RUNTIME_DIR=/", "HOME=/"}},
	} {
		p, err := os.StartProcess(exe, c[0], &os.ProcAttr{Env: c[1], Files: []*os.File{null, nil, nil}})
		if err != nil {
			t.Fatal(err)
		}
		if state, err := p.Wait(); err != nil || !state.Exited() {
			t.Errorf("%.60q %.60q: %v %v", c[0], c[1], state, err)
		}
	}
	for _, size := range []string{"64", "unlimited"} {
		cmd := exec.Command("/bin/sh", "-c", "ulimit -s "+size+` && exec "$0" "$@"`, exe, "run", "--session=none", "--", "true")
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 125 {
			t.Errorf("stack of %s: %v: %s", size, cmd.ProcessState, out)
		}
	}
}
