package mutants

import (
	"slices"
	"strings"
)

const (
	calls      = "pkg/sandbox/kernel/mount/calls_linux.go"
	building   = "pkg/sandbox/kernel/mount/steps_linux.go"
	initFile   = "pkg/sandbox/kernel/steps/init_linux.go"
	rules      = "pkg/sandbox/control/landlockrules_linux.go"
	network    = "pkg/sandbox/control/network_linux.go"
	protected  = "pkg/sandbox/control/protectedpaths_linux.go"
	filters    = "pkg/sandbox/kernel/seccomp/deny.go"
	compiler   = "pkg/sandbox/kernel/seccomp/compile.go"
	connects   = "pkg/sandbox/kernel/notify/connect_linux.go"
	caches     = "pkg/sandbox/plan/cache.go"
	bubblewrap = "pkg/sandbox/kernel/bwrap/find.go"
)

// The tests that should notice, run one after the other until one does.
var (
	boundary = []Tests{
		{Package: "./pkg/sandbox", Run: "^(TestRun|TestVerify|TestVerifyNamespaces|TestEnds|TestPlaceholders|TestLandlockAlone|TestSecurebits|TestInitAlone|TestInitDescriptors|TestSubmounts|TestSharedMounts|TestCancel|TestKilled|TestProtectedLink)$"},
		{Package: "./pkg/internal/escapes"},
	}
	names = []Tests{
		{Package: "./pkg/sandbox", Run: "^(TestProtectedNamesAreOutOfForce|TestNames.*|TestPutAsideLeadsNowhere|TestInsisting|TestNothingStandsThere|TestKilledNames)$"},
		{Package: "./pkg/internal/escapes"},
	}
	laterSockets = []Tests{{Package: "./pkg/internal/escapes", Run: "^TestSocketsThatComeLater$"}}
	written      = []Tests{{Package: "./pkg/internal/escapes", Run: "^(TestEveryLayerIsAskedFor|TestInjectingVariables|TestProtectedByName)$"}}
	filter       = []Tests{{Package: "./pkg/sandbox/kernel/seccomp", Skip: "^TestAsm$"}}
	races        = []Tests{{Package: "./pkg/sandbox", Run: "^(TestSwaps)$"}, {Package: "./pkg/internal/escapes"}}
	faults       = []Tests{{Package: "./pkg/sandbox", Run: "^(TestVerify|TestVerifyNamespaces|TestLandlockAlone)$"}}
	inCaches     = []Tests{{Package: "./pkg/sandbox/plan", Run: "^TestMaskInCache$"}}
	found        = []Tests{{Package: "./pkg/sandbox/kernel/bwrap", Run: "^TestFind"}}
	records      = []Tests{{Package: "./pkg/record"}, {Package: "./cmd/ethos-sandbox"}}
)

// single lists the defences that consist of one line each.
var single = []Mutant{
	{Name: "died parent: PR_SET_PDEATHSIG", Without: []Call{{Object: "PR_SET_PDEATHSIG"}}, Tests: boundary,
		Survives: "the closed channel tells init the same; TestKilled passes with either, and fails without both"},
	{Name: "died parent: the channel", Edits: []Edit{{initFile, `m.poll[1].Revents&(unix.POLLHUP|unix.POLLRDHUP|unix.POLLERR) != 0`, `false`}}, Tests: boundary,
		Survives: "PR_SET_PDEATHSIG tells init the same; TestKilled passes with either, and fails without both"},
	{Name: "died parent: both", Without: []Call{{Object: "PR_SET_PDEATHSIG"}},
		Edits: []Edit{{initFile, `m.poll[1].Revents&(unix.POLLHUP|unix.POLLRDHUP|unix.POLLERR) != 0`, `false`}}, Tests: boundary},
	{Name: "session keyring", Without: []Call{{Name: "keyctl"}}, Tests: boundary,
		Survives: "the filter refuses keyctl, add_key and request_key, and /proc/keys is hidden: what it keeps away cannot be reached; it holds where a filter would let them through"},
	{Name: "setgroups denied", Without: []Call{{Object: "/proc/self/setgroups"}}, Tests: boundary},
	{Name: "inherited descriptors: close_range", Without: []Call{{Name: "close_range"}}, Tests: boundary},
	{Name: "a session of its own", Without: []Call{{Name: "setsid"}}, Tests: slices.Concat(written, boundary)},
	{Name: "resource limits", Without: []Call{{Stage: "rlimits"}}, Tests: boundary},
	{Name: "privileges, all", Without: []Call{{Stage: "privileges"}}, Tests: boundary},
	{Name: "privileges: bounding set", Without: []Call{{Object: "PR_CAPBSET_DROP"}}, Tests: boundary},
	{Name: "privileges: ambient set", Without: []Call{{Object: "PR_CAP_AMBIENT_CLEAR_ALL"}}, Tests: boundary,
		Survives: "a new user namespace begins with an empty ambient set, and emptying the permitted and the inheritable set empties it too: capabilities(7)"},
	{Name: "privileges: securebits", Without: []Call{{Object: "PR_SET_SECUREBITS"}}, Tests: boundary},
	{Name: "privileges: capset", Without: []Call{{Stage: "privileges", Name: "capset"}}, Tests: boundary},
	{Name: "init: dumpable", Without: []Call{{Object: "PR_SET_DUMPABLE"}}, Tests: boundary},
	{Name: "init: its arguments", Edits: []Edit{{initFile, "\tm.rename()\n", ""}}, Tests: boundary},
	{Name: "connect: the file is judged", Edits: []Edit{{connects, "if s.kind == unix.SOCK_DGRAM && !j.options.Override || st.Mode&unix.S_IFMT != unix.S_IFSOCK {", "if true {"}}, Tests: laterSockets},
	{Name: "connect: to what was judged", Edits: []Edit{{connects, "return target{file: known, keep: true}, nil", "return target{address: append(append([]byte{1, 0}, path...), 0)}, nil"}}, Tests: laterSockets},
	{Name: "connect: of the command's network", Edits: []Edit{{connects, "if own, err := network(fd); err != nil || own != j.network {\n\t\treturn nil, unix.EACCES", "if false {\n\t\treturn nil, unix.EACCES"}}, Tests: []Tests{{Package: "./pkg/sandbox/kernel/notify"}}},
	{Name: "connect: what listens is bound inside", Edits: []Edit{{connects, "err == nil && at != j.network {", "false && at != j.network {"}}, Tests: []Tests{{Package: "./pkg/sandbox/kernel/notify"}},
		Survives: "the kernel tells the file of a bound socket to nobody without CAP_NET_ADMIN over its network namespace (unix_open_file in net/unix/af_unix.c), which the judge has over the command's alone"},
	{Name: "connect: netlink", Edits: []Edit{{connects, "return unix.EPERM", "return nil"}}, Tests: []Tests{{Package: "./pkg/sandbox/kernel/notify"}}},
	{Name: "connect: TCP rules of Landlock", Edits: []Edit{{"pkg/sandbox/kernel/notify/held_linux.go", "landlock.Request{Net: landlock.ConnectTCP}", "landlock.Request{Net: landlock.BindTCP}"}}, Tests: []Tests{{Package: "./pkg/sandbox/kernel/notify"}}},
	{Name: "connect: capabilities of the judge", Edits: []Edit{{"pkg/sandbox/kernel/notify/kernel_linux.go", "if err := unix.Capset(&header, &none[0]); err != nil {", "if err := unix.Capget(&header, &none[0]); err != nil {"}}, Tests: []Tests{{Package: "./pkg/sandbox/kernel/notify"}}},
	{Name: "connect: below the command's root", Edits: []Edit{{"pkg/sandbox/kernel/notify/caller_linux.go", `return r.below(r.root, path, unix.RESOLVE_IN_ROOT)`, `return r.below(r.root, path, 0)`}}, Tests: []Tests{{Package: "./pkg/sandbox/kernel/notify"}}},
	{Name: "memory: shared memory that nobody has mapped", Edits: []Edit{{"pkg/sandbox/control/rlimits_linux.go", `limits.Tree{Init: p.PID, Held: c.shared.Held(limit)}`, `limits.Tree{Init: p.PID}`}}, Tests: []Tests{{Package: "./pkg/internal/escapes", Run: "^TestSharedMemoryIsBounded$"}}},
	{Name: "init: forged signals", Edits: []Edit{{initFile, ` || m.sigs.Code < 0 {`, ` {`}}, Tests: []Tests{{Package: "./pkg/sandbox/kernel/steps", Run: "^TestForgedSignal$"}}},
	{Name: "init: a lost last message is told", Edits: []Edit{{initFile, "\t\texit(unheardStatus)\n", "\t\texit(failedStatus)\n"}}, Tests: []Tests{{Package: "./pkg/sandbox/kernel/steps", Run: "^TestFate$"}}},
	{Name: "sockets: declared as files", Edits: []Edit{{"pkg/sandbox/plan/declare.go", `case isSocket && why != unixSocket:`, `case false:`}}, Tests: []Tests{{Package: "./pkg/internal/escapes", Run: "^TestEscapes$"}}},
	{Name: "sockets: files declared as sockets", Edits: []Edit{{"pkg/sandbox/plan/declare.go", `case !isSocket && why == unixSocket:`, `case false:`}}, Tests: []Tests{{Package: "./pkg/internal/escapes", Run: "^TestEscapes$"}}},
	{Name: "init: what it has open", Edits: []Edit{{initFile, `if e := m.letGo(); e != 0 {`, `if e := syscall.Errno(0); e != 0 {`}}, Tests: boundary},
	{Name: "Landlock, all", Without: []Call{{Stage: "landlock"}}, Tests: boundary},
	{Name: "system call filter, all", Without: []Call{{Stage: "seccomp", Object: "deny-privilege"}}, Tests: boundary},
	{Name: "filter: foreign architectures", Edits: []Edit{{compiler, `m.branch(opEqual, a.audit, body, m.ret(KillProcess))`, `m.branch(opEqual, a.audit, body, body)`}}, Tests: filter},
	{Name: "filter: x32", Edits: []Edit{{compiler, `m.branch(opAtLeast, x32Bit, minusOne, body)`, `m.branch(opAtLeast, x32Bit, body, body)`}, {compiler, `minusOne := m.branch(opEqual, ^uint32(0), m.ret(Errno(eNOSYS)), m.ret(KillProcess))`, ``}}, Tests: filter},
	{Name: "filter: numbers that no table knows", Edits: []Edit{{compiler, `return p.join(spans, span{covered, []clause{{action: p.unknown()}}})`, `return spans`}}, Tests: filter},
	{Name: "mounts: nosuid", Edits: []Edit{{building, `set := uint64(unix.MOUNT_ATTR_NOSUID)`, `set := uint64(0)`}}, Tests: boundary},
	{Name: "mounts: nodev", Edits: []Edit{{building, `set |= unix.MOUNT_ATTR_NODEV`, `set |= 0`}}, Tests: boundary},
	{Name: "mounts: read-only", Edits: []Edit{{building, `set |= unix.MOUNT_ATTR_RDONLY`, `set |= 0`}}, Tests: boundary},
	{Name: "mounts: noexec", Edits: []Edit{{building, `set |= unix.MOUNT_ATTR_NOEXEC`, `set |= 0`}}, Tests: boundary,
		Survives: "no mount of a plan asks for it; proc and devpts have it by other flags"},
	{Name: "mounts: private propagation", Edits: []Edit{{calls, `Attr_set: set, Propagation: unix.MS_PRIVATE}`, `Attr_set: set}`}}, Tests: boundary},
	{Name: "mounts: the whole of a bind is restricted", Edits: []Edit{{calls, `steps.Int(unix.AT_EMPTY_PATH|unix.AT_RECURSIVE), steps.Ptr(attr)`, `steps.Int(unix.AT_EMPTY_PATH), steps.Ptr(attr)`}}, Tests: boundary},
	{Name: "mounts: links are not followed", Edits: []Edit{{calls, `unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}`, `0, Resolve: 0}`}}, Tests: races},
	{Name: "mounts: magic links are not followed", Edits: []Edit{{calls, `unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS`, `unix.RESOLVE_NO_SYMLINKS`}}, Tests: races,
		Survives: "RESOLVE_NO_SYMLINKS implies it: openat2(2)"},
	{Name: "mounts: the root is read-only", Without: []Call{{Name: "mount_setattr", Object: "/"}}, Tests: boundary},
	{Name: "mounts: the host's root is gone", Without: []Call{{Name: "umount2", Object: "the host's root"}}, Tests: boundary},
	{Name: "mounts: proc read-only", Edits: []Edit{{building, `unix.MS_RDONLY | procShared`, `procShared`}}, Tests: boundary},
	{Name: "mounts: proc nosuid", Edits: []Edit{{building, `procShared = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC`, `procShared = unix.MS_NODEV | unix.MS_NOEXEC`}}, Tests: boundary},
	{Name: "mounts: proc nodev", Edits: []Edit{{building, `procShared = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC`, `procShared = unix.MS_NOSUID | unix.MS_NOEXEC`}}, Tests: boundary},
	{Name: "mounts: proc noexec", Edits: []Edit{{building, `procShared = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC`, `procShared = unix.MS_NOSUID | unix.MS_NODEV`}}, Tests: boundary},
	{Name: "mounts: devpts nosuid", Edits: []Edit{{building, `unix.MS_NOSUID|unix.MS_NOEXEC`, `unix.MS_NOEXEC`}}, Tests: boundary},
	{Name: "mounts: devpts noexec", Edits: []Edit{{building, `unix.MS_NOSUID|unix.MS_NOEXEC`, `unix.MS_NOSUID`}}, Tests: boundary},
	{Name: "this process follows no link: directories", Edits: []Edit{{"pkg/sandbox/control/directory_linux.go", `unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}`, `unix.O_CLOEXEC}`}}, Tests: races},
	{Name: "a declared path: no symlink escape", Edits: []Edit{{"pkg/sandbox/plan/declare.go", `if !mount.Within(p.path, tree) {`, `if false {`}}, Tests: []Tests{{Package: "./pkg/internal/escapes"}}},
	{Name: "names: put aside at once", Edits: []Edit{{protected, "\tif w.idle || w.search() {", "\tif true {"}}, Tests: names},
	{Name: "names: put aside at the end", Edits: []Edit{{protected, "\tstore := w.Quarantined\n", "\tstore := w.Quarantined\n\tif w.names = w.aside; true {\n\t\treturn\n\t}\n"}}, Tests: names},
	{Name: "names: put aside by init", Without: []Call{{Stage: "names", Name: "renameat2"}}, Tests: names},
	{Name: "names: an end to insisting", Edits: []Edit{{protected, `w.count > insists`, `false`}}, Tests: names},
	{Name: "names: none appears in the set-up", Edits: []Edit{{protected, `plan.Covering(paths, path).Access == plan.ReadWrite {`, `false {`}}, Tests: names},
	{Name: "directories above what is protected are held in place", Edits: []Edit{{"pkg/sandbox/plan/mounts.go", `info == nil || taken[dir] {`, `info == nil || taken[dir] || true {`}}, Tests: boundary},
	{Name: "caches: what is denied in one", Edits: []Edit{{caches, `append([]mount.Mount{over}, b.deniedIn(p)...)`, `append([]mount.Mount{over}, b.deniedIn(p)[:0]...)`}}, Tests: inCaches},
	{Name: "caches: a file masked already hides no other deny", Edits: []Edit{{caches, "m != nil {\n\t\t\tlist = append(list, *m)\n\t\t}", "m != nil {\n\t\t\tlist = append(list, *m)\n\t\t} else {\n\t\t\treturn nil\n\t\t}"}}, Tests: inCaches},
	{Name: "bwrap: a link on PATH", Edits: []Edit{{bubblewrap, `if err = held(dir, link, outside); err == nil {`, `if true {`}}, Tests: found},
	{Name: "bwrap: what it calls itself", Edits: []Edit{{bubblewrap, "\"bubblewrap \")\n\tif !ok {", "\"bubblewrap \")\n\tif false && !ok {"}}, Tests: found},
	{Name: "session: limits that commands inherit", Edits: []Edit{{"pkg/sandbox/exec/inherited_linux.go", `if now != c.session.inherited {`, `if false && now != c.session.inherited {`}},
		Tests: []Tests{{Package: "./pkg/internal/boundary", Run: "^TestSessionInheritedLimits$"}}},
	{Name: "network: loopback alone is up", Edits: []Edit{{network, `name != "lo" && !dormant(name)`, `false`}}, Tests: faults,
		Survives: "a new network namespace has no other interface; the check is there for a kernel that gives one, which no test can make here"},
	{Name: "verify: identity", Edits: []Edit{{"pkg/sandbox/control/user_linux.go", "Verify(s Status) error {\n", "Verify(s Status) error {\n\treturn nil\n"},
		{"pkg/sandbox/control/pid_linux.go", "Verify(s Status) error {\n", "Verify(s Status) error {\n\treturn nil\n"}}, Tests: faults,
		Survives: "a user namespace that maps one id to itself leaves no call with which it could be another, and init's clone always makes a PID namespace; it stands against a kernel that does otherwise"},
	{Name: "verify: privileges", Edits: []Edit{{"pkg/sandbox/control/privileges_linux.go", "Verify(s Status) error {\n", "Verify(s Status) error {\n\treturn nil\n"}}, Tests: faults},
	{Name: "verify: filter", Edits: []Edit{{"pkg/sandbox/control/seccomp_linux.go", "Verify(s Status) error {\n", "Verify(s Status) error {\n\treturn nil\n"}}, Tests: faults},
	{Name: "verify: namespaces", Edits: []Edit{{"pkg/sandbox/control/namespace_linux.go", "VerifyPlace(pid int) error {\n", "VerifyPlace(pid int) error {\n\treturn nil\n"}}, Tests: faults},
	{Name: "verify: mounts", Edits: []Edit{{"pkg/sandbox/control/mount_linux.go", "\treturn mount.Check(c.finalMounts(), text)\n", "\t_ = text\n\treturn nil\n"}}, Tests: faults},
	{Name: "verify: network", Edits: []Edit{{network, `err != nil || n.Job.Plan.Network == "host" {`, `true {`}}, Tests: faults},
	{Name: "verify: cgroup", Edits: []Edit{{"pkg/sandbox/control/cgroup_linux.go", "\treturn verifyCgroup(pid, c.leaf)\n", "\treturn nil\n"}}, Tests: faults,
		Survives: "needs a cgroup v2 with controllers; the kernel lab has one"},
	{Name: "environment: injecting variables", Edits: []Edit{{"pkg/sandbox/plan/env.go", "\tif matches(name, injecting) {\n\t\treturn false\n\t}\n", ""}}, Tests: slices.Concat(written, boundary)},
	{Name: "environment: the list of those that pass", Edits: []Edit{{"pkg/sandbox/plan/env.go", `return slices.Contains(b.set.Env.Pass, name)`, `return true`}},
		Tests: []Tests{{Package: "./pkg/sandbox/plan", Run: "^(TestRecordPassesWhatItNames|TestToolsEnvironment)$"}}},
	{Name: "record: the subject", Edits: []Edit{{"cmd/ethos-sandbox/judge.go", `if subject != d.Subject {`, `if false {`}}, Tests: records},
	{Name: "record: no decision", Edits: []Edit{{"cmd/ethos-sandbox/judge.go", `return refusal(reasonMissing, "pass it through ethos-decide first", "the record has no decision"), nil`, `return nil, nil`}}, Tests: records},
	{Name: "record: the seal", Edits: []Edit{{"pkg/record/decision.go", `err != nil || own.Seal != d.Seal`, `err != nil || own.Seal == ""`}}, Tests: records},
	{Name: "record: the verdict fits the matches", Edits: []Edit{{"pkg/record/decision.go", `case m.Effect == VerdictDeny && d.Verdict != VerdictDeny && !(approved && d.covers(m.ID)),`, `case`}}, Tests: records},
	{Name: "record: ask is not allow", Edits: []Edit{{"cmd/ethos-sandbox/judge.go", `case record.VerdictAllow, record.VerdictWarn:`, `case record.VerdictAllow, record.VerdictWarn, record.VerdictAsk:`}, {"cmd/ethos-sandbox/judge.go", "\tcase record.VerdictAsk:\n", "\tcase \"\":\n"}}, Tests: records},
}

// All lists every mutant. root is the directory of the module.
func All(root string) ([]Mutant, error) {
	list := slices.Concat(single, leftBehind, egress, decided, guards, cgroups)
	for _, more := range []func() ([]Mutant, error){
		func() ([]Mutant, error) { return Rules(root, filters, filter) },
		func() ([]Mutant, error) {
			return Lines(root, "pkg/sandbox/plan/env.go", []string{"injecting"}, written)
		},
		func() ([]Mutant, error) {
			return Lines(root, "pkg/sandbox/plan/protect.go", []string{"gitProtected"}, slices.Concat(written, boundary))
		},
		func() ([]Mutant, error) {
			return Lines(root, "pkg/protected/paths_generated.go", []string{"names"}, slices.Concat(written, boundary))
		},
	} {
		mutants, err := more()
		if err != nil {
			return nil, err
		}
		list = append(list, mutants...)
	}
	return slices.Concat(list, namespaces(), flags(), rights(), grants()), nil
}

func namespaces() (list []Mutant) {
	names := strings.Fields("user mount pid ipc uts cgroup")
	literal := func(names []string) string { return `[]string{"` + strings.Join(names, `", "`) + `"}` }
	for i, name := range names {
		without := slices.Delete(slices.Clone(names), i, i+1)
		list = append(list, Mutant{Name: "namespace: " + name, Edits: []Edit{{"pkg/sandbox/plan/build.go", literal(names), literal(without)}}, Tests: slices.Concat(written, boundary)})
	}
	return append(list, Mutant{Name: "namespace: network", Edits: []Edit{{"pkg/sandbox/plan/build.go", `if network != "host" {`, `if false {`}}, Tests: slices.Concat(written, boundary)})
}

// flags returns mutants of the mask that the filter compares the flags of clone with: one bit less
// each.
func flags() (list []Mutant) {
	const all = "0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000"
	bits := strings.Split(all, " | ")
	for i, bit := range bits {
		without := strings.Join(slices.Delete(slices.Clone(bits), i, i+1), " | ")
		list = append(list, Mutant{Name: "filter: clone with " + bit, Edits: []Edit{{filters, all, without}}, Tests: filter})
	}
	return list
}

var fileRights = strings.Fields("Execute WriteFile ReadFile ReadDir RemoveDir RemoveFile MakeChar MakeDir MakeReg MakeSock MakeFifo MakeBlock MakeSym Refer Truncate IoctlDev")

// rights returns mutants that handle one Landlock right less: what is not handled is allowed.
func rights() (list []Mutant) {
	for _, r := range fileRights {
		list = append(list, Mutant{Name: "Landlock holds " + r, Edits: []Edit{{rules, "FS: landlock.AllFS,", "FS: landlock.AllFS &^ landlock." + r + ","}}, Tests: slices.Concat(written, boundary)})
	}
	for _, r := range []struct{ name, whole, without string }{
		{"AbstractUnix", "landlock.AbstractUnix | landlock.Signal", "landlock.Signal"}, {"Signal", "landlock.AbstractUnix | landlock.Signal", "landlock.AbstractUnix"},
		{"BindTCP", "landlock.BindTCP | landlock.ConnectTCP", "landlock.ConnectTCP"}, {"ConnectTCP", "landlock.BindTCP | landlock.ConnectTCP", "landlock.BindTCP"},
	} {
		list = append(list, Mutant{Name: "Landlock holds " + r.name, Edits: []Edit{{rules, r.whole, r.without}}, Tests: slices.Concat(written, boundary)})
	}
	return list
}

// grants returns mutants that grant one right too many to what is declared readable.
func grants() (list []Mutant) {
	for _, r := range strings.Fields("WriteFile Truncate RemoveDir RemoveFile MakeDir MakeReg MakeFifo MakeSym MakeSock Refer") {
		m := Mutant{Name: "Landlock, read-only with " + r, Edits: []Edit{{rules, "add(e.Path, read, !e.Dir)", "add(e.Path, read|landlock." + r + ", !e.Dir)"}},
			Tests: []Tests{{Package: "./pkg/sandbox", Run: "^TestLandlockAlone$"}}}
		if r == "Refer" {
			m.Survives = "it allows nothing alone: to move or link a file takes the right to make one where it goes, and Landlock refuses a place where the file gains a right"
		}
		list = append(list, m)
	}
	return list
}
