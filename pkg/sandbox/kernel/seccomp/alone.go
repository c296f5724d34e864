package seccomp

import "syscall"

// Alone returns a profile for a command without namespaces, to be used in
// addition to [DenyPrivilege]. It denies what namespaces would separate: System
// V and POSIX IPC objects that have no file, changes of the limits and the
// priority of another process of the same user and, unless inet is set, every
// socket except Unix ones. It also denies, as far as a filter can, what a mount
// would prevent and no Landlock rule covers: set-group-ID bits, and inotify(7),
// which needs only the caller's permission and so reveals changes in
// directories that the command may not list. Calls about the caller itself,
// which name it by 0, are allowed. A thread that names itself by its number is
// denied too, because a filter does not know the number. kill(2) with -1 is
// compared in 32 bits, as the kernel reads a pid_t.
func Alone(inet bool) Profile {
	p := Profile{Name: "alone", Default: Allow, Rules: []Rule{
		{Calls: []string{
			"shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl",
			"mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
		}, Action: Errno(eNOSYS), Why: "the objects are the host's: sysvipc(7), mq_overview(7)"},
		{Calls: []string{"prlimit64"}, When: []Cond{{Arg: 0, Op: NotEqual, Value: 0}}, Action: Errno(ePERM), Why: "the limits of another process: prlimit(2) asks for its user id alone"},
		{Calls: []string{"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "migrate_pages", "move_pages"}, When: []Cond{{Arg: 0, Op: NotEqual, Value: 0}},
			Action: Errno(ePERM), Why: "another process, which may be the host's"},
		{Calls: []string{"setpriority", "ioprio_set"}, When: []Cond{{Arg: 1, Op: NotEqual, Value: 0}}, Action: Errno(ePERM), Why: "the priority of others: setpriority(2), ioprio_set(2)"},
		{Calls: []string{"kill"}, When: []Cond{{Arg: 0, Op: Equal, Value: 1<<32 - 1}}, Action: Errno(ePERM), Why: "every process of the user: kill(2)"},
		{Calls: []string{"setpriority"}, When: []Cond{{Arg: 0, Op: Equal, Value: prioUser}}, Action: Errno(ePERM), Why: "that of all processes of the user"},
		{Calls: []string{"ioprio_set"}, When: []Cond{{Arg: 0, Op: Equal, Value: ioprioWhoUser}}, Action: Errno(ePERM), Why: "that of all processes of the user"},
		{Calls: []string{"inotify_add_watch"}, Action: Errno(eNOSPC), Why: "watches what may not be listed; callers poll, as when no watches are left"},
	}}
	p.Rules = append(p.Rules, NoSetGroupID().Rules...)
	if !inet {
		p.Rules = append(p.Rules, Rule{Calls: []string{"socket"}, When: []Cond{{Arg: 0, Op: NotEqual, Value: afUnix}}, Action: Errno(ePERM), Why: "a network"})
	}
	return p
}

// NoSetGroupID returns a profile that denies set-group-ID bits, also on
// directories, because a filter cannot tell what chmod(2) is applied to. It is
// used in addition to [DenyPrivilege] if the group gives further rights:
// root's.
func NoSetGroupID() Profile {
	return Profile{Name: "no-set-group-id", Default: Allow, Rules: modeRules(sISGID, "leaves a set-group-ID program on the host, wherever the caller has a file")}
}

const (
	prioUser      = 2 // PRIO_USER, linux/resource.h
	ioprioWhoUser = 3 // IOPRIO_WHO_USER, linux/ioprio.h

	eNOSPC syscall.Errno = 28
)
