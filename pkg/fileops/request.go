package fileops

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"syscall"

	"ethos/pkg/record"
)

// Request is one line of the input. The schema says which fields an operation takes; any other
// field is an error.
type Request struct {
	ID     string `json:"id" required:"true"` // chosen by the caller, 1 to 128 bytes; unique among the running requests
	Op     string `json:"op"`                 // absent if Cancel is present
	Cancel string `json:"cancel"`             // the id of a request to cancel

	Path      string   `json:"path"`             // default: the tree's directory, for list, glob and grep
	To        string   `json:"to"`               // rename: the new name
	Text      *string  `json:"text,omitempty"`   // write: the content, or
	Base64    *string  `json:"base64,omitempty"` // write: the content when it is not UTF-8
	Unit      string   `json:"unit"`             // read: of offset and limit, "lines" (default) or "bytes"
	Offset    int64    `json:"offset"`           // read: the first line, from 1, or byte, from 0
	Limit     int64    `json:"limit"`            // read, list, glob, grep: at most so many lines, bytes, entries or matches; default and most: what an answer holds
	Old       string   `json:"old"`              // edit: the text to replace
	New       *string  `json:"new,omitempty"`    // edit: the replacement
	All       bool     `json:"all"`              // edit: every occurrence; otherwise there must be exactly one
	Pattern   string   `json:"pattern"`          // glob: with **; grep: a regular expression of Go
	Glob      string   `json:"glob"`             // grep: only files whose path, below Path, matches
	Recursive bool     `json:"recursive"`        // list, remove: with everything below
	Skip      []string `json:"skip,omitempty"`   // list, glob, grep: names not entered; default: .git
	After     string   `json:"after"`            // list, glob, grep: "next" of the previous answer
	Parents   bool     `json:"parents"`          // write, mkdir: creates missing directories above
	Exclusive bool     `json:"exclusive"`        // write: the file must not exist
	Replace   bool     `json:"replace"`          // rename: replaces an existing regular file
}

const (
	maxID      = 128
	maxPath    = 4095 // PATH_MAX without its NUL: limits.h
	maxPattern = 1024
	maxSkip    = 64
)

// accepted is an operation with the fields it takes besides id and op. Those with a "!" are
// required.
type accepted struct {
	name  string
	takes []string
}

var operations = [...]accepted{
	{"read", []string{"path!", "unit", "offset", "limit"}},
	{"write", []string{"path!", "content!", "parents", "exclusive"}},
	{"edit", []string{"path!", "old!", "new!", "all"}},
	{"list", []string{"path", "recursive", "skip", "limit", "after"}},
	{"glob", []string{"path", "pattern!", "skip", "limit", "after"}},
	{"grep", []string{"path", "pattern!", "glob", "skip", "limit", "after"}},
	{"stat", []string{"path!"}},
	{"mkdir", []string{"path!", "parents"}},
	{"rename", []string{"path!", "to!", "replace"}},
	{"remove", []string{"path!", "recursive"}},
}

// given lists the fields that are present, in the order of the struct.
func (r *Request) given() []string {
	var names []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"path", r.Path != ""}, {"to", r.To != ""}, {"content", r.Text != nil || r.Base64 != nil}, {"unit", r.Unit != ""},
		{"offset", r.Offset != 0}, {"limit", r.Limit != 0}, {"old", r.Old != ""}, {"new", r.New != nil}, {"all", r.All},
		{"pattern", r.Pattern != ""}, {"glob", r.Glob != ""}, {"recursive", r.Recursive}, {"skip", r.Skip != nil}, {"after", r.After != ""},
		{"parents", r.Parents}, {"exclusive", r.Exclusive}, {"replace", r.Replace},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return names
}

// Parse decodes one request. The error is a [*record.BadLine] for a line that is not a request; its
// ID is set if the line has a valid one.
func Parse(line []byte) (*Request, error) {
	r := &Request{}
	if err := record.DecodeStrict(line, r); err != nil {
		var bad *record.BadLine
		if errors.As(err, &bad) {
			bad.ID = idOf(line)
			bad.Message = strings.ReplaceAll(bad.Message, " in schema "+record.Schema, "")
		}
		return nil, err
	}
	if err := r.check(); err != "" {
		bad := record.NewBadLine(record.CodeWrongValue, err, line)
		if validID(r.ID) {
			bad.ID = r.ID
		}
		return nil, bad
	}
	return r, nil
}

// idOf returns the id of a line that is JSON but not a request, or "".
func idOf(line []byte) string {
	d, err := record.ParseDocument(line)
	if err != nil || !d.IsObject() {
		return ""
	}
	if id := d.Get("id"); id.Type.String() == "String" && validID(id.Str) {
		return id.Str
	}
	return ""
}

func validID(id string) bool { return id != "" && len(id) <= maxID }

// check returns what is wrong with the request, or "".
func (r *Request) check() string {
	given := r.given()
	op := slices.IndexFunc(operations[:], func(o accepted) bool { return o.name == r.Op })
	switch {
	case !validID(r.ID):
		return "id: want 1 to 128 bytes"
	case r.Cancel != "" && (r.Op != "" || len(given) > 0):
		return "cancel: allows no member beside it but id"
	case r.Cancel != "":
		return ""
	case op < 0:
		return "op: want read, write, edit, list, glob, grep, stat, mkdir, rename or remove"
	}
	takes := operations[op].takes
	for _, name := range takes {
		if must, ok := strings.CutSuffix(name, "!"); ok && !slices.Contains(given, must) {
			if must == "content" {
				must = "text or base64"
			}
			return r.Op + ": missing: " + must
		}
	}
	for _, name := range given {
		if !slices.Contains(takes, name) && !slices.Contains(takes, name+"!") {
			return r.Op + ": takes no " + name
		}
	}
	return r.values()
}

func (r *Request) values() string {
	switch {
	case len(r.After) > 2*maxPath: // a mark is longer than its path
		return "after: is not the next of an answer"
	case r.Unit != "" && r.Unit != "lines" && r.Unit != "bytes":
		return `unit: want "lines" or "bytes"`
	case r.Offset < 0 || r.Limit < 0:
		return "offset, limit: want no number below 0"
	case len(r.Pattern) > maxPattern || len(r.Glob) > maxPattern:
		return "pattern, glob: longer than 1024 bytes"
	case len(r.Skip) > maxSkip:
		return "skip: more than 64 names"
	case r.Text != nil && r.Base64 != nil:
		return "text and base64: give one of them"
	case r.Op == "edit" && r.Old == *r.New:
		return "old and new are equal"
	}
	if _, err := r.content(); err != nil {
		return "base64: " + err.Error()
	}
	return ""
}

func (r *Request) content() ([]byte, error) {
	if r.Base64 != nil {
		return base64.StdEncoding.Strict().DecodeString(*r.Base64)
	}
	if r.Text != nil {
		return []byte(*r.Text), nil
	}
	return nil, nil
}

// checkPath refuses paths that no system call accepts unchanged.
func checkPath(path string) error {
	switch {
	case strings.ContainsRune(path, 0):
		return &Error{Code: errnoName(syscall.EINVAL), Path: path, Message: "the path has a NUL byte", Hint: "no file has such a name"}
	case len(path) > maxPath:
		return &Error{Code: errnoName(syscall.ENAMETOOLONG), Path: path[:64] + "…", Message: "the path is longer than 4095 bytes", Hint: "name it from a directory further down"}
	}
	return nil
}
