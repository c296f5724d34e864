// Package fileops carries out file operations that come as lines of JSON:
// read, write, edit, list, glob, grep, stat, mkdir, rename and remove.
//
// [Serve] is the loop of the process that does them; [Open] makes the [Tree] it
// works on. [Parse] and [ParseAnswer] are for the process that passes requests
// on and keeps account of them.
//
// # Contract
//
// A relative path is looked up in the tree's directory and never leaves its
// root: not by "..", not by a symbolic link, not by one that replaces a
// directory meanwhile. An absolute path reaches what the process reaches. In
// both cases symbolic links are read and interpreted here, component by
// component: the kernel follows none, so no magic link of proc(5) leads
// anywhere. Only regular files are read and written; none is opened in a way
// that can wait, as a FIFO does.
//
// A file is replaced whole: what was written is on the disk before the name
// changes. Every answer is bounded, in entries and in bytes, and says where to
// go on. Every request gets one answer, a [Result] or an [Error].
//
// # Limits
//
// The package is no boundary: an absolute path reaches whatever the process may
// reach, so the process is to be confined. Requests run concurrently; who needs
// an order waits for the answer. A system call that hangs (a dead network file
// system) cannot be canceled.
package fileops
