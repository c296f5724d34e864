package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/shorttest"
)

// raw is how an attack makes calls with arguments of its own.
const raw = `
import ctypes, os, sys, threading, signal, mmap
libc = ctypes.CDLL(None, use_errno=True)
openat = {'x86_64': 257, 'aarch64': 56}[os.uname().machine]
def call(*args):
    r = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return ctypes.get_errno() if r < 0 else -r
def say(*what): print(*what, flush=True)
`

// observerAttacks are commands that are hostile to who observes them. Each ends
// with what it saw.
var observerAttacks = map[string]string{
	"bad pointers": `
for p in (0, 1, 4095, 0xdead0000, 2**47-1, 2**63-1, -1): say(call(openat, -100, p, 0), call(openat, p & 0x7fffffff, p, 0))
`,
	"name to the end of the memory": `
m = mmap.mmap(-1, 8192); at = ctypes.addressof(ctypes.c_char.from_buffer(m)); libc.mprotect(ctypes.c_void_p(at + 4096), 4096, 0)
m[4080:4096] = b'a' * 16; say(call(openat, -100, at + 4080, 0)); m[4090:4096] = b'/tmp/\0'; fd = call(openat, -100, at + 4090, 0); say(fd < 0 or fd)
`,
	"names without end": `
b = ctypes.create_string_buffer(b'a' * 100000); say(call(openat, -100, b, 0)); b = ctypes.create_string_buffer(b'a/' * 2047); say(call(openat, -100, b, 0))
`,
	"flood of names": `
for i in range(6000):
    try: os.stat('/nowhere/%d/\x1b]0;x\x07' % i)
    except FileNotFoundError: pass
say('done')
`,
	"many threads": `
def work(n):
    for i in range(100):
        try: os.stat('/nowhere/%d/%d' % (n, i))
        except FileNotFoundError: pass
list = [threading.Thread(target=work, args=(n,)) for n in range(40)]
for t in list: t.start()
for t in list: t.join()
say('done')
`,
	"a race of names": `
b = ctypes.create_string_buffer(64); stop = False
def flip():
    while not stop: b.value = b'/etc/hostname'; b.value = SECRET
t = threading.Thread(target=flip); t.start(); got = 0
for i in range(2000):
    r = call(openat, -100, b, 0)
    if r <= 0:
        text = os.read(-r, 64); os.close(-r)
        if b'secret' in text: got += 1
stop = True; t.join(); say('secrets', got)
`,
	"writes where it may not": `
for p in (b'/usr/lib/x', b'/etc/passwd', SECRET): say(call(openat, -100, ctypes.create_string_buffer(p), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644))
`,
	"a directory that is gone": `
os.mkdir('d'); os.chdir('d'); os.rmdir('../d')
try: open('x')
except FileNotFoundError as e: say(e.errno)
`,
	"signals in between": `
n = 0
def count(*a):
    global n; n += 1
signal.signal(signal.SIGALRM, count); signal.siginterrupt(signal.SIGALRM, False); signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002); missing = 0
for i in range(3000):
    try: os.stat('/nowhere')
    except FileNotFoundError: missing += 1
signal.setitimer(signal.ITIMER_REAL, 0); say(missing)
`,
	"killed while it waits": `
for i in range(200):
    pid = os.fork()
    if pid == 0:
        while True:
            try: os.stat('/nowhere')
            except FileNotFoundError: pass
    os.kill(pid, 9); os.waitpid(pid, 0)
say('done')
`,
	"descriptors of its own": `
r, w = os.pipe()
for fd in (r, 0, 1, 99, -1): say(call(openat, fd, ctypes.create_string_buffer(b'x'), 0))
d = os.open('/', os.O_PATH); say(call(openat, d, ctypes.create_string_buffer(b'nowhere'), 0))
`,
	"calls that are refused": `
libc.ptrace.restype = ctypes.c_long
say(call(101 if openat == 257 else 117, 0, 0, 0, 0), call(165 if openat == 257 else 40, 0, 0, 0, 0, 0))
b = ctypes.create_string_buffer(b'suid'); say(call(openat, -100, b, os.O_WRONLY | os.O_CREAT, 0o4755))
`,
	"not to be read": `
libc.prctl(4, 0, 0, 0, 0)
try: os.stat('/nowhere')
except FileNotFoundError as e: say(e.errno)
`,
}

// TestObserverAttacks holds that a command which attacks its observer ends as it
// does without one, and gets nothing that it does not get without one.
func TestObserverAttacks(t *testing.T) {
	probetest.Need(t, "command:python3")
	for name, attack := range shorttest.SampleMap(observerAttacks, 3) {
		t.Run(name, func(t *testing.T) {
			var said [2]string
			for i, explain := range []bool{false, true} {
				spec := script(t, "")
				secret := filepath.Join(filepath.Dir(spec.Workspace), "secret")
				write(t, secret, "secret\n")
				spec.Argv = []string{"python3", "-c", raw + fmt.Sprintf("SECRET = b%q\n", secret) + attack}
				spec.Explain = explain
				r := execute(t, spec)
				if r.err != nil || r.Status != record.StatusExited || r.ExitCode != 0 {
					t.Fatalf("observed %t: %v %s %d %s", explain, r.err, r.Status, r.ExitCode, r.Stderr.Text)
				}
				if text, err := os.ReadFile(secret); err != nil || string(text) != "secret\n" {
					t.Errorf("observed %t: the file outside is %q, %v", explain, text, err)
				}
				if said[i] = r.Stdout.Text; said[i] == "" || strings.Contains(said[i], "secrets ") && said[i] != "secrets 0\n" {
					t.Errorf("observed %t: %q", explain, said[i])
				}
				if watched := strings.HasPrefix(r.Evidence.Observer, control.Observed); watched != explain {
					t.Errorf("observed %t: %q", explain, r.Evidence.Observer)
				}
				for _, d := range r.Evidence.Denials {
					if strings.ContainsAny(d.What+d.Reason+d.Remedy+d.Process, "\x1b\x07") {
						t.Errorf("%+v", d)
					}
				}
				if len(r.Evidence.Denials) > 30 {
					t.Errorf("observed %t: %d denials", explain, len(r.Evidence.Denials))
				}
			}
			if said[0] != said[1] {
				t.Errorf("not observed %q, observed %q", said[0], said[1])
			}
		})
	}
}

// TestObserverTellsUses holds which of the declared paths a command used, and how,
// also through links and for what it makes.
func TestObserverTellsUses(t *testing.T) {
	spec := script(t, "")
	base := filepath.Dir(spec.Workspace)
	for _, dir := range []string{"read", "write", "through", "unused", "looked"} {
		write(t, filepath.Join(base, dir, "in.txt"), "x\n")
	}
	if err := os.Symlink(filepath.Join(base, "through"), filepath.Join(spec.Workspace, "link")); err != nil {
		t.Fatal(err)
	}
	spec.Asked.ReadPaths = []string{base + "/read", base + "/through", base + "/unused"}
	spec.Asked.WritePaths = []string{base + "/write", base + "/looked"}
	spec.Argv = []string{"sh", "-c", `cat ` + base + `/read/in.txt link/in.txt ` + base + `/looked/in.txt; echo y > ` + base + `/write/new`}
	spec.Explain = true
	r := execute(t, spec)
	want := []record.Use{{Path: base + "/looked"}, {Path: base + "/read"}, {Path: base + "/through"}, {Path: base + "/write", Write: true}}
	if r.err != nil || r.ExitCode != 0 || !slices.Equal(r.Evidence.Used, want) {
		t.Errorf("%v %d %s: %+v, want %+v", r.err, r.ExitCode, r.Stderr.Text, r.Evidence.Used, want)
	}
}

// TestObserverSees holds what is told of a command that passes, too: once for each
// path, with who asked, by which call and how often, and nothing of what is
// not there outside either.
func TestObserverSees(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := script(t, "")
		base := filepath.Dir(spec.Workspace)
		write(t, filepath.Join(base, "data", "in.txt"), "x\n")
		write(t, filepath.Join(base, "home", ".ssh", "id"), "x\n")
		spec.Argv = []string{"sh", "-c", `cd ` + base + `; for i in 1 2 3; do cat data/in.txt; done; cat home/.ssh/id data/missing /nowhere; true`}
		spec.Explain = true
		r := execute(t, spec)
		if r.err != nil || r.ExitCode != 0 || r.Evidence.Observer != control.Observed {
			t.Fatalf("%v %d %q %s", r.err, r.ExitCode, r.Evidence.Observer, r.Stderr.Text)
		}
		found := map[string]record.Denial{}
		for _, d := range r.Evidence.Denials {
			found[strings.TrimPrefix(d.Path, base+"/")] = d
		}
		in, ssh := found["data/in.txt"], found["home/.ssh/id"]
		if in.Count != 3 || in.Process != "cat" || in.Call == "" || in.Certainty != record.Exact || in.Kind != record.KindHidden || in.Remedy == "" || in.Declare == "" {
			t.Errorf("%+v", in)
		}
		if ssh.Kind != record.KindHidden || ssh.Remedy != "" || !strings.Contains(ssh.Reason, "credentials") {
			t.Errorf("%+v", ssh)
		}
		if len(found) != 2 {
			t.Errorf("%v", found)
		}
	})
}
