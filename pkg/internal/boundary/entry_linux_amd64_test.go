package boundary

import (
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

const (
	// entryPoint is where the kernel starts the programs that are released.
	entryPoint = "ethos/pkg/entry.entry"
	// mapping is what their runtime calls before it can do more than that.
	mapping = "ethos/pkg/entry/hugepage.mmap"
)

// TestBeforeTheRuntime: what runs before the Go runtime needs nothing of it. No
// function that can be called allocates memory, meets the scheduler, reads what
// code initialises, or calls what is not known here.
func TestBeforeTheRuntime(t *testing.T) {
	probetest.Whole(t)
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	const call, request, init = "ethos/pkg/session/dial.(*Buffer).Do", "ethos/pkg/session/dial.(*Sent).Succeeds", "ethos/pkg/sandbox/kernel/steps.(*machine).runInit"
	for name, does := range map[string][]string{"ethos-facts": {call}, "ethos-decide": {call}, "ethos-sandbox": {request, init}, "ethos-cel": nil, "ethos-git": nil, "ethos-trace": nil} {
		t.Run(name, func(t *testing.T) { needsNoRuntime(t, filepath.Join(filepath.Dir(exe), name), does) })
	}
}

// needsNoRuntime examines a program. does are functions that it calls early.
func needsNoRuntime(t *testing.T, exe string, does []string) {
	image := imageOf(t, exe)
	if at := image.symbolAt(image.Entry); at != entryPoint && at != entryPoint+".abi0" {
		t.Fatalf("the program starts at %q", at)
	}
	functions := map[string]*code{}
	// These need nothing that the runtime sets up, or are never reached: slices
	// have room (TestSendAllocatesNothing), the goroutine of zeros has no limit
	// of its stack, and the collector is off.
	fine := regexp.MustCompile(`^runtime\.(memmove|memequal|memclrNoHeapPointers|growslice|morestack|morestack_noctxt|gcWriteBarrier\d|slicebytetostring|panic\w+|gopanic)$|^_rt0_amd64_linux$`)
	// What the function values are that are called.
	const lookup = "ethos/pkg/session/dial.(*Buffer).connect.func1"
	values := map[string]string{"ethos/pkg/statedir.place": lookup, "ethos/pkg/statedir.(*PathBuffer).Sockets": lookup}
	// The variables that are used; zero is their right value at the start.
	// fromSlot and mmap, which the runtime calls, are only pointed to.
	variables := regexp.MustCompile(`^(ethos/pkg/entry\.(args|env|tried)|ethos/cmd/ethos-[a-z]+/early\.(buffer|sent)|ethos/pkg/sandbox/kernel/steps\.(preforked|delivery|fromSlot)|ethos/pkg/timerslack\.given|ethos/pkg/entry/nofile\.given|ethos/pkg/entry/hugepage\.mmap\.abi0|runtime\.writeBarrier|_cgo_mmap|goroutine|thread)$`)
	from := map[string]string{entryPoint: "the kernel", mapping: "the runtime"}
	for todo := []string{entryPoint, mapping}; len(todo) > 0; todo = todo[1:] {
		if functions[todo[0]] == nil {
			maps.Copy(functions, image.functions(t, exe, todo))
		}
		f := functions[todo[0]]
		if f == nil {
			t.Errorf("%s, called by %s, is not in the program", todo[0], from[todo[0]])
			continue
		}
		calls := f.calls
		if value := values[todo[0]]; f.indirect != "" && value != "" {
			calls = append(calls, value)
		} else if f.indirect != "" {
			t.Errorf("%s, called by %s, calls what is not known: %s", todo[0], from[todo[0]], f.indirect)
		}
		for _, name := range f.uses {
			if !variables.MatchString(name) && name != lookup {
				t.Errorf("%s, called by %s, uses %s", todo[0], from[todo[0]], name)
			}
		}
		for _, callee := range calls {
			if fine.MatchString(callee) || from[callee] != "" {
				continue
			}
			if from[callee] = todo[0]; strings.HasPrefix(callee, "runtime.") {
				t.Errorf("%s, called by %s, calls %s", todo[0], from[todo[0]], callee)
				continue
			}
			todo = append(todo, callee)
		}
	}
	missing := func(name string) bool { return from[name] == "" }
	if len(does) > 0 {
		does = append(does, "ethos/pkg/statedir.(*PathBuffer).open")
	}
	if slices.ContainsFunc(append(does, "ethos/pkg/entry.before", "ethos/pkg/timerslack.Raise", "ethos/pkg/entry/nofile.Lower"), missing) {
		t.Errorf("only these were found: %v", from)
	}
}

// image is a program's file.
type image struct {
	*elf.File
	symbols   []elf.Symbol
	constants map[string]bool // the names of symbols that are constant
}

func imageOf(t *testing.T, exe string) *image {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	i := &image{f, symbols, map[string]bool{}}
	for _, s := range symbols {
		if i.constant(s.Value) {
			i.constants[s.Name] = true
		}
	}
	return i
}

// symbolAt returns the symbol that has an address, "" for none.
func (i *image) symbolAt(address uint64) string {
	for _, s := range i.symbols {
		if address >= s.Value && address < s.Value+max(s.Size, 1) {
			return s.Name
		}
	}
	return ""
}

// constant reports whether the linker has put an address where nothing writes,
// and nothing is executed.
func (i *image) constant(address uint64) bool {
	for _, s := range i.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && address >= s.Addr && address < s.Addr+s.Size {
			return s.Flags&(elf.SHF_WRITE|elf.SHF_EXECINSTR) == 0
		}
	}
	return false
}

// code is what the instructions of a function name.
type code struct {
	calls    []string // also where it jumps to
	indirect string   // an instruction that goes where a register or the memory says, if any
	uses     []string // what is not constant
}

var (
	function  = regexp.MustCompile(`^TEXT (.+)\(SB\) `)
	branch    = regexp.MustCompile(`^(?:CALL|J[A-Z]+) (.+)\(SB\)$`)
	elsewhere = regexp.MustCompile(`^(?:CALL|J[A-Z]+) [^0]`)
	named     = regexp.MustCompile(`[ ,]([^ ,$]+?)(?:\+\d+)?\(SB\)`) // $ begins a number that looks like an address
	relative  = regexp.MustCompile(`(-?)(0x[0-9a-f]+)\(IP\)`)
)

// functions disassembles the named functions of a program, in both of their ABIs.
func (i *image) functions(t *testing.T, exe string, names []string) map[string]*code {
	t.Helper()
	quoted := make([]string, len(names))
	for at, name := range names {
		quoted[at] = regexp.QuoteMeta(name)
	}
	out, err := exec.Command("go", "tool", "objdump", "-s", `^(`+strings.Join(quoted, "|")+`)(\.abi0)?$`, exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*code{}
	var f *code
	for line := range strings.Lines(string(out)) {
		if m := function.FindStringSubmatch(line); m != nil {
			name := strings.TrimSuffix(m[1], ".abi0") // with its wrapper, if it has one
			if f = all[name]; f == nil {
				f = &code{}
				all[name] = f
			}
			continue
		}
		fields := strings.FieldsFunc(line, func(c rune) bool { return c == '\t' || c == '\n' })
		if f == nil || len(fields) < 4 { // file, address, bytes, instruction
			continue
		}
		text := strings.TrimSpace(fields[3])
		if m := branch.FindStringSubmatch(text); m != nil {
			f.calls = append(f.calls, strings.TrimSuffix(m[1], ".abi0"))
			continue
		}
		if elsewhere.MatchString(text) {
			f.indirect = text
		}
		f.uses = append(f.uses, i.operands(text, strings.TrimSpace(fields[1]), len(strings.TrimSpace(fields[2]))/2)...)
	}
	return all
}

// operands returns the names of what an instruction uses that is not constant.
func (i *image) operands(text, at string, size int) (names []string) {
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	for _, m := range relative.FindAllStringSubmatch(text, -1) {
		address, err1 := strconv.ParseUint(at, 0, 64)
		offset, err2 := strconv.ParseUint(m[2], 0, 64)
		if m[1] != "" {
			offset = -offset
		}
		if address += uint64(size) + offset; err1 != nil || err2 != nil || !i.constant(address) {
			names = append(names, text+" "+i.symbolAt(address))
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return i.constants[name] })
}

// TestEntry: the programs start whatever their arguments, environment and stack
// are.
func TestEntry(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string][]string{
		"ethos-sandbox": {"x", "run", "--session=none", "--"}, "ethos-facts": {"x", "--from", "claude"}, "ethos-decide": {"x", "--reply", "claude"},
	} {
		t.Run(name, func(t *testing.T) { starts(t, filepath.Join(filepath.Dir(exe), name), request) })
	}
	for _, size := range []string{"64", "unlimited"} {
		cmd := exec.Command("/bin/sh", "-c", "ulimit -s "+size+` && exec "$0" "$@"`, exe, "run", "--session=none", "--", "true")
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 125 {
			t.Errorf("stack of %s: %v: %s", size, cmd.ProcessState, out)
		}
	}
}

// starts starts a program that begins with a request, in odd surroundings.
func starts(t *testing.T, exe string, request []string) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	long, variables := strings.Repeat("x", 100<<10), slices.Repeat([]string{"A=1"}, 1026)
	for _, c := range [][2][]string{
		{{}, {}},
		{{""}, {}},
		{make([]string, 3000), {}},
		{{"x", "run"}, make([]string, 3000)},
		{{"x", "--version"}, {"", "=", "A", "A=", "A=1"}},
		{append(slices.Clip(request), make([]string, 512-len(request))...), {}},
		{append(slices.Clip(request), make([]string, 513-len(request))...), {}},
		{append(slices.Clip(request), "true"), variables[:1023]},
		{append(slices.Clip(request), "true"), variables[:1024]},
		{append(slices.Clip(request), "true"), variables[:1025]},
		{append(slices.Clip(request), "true"), variables},
		{append(slices.Clip(request), long), {"HOME=/" + long}},
		{append(slices.Clip(request), "true"), {"XDG_RUNTIME_DIR=/" + long[:5000], "HOME=/"}},
		{append(slices.Clip(request), "true"), {"XDG_RUNTIME_DIR=/", "HOME=/"}},
	} {
		p, err := os.StartProcess(exe, c[0], &os.ProcAttr{Env: c[1], Files: []*os.File{null, nil, nil}})
		if err != nil {
			t.Fatal(err)
		}
		if state, err := p.Wait(); err != nil || !state.Exited() {
			t.Errorf("%.60q %.60q: %v %v", c[0], c[1], state, err)
		}
	}
}
