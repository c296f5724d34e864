//go:build lab

package lab

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// programs are the test programs that every full lane runs, by package directory.
var programs = []string{
	"pkg/sandbox", "pkg/sandbox/seccomp", "pkg/sandbox/landlock", "pkg/sandbox/cgroup", "pkg/sandbox/limits", "cmd/ethos-sandbox",
}

// suite is the test program of the limits.
const suite = "pkg/internal/lab/suite"

// standing is who a full lane's cases run as, and what they may not go without.
type standing struct {
	name    string
	uid     uint32
	cgroup  string
	require string // ETHOS_REQUIRE
	limits  string // which tests of the suite hold there
	more    func(standing) []Case
}

var standings = []standing{
	{"root", RootUID, CgroupRoot, "root,userns,seccomp,landlock,cgroup,command", "^TestHeld", rootCases},
	{"delegated", UserUID, CgroupDelegated, "user,userns,seccomp,landlock,cgroup,command", "^TestHeld", delegatedCases},
	{"ordinary", UserUID, CgroupForeign, "user,userns,seccomp,landlock,command", "^TestLack", ordinaryCases},
}

// newer are the needs that only a series and its successors meet.
var newer = map[string]string{"6.1": "", "6.12": ",landlock-abi-4,landlock-abi-6"}

// full are the cases of a standing: every test program, the limits, what probe says, and the pipe.
func (s standing) full(series string) (cases []Case) {
	s.require += newer[series]
	for _, dir := range programs {
		cases = append(cases, s.test(path.Base(dir), dir))
	}
	cases = append(cases, s.limit("limits-suite", s.cgroup, s.limits))
	cases = append(cases, s.more(s)...)
	return append(cases, s.shell("probe", "ethos-sandbox probe"), s.shell("pipe", pipe), s.shell("support", support))
}

// test is a case for the test program of a package.
func (s standing) test(name, dir string, args ...string) Case {
	return Case{
		Name: name, UID: s.uid, Cgroup: s.cgroup, Timeout: 5 * time.Minute, Dir: "/src/" + dir,
		Argv: append([]string{"/src/" + dir + "/test", "-test.v", "-test.timeout=4m"}, args...),
		Env:  append(environ(s.uid), "ETHOS_REQUIRE="+s.require, onePass),
	}
}

// onePass keeps pkg/sandbox's tests from running a second time as another user, which is what the next lane does.
const onePass = "ETHOS_TEST_AS_USER=1"

// limit is a case for the suite in a cgroup of the given kind.
func (s standing) limit(name, cgroup, tests string) Case {
	c := s.test(name, suite, "-test.run="+tests)
	c.Cgroup = cgroup
	return c
}

func (s standing) shell(name, script string) Case {
	return Case{
		Name: name, UID: s.uid, Cgroup: s.cgroup, Timeout: time.Minute, Dir: "/tmp", Env: environ(s.uid),
		Argv: []string{"/bin/sh", "-ec", "mkdir ~/" + name + "; cd ~/" + name + "; " + script},
	}
}

func rootCases(s standing) []Case {
	return []Case{readOnlyCgroups(s.limit("limits-read-only", CgroupRoot, "^TestLack"))}
}

func delegatedCases(s standing) []Case {
	return []Case{
		s.limit("limits-withheld", CgroupWithheld, "^TestLack"),
		s.limit("limits-populated", CgroupPopulated, "^TestLack"),
		readOnlyCgroups(s.limit("limits-read-only", CgroupDelegated, "^TestLack")),
	}
}

func ordinaryCases(s standing) []Case {
	return []Case{masked(s.shell("nested", refusal("", "/proc")+piped("/proc")))}
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

// lacking is a boot without a feature: what is asked and cannot be enforced ends before the command, with a hint.
type lacking struct {
	name, cmdline string
	sysctls       map[string]string
	scripts       map[string]string
}

var lacks = []lacking{
	{"no-landlock", "lsm=lockdown,capability,yama", nil, map[string]string{"refused": refusal("--require landlock", "landlock"), "probe": withoutLandlock}},
	{"no-user-namespaces", "", map[string]string{"user/max_user_namespaces": "0"}, withoutNamespaces("user.max_user_namespaces")},
	{"no-unprivileged-user-namespaces", "", map[string]string{"kernel/unprivileged_userns_clone": "0"}, withoutNamespaces("kernel.unprivileged_userns_clone")},
}

// withoutLandlock : its claims are held by the mount table, so the default profile holds, and what is absent is named.
const withoutLandlock = `ethos-sandbox probe | tee said; grep -q 'absent *landlock: .*lsm=' said
ethos-sandbox run --evidence ../evidence -- touch marker; test -e marker; grep -q '"name":"landlock",[^}]*"state":"absent"' ../evidence`

func withoutNamespaces(hint string) map[string]string {
	return map[string]string{
		"refused": refusal("", hint) + piped(hint),
		"probe":   "ethos-sandbox probe > said && got=0 || got=$?; cat said; test $got = 4; grep -q 'hint: .*" + hint + "' said",
	}
}

func (l lacking) cases() (cases []Case) {
	s := standing{uid: UserUID, cgroup: CgroupForeign}
	for _, name := range slices.Sorted(maps.Keys(l.scripts)) {
		cases = append(cases, s.shell(name, l.scripts[name]))
	}
	return cases
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
