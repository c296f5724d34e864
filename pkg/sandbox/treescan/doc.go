// Package treescan lists a directory tree completely, and remembers it so that
// the next scan is cheap.
//
//	tree, err := treescan.Scan(ctx, root, options)   // every directory below root
//	err = tree.Save()                                // for the next process
//	later, err := tree.Rescan(ctx)                   // in this process
//
// # Contract
//
// The scan has no bound on depth, on directories or on entries: a directory that
// is not in [Tree.Places] has no entry of interest, is below one that
// [Options.Skip] left out, or is told in [Tree.Unreadable] together with all that
// lies below it. A directory that disappears meanwhile is no error.
//
// No symbolic link is followed, in root neither: give a resolved path. Each name
// is looked up below root, or below a directory that was found there and is kept
// open, with openat2(2) (RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS), whatever else
// renames directories meanwhile. Only directories are opened. File systems that are mounted in the tree are part of
// it; Linux has no other directory that could lead back into the tree, so a scan
// ends.
//
// # Memory
//
// The memory holds for each directory its device, inode, change and modification
// time, its sub-directories and its entries of interest. A directory whose four
// values are still the same is not listed again: one newfstatat(2) is all it costs.
// The claim behind it is that every later change of a directory's entries gives it
// another change time, which no system call sets. Where that is not known to be
// so, the directory is listed again:
//
//   - its change time is not yet over: it is not older than the coarse clock that
//     the kernel stamps inodes with (current_time, fs/inode.c);
//   - the file system keeps coarser times than nanoseconds (FAT, ext3, ext4 with
//     small inodes), its times are a server's (NFS, CIFS, 9p, FUSE), or its
//     directories are joined from others that change unseen (overlayfs): only the
//     file systems of [remembers] count;
//   - the clock was set back, or the machine started again, since the memory was
//     written;
//   - a sub-directory disappeared during the scan.
//
// A memory that is cut short, damaged, of another version, root or interest, or
// that somebody else owns or may write to, is not used. It must lie where nobody
// who may be lied to by it can be its author: outside of the tree.
//
// # Limits
//
// A tree that changes during the scan is seen as some mixture of before and after.
// A mount on a name that is not a directory's is not noticed: the type of an entry
// is the directory's word. Paths longer than [MaxPath] are told as unreadable.
package treescan
