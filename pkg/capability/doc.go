// Package capability is what a command may use of the machine: the [Set], its
// fields, and how sets are written, composed and compared.
//
// [Effective] composes the set of an action out of a tool's declaration, a
// profile, a repository's configuration and a person's grants. [Narrow] gives
// what both of two sets allow; [Widens] names the fields in which one goes past
// another.
//
// What the sandbox is asked for is a set on top of another ([Asked]): a
// record's, or what flags say on top of a profile.
//
// Every field has one row in one table. Parsing ([Written]), grants ([Grant]),
// flags ([FromFlags]), composition and order go by the rows: a new field is a
// row, and its member in the record.
//
// # Contract
//
// For all parents p and children c: Widens(p, Narrow(p, c)) is empty, whatever
// c says, on every field. Narrow(p, c) allows what c allows when Widens(p, c)
// is empty. The only list that grows is GrantedBy, which is provenance and has
// no power. Nothing widens but a repository's configuration, --profile and
// --grant, and each widening is named in GrantedBy.
//
// # Reading the path lists
//
// A path is absolute, relative to the work space ("." is the work space
// itself), or begins with "~" (the home directory); a trailing "?" marks one
// that may be missing. Entries say something about the tree below them. For one
// path the most specific entry holds, whatever its place in the list, and of
// several for the same directory a deny holds over a grant and a write over a
// read:
//
//   - read_paths lets the tree be read, and not written;
//   - write_paths lets the tree be read and written;
//   - deny_read_paths hides the tree, so that it can be neither read nor written;
//   - allow_read_within_deny lifts a deny_read of a directory above, and grants nothing by itself;
//   - deny_write_paths keeps the tree from being written.
//
// Where no entry holds, the tree is as the sandbox has it by default (system
// trees readable, the rest absent). ${VAR:-default} stands for an environment
// variable of the caller; [Expand] puts it in.
//
// # Limits
//
// Paths are compared as text after the work space and the home directory are
// put in; symbolic links are the sandbox's affair. Paths with a variable, such
// as ${GOCACHE:-~/.cache/go-build}, are equal only when they are written alike.
package capability
