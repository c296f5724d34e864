// Package podman tests the programs inside containers of Podman: the attacks, egress by name, and
// what a person does there, with the engine's defaults and with options that take more away or
// less, as root and as an ordinary user inside. Who runs the tests has containers of their own:
// those of root are the machine's, those of an ordinary user are rootless.
//
// It exports nothing. make test-podman runs the tests, which have the build tag podman.
//
// The image is made of programs of this Debian machine and is kept, by its content, in the cache
// directory; no registry is asked. The programs of ethos and its test programs are built for each
// run, and mounted. What the engine stores is below that directory as well, and not among the
// containers of the person.
//
// # Limits
//
// It needs Debian's podman, crun or runc, uidmap for an ordinary user, and busybox-static. crun
// refuses a machine whose cgroup tree is hybrid, runc does not: the first that starts a container
// is used. Limits of resources are lowered, because who lacks CAP_SYS_RESOURCE may not raise them
// to the engine's defaults.
package podman
