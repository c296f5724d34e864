// Package tablegen generates the system call tables of package seccomp.
//
// Generate reads two sources and returns the generated Go files:
//   - numbers: the zsysnum_linux_*.go files of golang.org/x/sys/unix, themselves generated from the
//     kernel's asm/unistd.h of each architecture;
//   - argument widths: prototypes.txt, the C types that the kernel declares for each call's arguments
//     (SYSCALL_DEFINEn), as the running kernel prints them in tracefs
//     events/syscalls/sys_enter_*/format. The copy here is from Linux 6.18; extract.sh regenerates it.
//
// All of it is a test, which checks that the committed tables equal what Generate returns; with
// -update it rewrites them.
package tablegen
