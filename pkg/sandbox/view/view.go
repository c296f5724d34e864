package view

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"crypto/sha256"
	"encoding/hex"

	"ethos/pkg/record"
)

// Folder is the folder of views in the state folder (package statedir).
const Folder = "views"

// ErrNoUpper says that no file system was found that supports an upper layer.
var ErrNoUpper = errors.New("no directory can carry the upper layer of a copy-on-write view")

// Change is one name at which the view differs.
type Change struct {
	Root  int    // index of the view's root
	Rel   string // path relative to the root, "" for the root itself
	Path  string // the full path
	Op    string // as in a record
	Type  string
	Was   string // "" if nothing was there
	Mode  uint32 // permissions
	Size  int64
	Sum   string // SHA-256 of a file, in hex; "" for one that was not read
	To    string // target of a symlink
	Link  string // another path of the same file
	lower stamp  // the directory's own version
	upper stamp  // the view's version
	since bool   // somebody changed the directory's version since the view was created
	below int    // for a directory that only the view has: the number of changes in it
	attrs attrs  // extended attributes of the view's version
	stays bool   // a directory around it is opaque, which would hide the lower version
	holes bool   // it was not read, because it is too long for what it occupies
}

// attrs says which extended attributes a file of the upper layer has.
type attrs int

const (
	noAttrs    attrs = iota
	opaqueMark       // only the mark of a directory that hides the lower one
	otherAttrs
)

// Left is a change that was not applied.
type Left struct {
	Change
	Reason   string
	Conflict bool // somebody else changed the file
	Closed   bool // the command could not have changed it without the view
}

// stamp identifies one state of a file.
type stamp struct {
	Dev, Ino   uint64
	Mode       uint32
	Size       int64
	occupied   int64 // bytes on the disk
	Mtime      [2]int64
	Ctime      [2]int64
	names      uint64 // hard links
	there, own bool
}

// same reports whether at most the change time differs: rename(2) sets it.
func (s stamp) same(other stamp) bool {
	return s.Dev == other.Dev && s.Ino == other.Ino && s.Mode == other.Mode && s.Size == other.Size && s.Mtime == other.Mtime
}

// Result is the outcome of applying changes.
type Result struct {
	Applied []Change
	Left    []Left
	Found   []record.Denial // quarantined after it was applied
}

// Write returns the change in the form of a record.
func (c Change) Write() record.Write {
	w := record.Write{Path: c.Path, Op: c.Op, Type: c.Type, Was: c.Was, Size: c.Size, SHA256: c.Sum, Target: strings.ToValidUTF8(c.To, "�"), Link: strings.ToValidUTF8(c.Link, "�")}
	if c.Op != record.WriteDeleted {
		w.Mode = octal(c.Mode)
	}
	if !utf8.ValidString(c.Path) {
		w.Path, w.PathBase64 = strings.ToValidUTF8(c.Path, "�"), base64.StdEncoding.EncodeToString([]byte(c.Path))
	}
	return w
}

func octal(mode uint32) string {
	const digits = "01234567"
	return string([]byte{digits[mode>>9&7], digits[mode>>6&7], digits[mode>>3&7], digits[mode&7]})
}

// Writes returns the summary for the evidence: at most most single changes, and
// a hash of all of them.
func Writes(changes []Change, most int) *record.Writes {
	w := &record.Writes{List: []record.Write{}}
	sum := sha256.New()
	lines := json.NewEncoder(sum)
	for i, c := range changes {
		one := c.Write()
		lines.Encode(one) // writing to a hash cannot fail
		switch c.Op {
		case record.WriteCreated:
			w.Created++
		case record.WriteModified:
			w.Modified++
		default:
			w.Deleted++
		}
		if c.Op != record.WriteDeleted {
			w.Bytes += c.Size
		}
		if i < most {
			w.List = append(w.List, one)
		}
	}
	w.More = len(changes) - len(w.List)
	w.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return w
}

// Below returns the changes at or below the paths, or all changes if paths is
// empty. It includes directories that a selected change needs.
func Below(changes []Change, paths []string) []Change {
	if len(paths) == 0 {
		return changes
	}
	within := func(path, dir string) bool {
		return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		return !slices.ContainsFunc(paths, func(p string) bool {
			return within(c.Path, p) || c.Op == record.WriteCreated && c.Type == "directory" && within(p, c.Path)
		})
	})
}
