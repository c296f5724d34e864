/*
 * floor: what a start costs at least. It makes namespaces, a root with mounts,
 * an init, Landlock rules and a command, and checks nothing: a measure, not a
 * sandbox.
 *
 *	floor DIR [ro:PATH | rw:PATH | tmpfs:PATH | mask:PATH]... -- COMMAND [ARG]...
 *
 * Paths are absolute, parents before what is below them. A mask is /dev/null, or
 * an empty directory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MS_REC
#define MS_NOSUID 2
#define MS_NODEV 4
#define MS_NOEXEC 8
#define MS_REC 16384
#define MS_PRIVATE (1 << 18)
#endif
#define MNT_DETACH 2

int mount(const char *, const char *, const char *, unsigned long, const void *);
int umount2(const char *, int);

static void must(long result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(125);
	}
}

static void text(const char *path, const char *format, int a, int b)
{
	char line[64];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	must(fd, path);
	must(write(fd, line, snprintf(line, sizeof line, format, a, b)), path);
	close(fd);
}

/* place makes what a mount is moved to, below the new root. */
static void place(char *path, int directory)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
	if (directory)
		mkdir(path, 0755);
	else
		close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

static void allow(int ruleset, const char *path, unsigned long long access)
{
	struct stat st;
	struct landlock_path_beneath_attr rule = { access, open(path, O_PATH | O_CLOEXEC) };
	if (rule.parent_fd < 0)
		return;
	fstat(rule.parent_fd, &st);
	if (!S_ISDIR(st.st_mode)) /* ACCESS_FILE, security/landlock/fs.c */
		rule.allowed_access &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE;
	must(syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0), path);
	close(rule.parent_fd);
}

int main(int argc, char **argv)
{
	int uid = getuid(), gid = getgid(), trees[256], last = 2;
	must(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP), "unshare");
	text("/proc/self/setgroups", "deny", 0, 0);
	text("/proc/self/uid_map", "%d %d 1", uid, uid);
	text("/proc/self/gid_map", "%d %d 1", gid, gid);
	pid_t init = fork();
	must(init, "fork");
	if (init > 0) {
		int status;
		waitpid(init, &status, 0);
		return WEXITSTATUS(status);
	}
	must(mount(0, "/", 0, MS_REC | MS_PRIVATE, 0), "private");
	for (; last < argc && last < 256 && strcmp(argv[last], "--"); last++) {
		struct mount_attr how = { .attr_set = MOUNT_ATTR_NOSUID };
		const char *from = strchr(argv[last], ':') + 1;
		struct stat st;
		trees[last] = -1;
		if (argv[last][0] == 't' || (argv[last][0] == 'm' && !stat(from, &st) && S_ISDIR(st.st_mode)))
			continue;
		if (argv[last][0] == 'm')
			from = "/dev/null";
		if (strncmp(argv[last], "rw:", 3))
			how.attr_set |= MOUNT_ATTR_RDONLY;
		trees[last] = syscall(SYS_open_tree, AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
		must(trees[last], argv[last]);
		must(syscall(SYS_mount_setattr, trees[last], "", AT_EMPTY_PATH | AT_RECURSIVE, &how, sizeof how), "mount_setattr");
	}
	must(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"), "tmpfs");
	must(chdir("/tmp"), "chdir");
	mkdir("proc", 0755);
	must(mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, 0), "proc");
	for (int i = 2; i < last; i++) {
		char path[4096], *name = strchr(argv[i], ':') + 1;
		struct stat st = { .st_mode = S_IFDIR };
		snprintf(path, sizeof path, ".%s", name);
		if (trees[i] >= 0)
			fstat(trees[i], &st);
		place(path, S_ISDIR(st.st_mode));
		if (trees[i] < 0)
			must(mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, 0), path);
		else
			must(syscall(SYS_move_mount, trees[i], "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH), path);
	}
	for (const char *link = "bin\0sbin\0lib\0lib64\0"; *link; link += strlen(link) + 1) {
		char to[32];
		snprintf(to, sizeof to, "usr/%s", link);
		must(symlink(to, link), link);
	}
	must(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	must(umount2(".", MNT_DETACH), "umount2");
	must(chdir(argv[1]), argv[1]);
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	must(ioctl(s, SIOCSIFFLAGS, &lo), "lo");
	close(s);
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	pid_t command = fork();
	must(command, "fork");
	if (command > 0) {
		int status;
		while (waitpid(command, &status, 0) < 0 && errno == EINTR)
			;
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	const unsigned long long reads = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
	struct landlock_ruleset_attr attr = { .handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 };
	int ruleset = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	must(ruleset, "landlock_create_ruleset");
	for (int i = 2; i < last; i++)
		allow(ruleset, strchr(argv[i], ':') + 1, argv[i][1] == 'o' ? reads : attr.handled_access_fs);
	allow(ruleset, "/proc", reads);
	must(syscall(SYS_landlock_restrict_self, ruleset, 0), "landlock_restrict_self");
	execvp(argv[last + 1], argv + last + 1);
	perror(argv[last + 1]);
	return 127;
}
