// Package view manages copy-on-write views of a command's writable directories:
// where the upper layers are stored, what they change, and how the changes are
// applied to the directories.
//
//	v, err := view.Create(place)   // before the command starts
//	changes, err := v.Changes(ctx) // when everything it started is dead
//	result := v.Apply(ctx, changes)
//	v.Remove()
//
// # Contract
//
// A view is stored where no command can see it, in a directory of mode 0700.
// While it is open, no other process can open it.
//
// The list of changes is exact: every name whose type, content, target or mode
// differs from the directory, and no other. Times, owners and extended
// attributes are not compared.
//
// Apply changes nothing outside of the directories, whatever symbolic links
// they contain; it follows none, and replaces each file as a whole. It changes
// nothing that the command could not have changed without the view. What
// somebody else changed since the view was created, or during Apply, stays and
// is reported; if that happened in a git directory, nothing in it is applied.
// Applied files that git or an agent would run outside are quarantined as after
// any run: package quarantine.
//
// # Limits
//
// Changes by others are detected by the change time, which comes from the
// kernel's clock: a view of a network file system is refused. A process that
// has a file open for writing when it is replaced continues to write to the old
// file. A new file belongs to the caller or, if root applies it, to its owner
// in the view, and has no extended attributes.
package view
