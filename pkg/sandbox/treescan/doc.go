// Package treescan lists a directory tree completely, and saves the result so that the next scan is
// cheap.
//
//	tree, err := treescan.Scan(ctx, root, options)   // every directory below root
//	err = tree.Save()                                // for the next process
//	later, err := tree.Rescan(ctx)                   // in this process
//
// # Contract
//
// The scan has no limit on depth, directories or entries. A directory that is not in [Tree.Places]
// has no entry of interest, or is below one that [Options.Skip] left out, or is reported in
// [Tree.Unreadable] together with everything below it. A directory that disappears meanwhile is not
// an error.
//
// The scan follows no symbolic link, also not in root, which must be a resolved path. Each name is
// looked up below root, or below a directory that was found there and is kept open, with openat2(2)
// (RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS), even if other processes rename directories meanwhile.
// Only directories are opened. File systems mounted in the tree are part of it. Linux has no other
// kind of directory that could lead back into the tree, so a scan terminates.
//
// # Memory
//
// The memory is the saved result. It holds for each directory its device, inode, change time and
// modification time, its subdirectories and its entries of interest. A directory whose four values
// are unchanged is not listed again: it costs only one newfstatat(2). This relies on every later
// change of a directory's entries giving it a new change time, which no system call can set. If
// that is not certain, the directory is listed again:
//
//   - its change time is too recent: it is not older than the coarse clock that
//     the kernel stamps inodes with (current_time, fs/inode.c);
//   - the file system stores timestamps coarser than nanoseconds (FAT, ext3, ext4
//     with small inodes), its timestamps come from a server (NFS, CIFS, 9p, FUSE),
//     or its directories are merged from others that change unseen (overlayfs):
//     only the file systems of [remembers] count;
//   - the clock was set back, or the machine rebooted, since the memory was
//     written;
//   - a subdirectory disappeared during the scan.
//
// A memory is not used if it is truncated or damaged, made for another version, root or interest,
// or owned or writable by another user. It must be stored outside of the tree, where nobody can
// write whom it could be used against.
//
// # Limits
//
// If a tree changes during the scan, the result is some mixture of the states before and after. A
// mount on a name that is not a directory is not noticed: the type of an entry is taken from its
// directory. Paths longer than [MaxPath] are reported as unreadable.
package treescan
