//go:build lab

package lab

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"ethos/pkg/internal/probetest"
)

// Test programs of every full lane: the limits, and the attacks.
const (
	suiteDir   = "pkg/internal/lab/suite"
	attacksDir = "pkg/internal/escapes"
)

// commandDir has the test program of what users see. It runs on the newest kernel: what differs between kernels is in the other programs.
const commandDir = "cmd/ethos-sandbox"

// lane is one boot.
type lane struct {
	series, name string
	cmdline      string
	sysctls      map[string]string
	lacks        string   // what is not there, for the page
	packages     []string // of Debian, beside those of every guest
	prepare      [][]string
	programs     []string // directories of its test programs
	cases        []Case
}

func (l lane) String() string { return l.series + "/" + l.name }

// allSeries are the kernels.
var allSeries = []string{"6.1", "6.12"}

// lanes are all boots, those that take long first.
func lanes() (all []lane) {
	for _, series := range allSeries {
		for _, s := range standings {
			if series != allSeries[len(allSeries)-1] {
				s.programs = slices.DeleteFunc(slices.Clone(s.programs), func(dir string) bool { return dir == commandDir })
			}
			all = append(all, lane{series: series, name: s.name, programs: append([]string{suiteDir, attacksDir}, s.programs...), cases: s.full(series)})
		}
	}
	for _, series := range allSeries {
		for _, l := range append(slices.Clone(lacking), bubblewrapOnly) {
			l.series = series
			all = append(all, l)
		}
	}
	return all
}

// standing is who a full lane's cases run as, and what they may not go without.
type standing struct {
	name     string
	uid      uint32
	cgroup   string
	require  string   // ETHOS_REQUIRE
	limits   string   // the name of the tests of the suite that hold there
	programs []string // test programs beside the attacks and the limits, by package directory: each runs for each kernel, where it can tell most
	skip     string   // a pattern of those programs' tests that another standing runs
	attacks  []string // what is set in the environment of the attacks
	more     func(standing) []Case
}

// commands are the programs that a guest has, of those that tests need. What needs another one (perl, python3, jq) is left to the machine that
// builds the guests.
const commands = ",command:bash,command:dash,command:dbus-daemon,command:git,command:setsid"

var standings = []standing{
	{name: "root", uid: RootUID, cgroup: CgroupRoot, require: "root,userns,seccomp,landlock,cgroup" + commands, limits: "TestHeld",
		programs: []string{"pkg/sandbox", "pkg/sandbox/kernel/cgroup"}, skip: pure + "|" + long, more: rootCases},
	{name: "delegated", uid: UserUID, cgroup: CgroupDelegated, require: "user,userns,seccomp,landlock,cgroup" + commands, limits: "TestHeld",
		programs: []string{"pkg/sandbox/kernel/cgroup"}, skip: pure, attacks: []string{"ETHOS_TEST_CONTROLS=off"}, more: delegatedCases}, // the ordinary user has them
	{name: "ordinary", uid: UserUID, cgroup: CgroupForeign, require: "user,userns,seccomp,landlock" + commands, limits: "TestLack",
		programs: []string{"pkg/sandbox", "pkg/sandbox/kernel/seccomp", "pkg/sandbox/kernel/landlock", "pkg/sandbox/kernel/limits", commandDir}, skip: pure},
}

// Patterns of tests that a guest leaves out: emulation makes them slow.
const (
	pure = `^Fuzz|^TestPlan|^TestOutput$|^TestSampleIsBounded$|^TestLongJumps$|^TestAPI$|^Example|^TestEscapesEmbedded$|^TestEscapesDebugging$|^TestEscapesForeign$` // ask no more of the kernel than others
	long = `^TestEverySystemCall$|^TestSwaps$|^TestEscapesInSession$|^TestEscapesReleased$|^TestSessionThousand$`                                                    // tell the same of root, and of the second kernel
)

// allPrograms are the directories of all test programs.
func allPrograms() []string {
	all := []string{suiteDir, attacksDir}
	for _, s := range standings {
		all = append(all, s.programs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// newer are the needs that only a series and its successors meet.
var newer = map[string]string{"6.1": "", "6.12": upTo612, laterSeries: upTo612 + ",landlock-abi-9"}

const upTo612 = ",landlock-abi-3,landlock-abi-4,landlock-abi-6"

// laterSeries is of Debian's unstable. It has what no kernel of a release has: from ABI 8 of Landlock on.
const laterSeries = "7.2"

// laterLane is the boot of a kernel of laterSeries: what depends on the kernel's Landlock.
func laterLane() lane {
	s := standings[2]
	s.require += newer[laterSeries]
	s.skip += "|" + long
	landlock := "pkg/sandbox/kernel/landlock"
	return lane{series: laterSeries, name: s.name, programs: []string{attacksDir, landlock}, cases: []Case{
		s.shell("probe", "ethos-sandbox probe"), s.shell("pipe", pipe), s.shell("support", support), s.escapes(), s.test("landlock", landlock, ""),
	}}
}

// full are the cases of a standing: the attacks, the limits, test programs, what probe says, and the pipe.
func (s standing) full(series string) []Case {
	s.require += newer[series]
	if series != allSeries[0] {
		s.skip += "|" + long
	}
	cases := []Case{s.shell("probe", "ethos-sandbox probe"), s.shell("pipe", pipe), s.shell("support", support)}
	cases = append(cases, s.escapes(), s.limit("limits-suite", s.cgroup, s.limits))
	if s.more != nil {
		cases = append(cases, s.more(s)...)
	}
	for _, dir := range s.programs {
		cases = append(cases, s.test(path.Base(dir), dir, ""))
	}
	return cases
}

// test is a case for the tests of a package whose names begin with prefix.
func (s standing) test(name, dir, prefix string, args ...string) Case {
	return Case{
		Name: name, UID: s.uid, Cgroup: s.cgroup, Timeout: caseTimeout, Dir: "/src/" + dir,
		Argv:  append([]string{"/src/" + dir + "/test", "-test.v", "-test.timeout=" + testTimeout.String(), "-test.run=^" + prefix, "-test.skip=" + s.skip}, args...),
		Env:   append(environ(s.uid), "ETHOS_REQUIRE="+s.require, onePass),
		Tests: testNames(dir, prefix, s.skip),
	}
}

// A guest on a loaded machine is slow. Only one that hangs may meet these.
const (
	testTimeout = 20 * time.Minute
	caseTimeout = testTimeout + time.Minute
)

// escapes are the attacks, as the user of the lane alone.
func (s standing) escapes() Case {
	who := map[bool]string{true: "root", false: "user"}[s.uid == RootUID]
	c := s.test("escapes", attacksDir, "", "-test.run=/^"+who+"$")
	c.Env = append(c.Env, slices.Concat(s.attacks, []string{"ETHOS_TEST_RELEASED=/usr/local/bin/ethos-sandbox"})...)
	c.Tests = append(c.Tests, attackNames(who, s.require)...)
	return c
}

// onePass keeps tests from running a second time as another user, which is what the next lane does.
const onePass = probetest.OneUser + "=1"

// limit is a case for the suite in a cgroup of the given kind.
func (s standing) limit(name, cgroup, tests string) Case {
	c := s.test(name, suiteDir, tests)
	c.Cgroup = cgroup
	return c
}

func (s standing) shell(name, script string) Case {
	return Case{
		Name: name, UID: s.uid, Cgroup: s.cgroup, Timeout: caseTimeout, Dir: "/tmp", Env: environ(s.uid),
		Argv: []string{"/bin/sh", "-ec", "mkdir ~/" + name + "; cd ~/" + name + "; " + script},
	}
}

func rootCases(s standing) []Case {
	return []Case{readOnlyCgroups(s.limit("limits-read-only", CgroupRoot, "TestLack"))}
}

func delegatedCases(s standing) []Case {
	return []Case{
		s.limit("limits-withheld", CgroupWithheld, "TestLack"),
		s.limit("limits-populated", CgroupPopulated, "TestLack"),
		readOnlyCgroups(s.limit("limits-read-only", CgroupDelegated, "TestLack")),
	}
}

// readOnlyCgroups runs a case where the cgroup file system is mounted read-only, as in most containers.
func readOnlyCgroups(c Case) Case {
	return within(c, "mount -o remount,bind,ro /sys/fs/cgroup", "--mount")
}

// masked runs a case where parts of /proc are covered, as in most containers: the kernel then refuses another /proc (mount_too_revealing in fs/namespace.c).
func masked(c Case) Case {
	return within(c, "mount -t proc proc /proc; mount --bind /dev/null /proc/kcore; mount --bind /proc/sys /proc/sys; mount -o remount,bind,ro /proc/sys", "--mount", "--pid", "--fork")
}

// within runs the case in namespaces that root prepares with a script.
func within(c Case, script string, namespaces ...string) Case {
	drop := fmt.Sprintf("exec setpriv --reuid=%d --regid=%d --clear-groups -- \"$@\"", c.UID, c.UID)
	outer := append([]string{"/usr/bin/unshare"}, namespaces...)
	outer = append(outer, "/bin/sh", "-ec", script+"; "+drop, "sh")
	c.UID, c.Owner, c.Argv = RootUID, c.UID, append(outer, c.Argv...)
	return c
}

// pipe is a real command through the four programs, and one that tries to leave.
const pipe = `git init -q .; echo words > file; echo the secret > ~/secret
records=$HOME/records
trap 'cat $records' EXIT
ethos-facts -- git status --porcelain | ethos-decide | ethos-sandbox > $records
grep -q '"result":{"status":"exited","exit_code":0' $records
grep -q '"stream":"stdout","text":"?? file\\n"' $records
ethos-facts -- sh -c 'cat ~/secret' | ethos-decide | ethos-sandbox > $records || true
! grep -q 'the secret' $records
ethos-facts -- touch allowed | ethos-decide | ethos-sandbox > $records
test -e allowed
trap - EXIT`

// support prints the evidence of a run that asks for everything, for docs/kernel-support.md.
const support = `ethos-sandbox run --memory 256M --cpu 100 --pids 100 --timeout 1m --evidence ../evidence -- true
printf '\n` + supportMark + `'; cat ../evidence`

const supportMark = "evidence: "

// lacking are boots without a feature: what is asked and cannot be enforced ends before the command, with a hint.
var lacking = []lane{
	{
		name: "no-landlock", lacks: "Landlock is switched off at boot, and `--require landlock`", cmdline: "lsm=lockdown,capability,yama",
		cases: []Case{ordinary.shell("refused", refusal("--require landlock", "landlock")), ordinary.shell("probe", withoutLandlock)},
	},
	{
		name: "no-user-namespaces", lacks: "`user.max_user_namespaces=0`", sysctls: map[string]string{"user/max_user_namespaces": "0"},
		cases: withoutNamespaces("user.max_user_namespaces"),
	},
	{
		name: "no-unprivileged-user-namespaces", lacks: "`kernel.unprivileged_userns_clone=0`", sysctls: map[string]string{"kernel/unprivileged_userns_clone": "0"},
		cases: withoutNamespaces("kernel.unprivileged_userns_clone"),
	},
	{
		name: "masked-proc", lacks: "around the sandbox, parts of `/proc` are covered, as in most containers, and `--require mount`",
		cases: []Case{
			masked(ordinary.shell("refused", refusal("--require mount", "systempaths"))), masked(ordinary.shell("bare", bareProc)),
			masked(ordinary.shell("probe", "ethos-sandbox probe | tee said; grep -q 'degraded *mount: .*/proc' said")),
		},
	},
}

// bubblewrapOnly is a machine on which nobody can make a user namespace but Debian's bubblewrap, by its set-user-ID bit. What native is refused, the
// backend bwrap does, with the attacks that it is to hold.
var bubblewrapOnly = lane{
	name: "bubblewrap-only", sysctls: map[string]string{"user/max_user_namespaces": "0"}, packages: []string{"bubblewrap"}, prepare: [][]string{{"chmod", "u+s", "/usr/bin/bwrap"}, {"chmod", "go-w", "/"}},
	programs: []string{attacksDir},
	cases: []Case{
		ordinary.shell("native", refusal("", "backend bwrap")), ordinary.shell("bwrap", byBwrap), ordinary.shell("probe-bwrap", "ethos-sandbox probe > said || test $? = 4; cat said; grep 'bwrap' said"),
	},
}

// byBwrap is the way out that the refusal names.
const byBwrap = `echo the secret > ~/secret; said=$HOME/said
ethos-sandbox run --backend bwrap --evidence ../evidence -- sh -c 'touch marker; cat ~/secret' > $said 2>&1 && got=0 || got=$?; cat $said; echo status $got
if grep -q 'the secret' $said; then exit 1; fi
test $got = 1; test -e marker; grep -q '"backend":"bwrap"' ../evidence; grep -q '"name":"userns",[^}]*"state":"absent"' ../evidence
grep -q '"name":"seccomp",[^}]*"state":"enforced"' ../evidence; grep -q '"name":"pid",[^}]*"state":"enforced"' ../evidence
`

// ordinary is who meets the lack.
var ordinary = standing{uid: UserUID, cgroup: CgroupForeign}

// withoutLandlock : its claims are held by the mount table, so the default profile holds, and what is absent is named.
const withoutLandlock = `ethos-sandbox probe | tee said; grep -q 'absent *landlock: .*lsm=' said
ethos-sandbox run --evidence ../evidence -- touch marker; test -e marker; grep -q '"name":"landlock",[^}]*"state":"absent"' ../evidence`

// bareProc : what does not require a whole /proc runs, sees no process but its own, and the evidence says so; the same in the pipe.
const bareProc = `sleep 1000 & outside=$!
ethos-sandbox run --evidence ../evidence -- sh -c 'echo /proc/[0-9]*; touch marker' > seen; kill $outside; cat seen
test -e marker; test "$(cat seen)" = '/proc/[0-9]*' || test "$(cat seen)" = '/proc/1 /proc/2'
grep -q '"name":"mount",[^}]*"state":"degraded"' ../evidence
ethos-facts -- touch another | ethos-decide | ethos-sandbox > ../record; test -e another; grep -q '"name":"mount",[^}]*"state":"degraded"' ../record`

func withoutNamespaces(hint string) []Case {
	return []Case{ordinary.shell("refused", refusal("", hint)+piped(hint)), ordinary.shell("probe", failingProbe(hint)), ordinary.shell("landlock", byLandlock)}
}

// byLandlock is the way out that the refusal names: the backend that makes no namespace.
// It needs ABI 3 of Landlock, which Linux 6.1 has not.
const byLandlock = `echo the secret > ~/secret; said=$HOME/said
ethos-sandbox run --backend landlock --evidence ../evidence -- sh -c 'touch marker; cat ~/secret' > $said 2>&1 && got=0 || got=$?; cat $said; echo status $got
if grep -q 'the secret' $said; then exit 1; fi
case $(uname -r) in
6.1.*) test $got = 125; test ! -e marker; grep -q 'hint: use Linux 6.2' $said ;;
*) test $got = 1; test -e marker; grep -q '"backend":"landlock"' ../evidence ;;
esac
`

// failingProbe wants the status and a hint of a machine that cannot enforce the default profile.
func failingProbe(hint string) string {
	return "ethos-sandbox probe > said && got=0 || got=$?; cat said; test $got = 4; grep -q 'hint: .*" + hint + "' said"
}

// refusal runs a command that leaves a marker, and wants status 125, a hint and no marker.
func refusal(flags, hint string) string {
	return strings.NewReplacer("FLAGS", flags, "HINT", hint).Replace(`said=$HOME/said
ethos-sandbox run FLAGS -- touch marker 2>$said && got=0 || got=$?; cat $said; echo status $got
test $got = 125; test ! -e marker; grep -q 'hint: ' $said; grep -q 'HINT' $said
`)
}

// piped is a refusal in the pipe.
func piped(hint string) string {
	return strings.ReplaceAll(`ethos-facts -- touch marker | ethos-decide | ethos-sandbox > $said && got=0 || got=$?; cat $said; echo status $got
test $got != 0; test ! -e marker; grep -q '"status":"denied"' $said; grep -q '"hint":"[^"]*HINT' $said`, "HINT", hint)
}

func environ(uid uint32) []string {
	home := "/root"
	if uid != RootUID {
		home = "/home/user"
	}
	return []string{"PATH=/usr/local/bin:/usr/bin", "HOME=" + home, "LANG=C.UTF-8", "TMPDIR=/tmp"}
}
