// Package view has what a command wrote into copy-on-write views of its writable
// directories: where the upper layers are kept, what they change, and how that is
// applied to the directories.
//
//	v, err := view.Create(place)   // before the command starts
//	changes, err := v.Changes(ctx) // when everything it started is dead
//	result := v.Apply(ctx, changes)
//	v.Remove()
//
// # Contract
//
// A view lies where no command sees it, in a directory of mode 0700. While it is
// open nobody else opens it.
//
// Changes are exact: every name at which there is another type, content, target or
// mode than in the directory, and no other. Times, owners and extended attributes
// do not count.
//
// Apply changes nothing outside of the directories, whatever links are in them,
// follows none, and replaces each file as a whole. It changes nothing that the
// command could not have changed without the view. What somebody changed since the
// view was created, or while it is applied, stays, and is told; of a git directory
// in which that happened, nothing is applied. What was applied for git or an agent
// to run outside is put aside as after any run: package quarantine.
//
// # Limits
//
// That somebody changed a file is seen by its change time, which is the kernel's
// clock: a view of a network file system is refused. Who has a file open for
// writing when it is replaced goes on writing to what it was. A new file has the
// caller as its owner, or where root applies it the owner that it has in the view,
// and no extended attributes.
package view
