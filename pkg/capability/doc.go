// Package capability describes what a command may use of the machine: the [Set], its fields, and
// how sets are written, composed and compared.
//
// Begin with [Effective], which composes the set of an action from a tool's declaration, a profile,
// a repository's configuration and a person's grants. [Narrow] returns what both of two sets allow;
// [Widens] names the fields in which one set exceeds another.
//
// A request to the sandbox is a set on top of another ([Asked]): the set of a record, or the values
// of flags on top of a profile.
//
// Every field has one row in one table. Parsing ([Written]), grants ([Grant]), flags ([FromFlags]),
// composition and comparison use the rows: a new field is a new row, and its member in the record.
//
// # Contract
//
// For all parents p and children c: Widens(p, Narrow(p, c)) is empty, whatever c says, on every
// field. Narrow(p, c) allows what c allows if Widens(p, c) is empty. The only list that grows is
// GrantedBy, which records provenance and grants nothing. Only a repository's configuration,
// --profile and --grant widen, and each widening is named in GrantedBy.
//
// # Semantics of the path lists
//
// A path is absolute, relative to the work space ("." is the work space itself), or begins with "~"
// (the home directory). A trailing "?" marks a path that may be missing. An entry applies to the
// tree below it. For a given path the most specific entry applies, whatever its position in the
// list. Of several entries for the same directory, a deny overrides a grant, and a write overrides
// a read:
//
//   - read_paths: the tree can be read, and not written;
//   - write_paths: the tree can be read and written;
//   - deny_read_paths hides the tree, so that it can be neither read nor written;
//   - allow_read_within_deny removes a deny_read of a directory above, and grants nothing by
//     itself;
//   - deny_write_paths: the tree cannot be written.
//
// If no entry applies, the default of the sandbox does (system trees are readable, the rest is
// absent). ${VAR:-default} stands for an environment variable of the caller, which [Expand]
// substitutes.
//
// # Limits
//
// Paths are compared as text after the work space and the home directory are substituted. The
// sandbox resolves symbolic links. Paths with a variable, such as ${GOCACHE:-~/.cache/go-build},
// are equal only if they are written alike.
package capability
