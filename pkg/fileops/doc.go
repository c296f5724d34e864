// Package fileops performs file operations that it reads as lines of JSON: read, write, edit, list,
// glob, grep, stat, mkdir, rename and remove.
//
// Begin with [Serve], the loop of the process that performs them, and [Open], which returns the
// [Tree] that it works on. [Parse] and [ParseAnswer] are for the process that forwards requests and
// keeps track of them.
//
// # Contract
//
// A relative path starts at the tree's directory and never leaves its root: not by "..", not by a
// symbolic link, and not by a link that replaces a directory during the operation. An absolute path
// reaches whatever the process can reach. In both cases the package itself reads and resolves
// symbolic links, component by component. The kernel follows none, so no magic link of proc(5)
// leads anywhere. Only regular files are read and written, and no file is opened in a way that can
// block, as a FIFO does.
//
// A file is replaced as a whole: the new content is on the disk before the name changes. Every
// answer is limited in entries and in bytes, and says where to continue. Every request gets one
// answer, a [Result] or an [Error].
//
// # Limits
//
// The package is not a boundary: an absolute path reaches whatever the process may reach, so the
// process must be confined. Requests run concurrently; a caller that needs an order must wait for
// each answer. A system call that hangs (a dead network file system) cannot be canceled.
package fileops
