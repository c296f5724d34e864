#!/bin/sh
# Prints prototypes.txt for the running kernel: each system call with the C types of its arguments.
# Needs root and CONFIG_FTRACE_SYSCALLS; mounts tracefs in a mount namespace of its own.
set -eu
if [ "${1:-}" != inside ]; then
	exec unshare --mount --propagation private "$0" inside
fi
mount -t tracefs tracefs /mnt
for format in /mnt/events/syscalls/sys_enter_*/format; do
	call=${format#/mnt/events/syscalls/sys_enter_}
	sed -n 's/.*field:\([^;]*\);.*/\1/p' "$format" | awk -v call="${call%/format}" '
		/common_|__syscall_nr/ { next }
		{ sub(/[A-Za-z0-9_]+$/, ""); gsub(/ \*/, "*"); sub(/ +$/, ""); list = list (list == "" ? "" : ", ") $0 }
		END { print call "(" list ")" }'
done | LC_ALL=C sort
