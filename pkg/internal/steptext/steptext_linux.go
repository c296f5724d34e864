package steptext

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
)

// Forms collects the shapes of steps without the objects that they are about,
// because most steps are repeated for one path after the other. Each form has a
// name, derived from the calls in it.
type Forms struct {
	names map[string]string
	count map[string]int
	lines []string
}

// Lines returns the forms: for each its name, then its steps.
func (f *Forms) Lines() []string { return f.lines }

func (f *Forms) name(calls, steps []string) string {
	text := strings.Join(steps, "\n")
	if name := f.names[text]; name != "" {
		return name
	}
	if f.names == nil {
		f.names, f.count = map[string]string{}, map[string]int{}
	}
	const most = 3
	if len(calls) > most {
		calls = append(slices.Clone(calls[:most]), strconv.Itoa(len(calls)-most))
	}
	name := strings.Join(calls, "+")
	f.count[name]++
	name += "." + strconv.Itoa(f.count[name])
	f.names[text] = name
	f.lines = append(f.lines, name)
	for _, step := range steps {
		f.lines = append(f.lines, "\t"+step)
	}
	return name
}

// Printer prints the steps of one program. A slot is named after the step that
// fills it, so that an additional step does not rename all later slots.
type Printer struct {
	Forms     *Forms
	Argv, Env []string // printed by name, because they come from the plan
	names     map[steps.Slot]string
	taken     map[string]int
}

// Program prints every step. Consecutive steps about the same object become one
// line: the name of their form, the object, and the values of $1, $2 and so on.
func (p *Printer) Program(program *steps.Program) []string {
	p.names, p.taken = map[steps.Slot]string{steps.Channel: "<channel>"}, map[string]int{}
	lines := []string{fmt.Sprintf("clone flags=%#x cgroup=%d", program.CloneFlags, program.CgroupFD)}
	parts := []struct {
		name  string
		steps []steps.Step
	}{{"init", program.Init}, {"command", program.Command}, {"finalize", program.Finalize}, {"cleanup", program.Cleanup}}
	for _, part := range parts {
		for i := range part.steps {
			p.name(&part.steps[i])
		}
	}
	for _, part := range parts {
		for i := 0; i < len(part.steps); {
			end := i + 1
			for end < len(part.steps) && part.steps[end].Object == part.steps[i].Object && part.steps[end].Stage == part.steps[i].Stage {
				end++
			}
			lines = append(lines, part.name+" "+p.group(part.steps[i:end]))
			i = end
		}
	}
	for _, slot := range program.Keep {
		lines = append(lines, "keep "+p.slot(slot))
	}
	return lines
}

func (p *Printer) group(list []steps.Step) string {
	var calls, texts, others []string
	about := list[0].Object
	for i := range list {
		calls = append(calls, list[i].Call)
		texts = append(texts, general(p.step(&list[i]), about, &others))
	}
	line := strings.TrimSpace(p.Forms.name(calls, texts) + " " + about)
	for i, other := range others {
		line += fmt.Sprintf(" $%d=%s", i+1, other)
	}
	return line
}

// paths matches the strings that differ from use to use.
var paths = regexp.MustCompile(`"(/|\.overlay)[^"]*"`)

// general replaces in a step what it is about: * is the path, *rel the path
// without the slash, *dir its directory, *name its name there, and *entry the
// path as a name. Other paths are numbered.
func general(text, about string, others *[]string) string {
	if !strings.HasPrefix(about, "/") || about == "/" {
		return text
	}
	for _, r := range [][2]string{
		{strconv.Quote(about), `"*"`}, {strconv.Quote(about[1:]), `"*rel"`}, {strconv.Quote(path.Base(about)), `"*name"`}, {strconv.Quote(strings.ReplaceAll(about, "/", "%")), `"*entry"`},
		{" " + about + ">", " *>"}, {" " + about + " #", " * #"}, {" " + path.Dir(about) + ">", " *dir>"}, {" " + path.Dir(about) + " #", " *dir #"},
	} {
		text = strings.ReplaceAll(text, r[0], r[1])
	}
	return paths.ReplaceAllStringFunc(text, func(other string) string {
		i := slices.Index(*others, other)
		if i < 0 {
			i, *others = len(*others), append(*others, other)
		}
		return "$" + strconv.Itoa(i+1)
	})
}

// name names a slot after the first step that fills it.
func (p *Printer) name(s *steps.Step) {
	if s.Save == 0 || p.names[s.Save] != "" {
		return
	}
	name := strings.TrimSpace(s.Call + " " + s.Object)
	if p.taken[name]++; p.taken[name] > 1 {
		name += " #" + strconv.Itoa(p.taken[name])
	}
	p.names[s.Save] = "<" + name + ">"
}

func (p *Printer) slot(s steps.Slot) string {
	if name := p.names[s]; name != "" {
		return name
	}
	return "<nothing>"
}

func (p *Printer) step(s *steps.Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s(", s.Stage, s.Call)
	last := len(s.Args) - 1
	for last >= 0 && s.Args[last] == (steps.Arg{}) {
		last--
	}
	for i := 0; i <= last; i++ {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.argument(s, i))
	}
	b.WriteString(")")
	if s.Save != 0 {
		b.WriteString(" = " + p.slot(s.Save))
	}
	if s.Object != "" && !strings.Contains(b.String(), strconv.Quote(s.Object)) {
		fmt.Fprintf(&b, " about %q", s.Object)
	}
	if arch, err := seccomp.Native(); err != nil || arch.NameOf(uint32(s.Nr)) != s.Call {
		fmt.Fprintf(&b, " nr=%d", s.Nr)
	}
	p.conditions(&b, s)
	return b.String()
}

// conditions prints when a step is skipped, and how its failure is handled.
func (p *Printer) conditions(b *strings.Builder, s *steps.Step) {
	if s.Unless != 0 {
		b.WriteString(" unless " + p.slot(s.Unless))
	}
	if s.Same != nil {
		b.WriteString(" same")
	}
	if s.Fill != nil {
		b.WriteString(" fill " + p.slot(s.FillFrom))
	}
	if s.Want != 0 {
		fmt.Fprintf(b, " want %d", s.Want)
	}
	if s.Tolerate != nil {
		b.WriteString(" tolerate " + errnos(s.Tolerate))
	}
	if s.Ignore != nil {
		b.WriteString(" ignore " + errnos(s.Ignore))
	}
	if s.Skip != 0 {
		fmt.Fprintf(b, " skip %d", s.Skip)
	}
}

func errnos(list []syscall.Errno) string {
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = unix.ErrnoName(e)
	}
	return strings.Join(names, ",")
}

func (p *Printer) argument(s *steps.Step, i int) string {
	number, memory, slot := s.Args[i].Value()
	switch {
	case slot != 0:
		return p.slot(slot)
	case memory != nil:
		return p.memory(s, i, memory)
	case int64(number) < 0 && int64(number) > -200, number < 10, number == 1<<32-1:
		return strconv.FormatInt(int64(int32(number)), 10)
	}
	return fmt.Sprintf("%#x", number)
}

// memory prints what an address points to, according to the call that takes it.
func (p *Printer) memory(s *steps.Step, i int, at unsafe.Pointer) string {
	switch s.Call + " " + strconv.Itoa(i) {
	case "openat2 2":
		return fmt.Sprintf("%+v", *(*unix.OpenHow)(at))
	case "mount_setattr 3":
		return fmt.Sprintf("%+v", *(*unix.MountAttr)(at))
	case "capset 0":
		return fmt.Sprintf("%+v", *(*unix.CapUserHeader)(at))
	case "capset 1":
		return fmt.Sprintf("%+v", *(*[2]unix.CapUserData)(at))
	case "prlimit64 2":
		return fmt.Sprintf("%+v", *(*unix.Rlimit)(at))
	case "landlock_create_ruleset 0":
		n, _, _ := s.Args[1].Value()
		return fmt.Sprintf("%#x", unsafe.Slice((*uint64)(at), n/8))
	case "landlock_add_rule 2": // struct landlock_path_beneath_attr, packed; the descriptor is filled in, or a number
		rule := *(*[3]uint32)(at)
		if s.Fill != nil {
			return fmt.Sprintf("{%#x}", uint64(rule[0])|uint64(rule[1])<<32)
		}
		return fmt.Sprintf("{%#x fd=%d}", uint64(rule[0])|uint64(rule[1])<<32, int32(rule[2]))
	case "seccomp 2":
		return filter((*unix.SockFprog)(at))
	case "ioctl 2": // struct ifreq
		return hash(unsafe.Slice((*byte)(at), 40))
	case "sendmsg 1":
		header := (*unix.Msghdr)(at)
		return "message " + hash(unsafe.Slice(header.Iov.Base, header.Iov.Len))
	case "setsockopt 3":
		return fmt.Sprint("{", *(*int32)(at), "}")
	case "sendto 1", "bind 1": // struct rtmsg after its header, struct sockaddr
		n, _, _ := s.Args[2].Value()
		return hex.EncodeToString(unsafe.Slice((*byte)(at), n))
	case "rt_sigprocmask 1":
		return "the mask of the caller"
	case "fstat 1", "newfstatat 2", "fstatat 2", "read 1":
		return "memory"
	case "execve 1", "execve 2":
		return p.array(at)
	case "write 1":
		n, _, _ := s.Args[2].Value()
		return buffer(s.Stage, unsafe.Slice((*byte)(at), n))
	}
	if !texts[s.Call] {
		return "what is that? teach package steptext " + s.Call + " " + strconv.Itoa(i)
	}
	return strconv.Quote(unix.BytePtrToString((*byte)(at)))
}

// texts lists the calls whose other addresses are those of C strings.
var texts = map[string]bool{
	"prctl": true, "openat": true, "openat2": true, "sethostname": true, "chdir": true, "execve": true, "renameat2": true, "mkdirat": true, "unlinkat": true, "newfstatat": true, "fstatat": true,
	"umount2": true, "open_tree": true, "mount_setattr": true, "fsopen": true, "fsconfig": true, "move_mount": true, "symlinkat": true, "mknodat": true, "mount": true, "pivot_root": true,
}

func buffer(stage string, text []byte) string {
	if stage == "handshake" {
		return fmt.Sprintf("%x", text)
	}
	return strconv.Quote(string(text))
}

func filter(f *unix.SockFprog) string {
	return fmt.Sprintf("%d instructions %s", f.Len, hash(unsafe.Slice((*byte)(unsafe.Pointer(f.Filter)), int(f.Len)*int(unsafe.Sizeof(unix.SockFilter{})))))
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("sha256=%x", sum[:8])
}

// array returns the strings passed to an execve(2).
func (p *Printer) array(at unsafe.Pointer) string {
	var list []string
	for next := at; *(*unsafe.Pointer)(next) != nil; next = unsafe.Add(next, unsafe.Sizeof(next)) {
		list = append(list, unix.BytePtrToString((*byte)(*(*unsafe.Pointer)(next))))
	}
	switch text := fmt.Sprintf("%q", list); text {
	case fmt.Sprintf("%q", p.Argv):
		return "argv"
	case fmt.Sprintf("%q", p.Env):
		return "env"
	default:
		return text
	}
}
