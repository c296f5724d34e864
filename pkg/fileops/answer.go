package fileops

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
)

// Answer is one line of the output: a result or an error. ID is "" only in the answer to a line
// whose id could not be read.
type Answer struct {
	ID     string          `json:"id" required:"true"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// Codes of an [Error] that are not names of an errno. The codes for a line that is not a request
// are in package record.
const (
	CodeNoMatch     = "no_match"     // edit: the text does not occur in the file
	CodeManyMatches = "many_matches" // edit: the text occurs more than once
	CodeDuplicateID = "duplicate_id" // another request with this id is running
	CodeWorkerEnded = "worker_ended" // the confined process ended before it answered
)

// Error says why a request failed.
type Error struct {
	Code    string `json:"code" required:"true"` // an errno's name, such as ENOENT, or one of the codes
	Message string `json:"message" required:"true"`
	Op      string `json:"op,omitempty"`
	Path    string `json:"path,omitempty"` // as in the request
	Line    int    `json:"line,omitempty"` // line of the input, 1-based, if the line is not a request
	Hint    string `json:"hint,omitempty"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// BadLine returns the answer to a line that is not a request.
func BadLine(bad *record.BadLine, line int) *Answer {
	return &Answer{ID: bad.ID, Error: &Error{Code: bad.Code, Message: bad.Message, Line: line, Hint: "ethos-sandbox worker --schema prints what a request is"}}
}

// ParseAnswer decodes one answer of the confined process.
func ParseAnswer(line []byte) (*Answer, error) {
	a := &Answer{}
	if err := record.DecodeStrict(line, a); err != nil {
		return nil, err
	}
	if (a.Result == nil) == (a.Error == nil) {
		return nil, errors.New("an answer has either a result or an error")
	}
	return a, nil
}

func failure(code, message, hint string) *Error {
	return &Error{Code: code, Message: message, Hint: hint}
}

func errno(n syscall.Errno, message, hint string) *Error { return failure(errnoName(n), message, hint) }

func errnoName(n syscall.Errno) string {
	if name := unix.ErrnoName(n); name != "" {
		return name
	}
	return "EIO"
}

func errorOf(r *Request, err error) *Error {
	e := &Error{}
	var number syscall.Errno
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.Canceled):
		e = errno(syscall.ECANCELED, "canceled", "")
	case errors.As(err, &number):
		e = errno(number, number.Error(), hint(r, number))
	case errors.Is(err, fs.ErrNotExist):
		e = errno(syscall.ENOENT, "no such file or directory", hint(r, syscall.ENOENT))
	case errors.Is(err, errOutside):
		e = outside()
	default: // for a path that leads out of a root, package os has no errno
		var in *fs.PathError
		if !errors.As(err, &in) {
			e = errno(syscall.EIO, err.Error(), "")
			break
		}
		e = outside()
	}
	told := *e
	told.Op = r.Op
	if told.Path == "" {
		told.Path = r.Path
	}
	told.Path = strings.ToValidUTF8(told.Path, "\uFFFD")
	return &told
}

var errOutside = errors.New("the path leads out of the work space")

// outside returns the error of openat2(2) for a path that leaves RESOLVE_BENEATH.
func outside() *Error {
	return errno(syscall.EXDEV, errOutside.Error(), "name a file of the work space, without a link that leads out; what else is declared is reached by its absolute path")
}

// hint returns a remedy for an errno, if there is one.
func hint(r *Request, n syscall.Errno) string {
	switch n {
	case syscall.EROFS, syscall.EBUSY, syscall.EACCES, syscall.EPERM:
		if changes(r.Op) {
			return "the boundary, or the mode of the file, keeps it as it is: `ethos-sandbox worker --dry-run` with the same flags, in a session `ethos-sandbox session show NAME`, shows what can be written"
		}
		return "the boundary, or the mode of the file, hides it: `ethos-sandbox worker --dry-run` with the same flags, in a session `ethos-sandbox session show NAME`, shows what can be read"
	case syscall.ENOENT:
		return "it does not exist, or the boundary hides it: `ethos-sandbox worker --dry-run` with the same flags, in a session `ethos-sandbox session show NAME`, shows what can be read"
	case syscall.ENOSPC, syscall.EDQUOT:
		return "make room on the file system that holds it"
	case syscall.ENOTEMPTY:
		return `"recursive":true removes it with everything below`
	case syscall.ELOOP:
		return "symbolic links lead in a circle, or through a process's entries in /proc"
	}
	return ""
}

// changes reports whether an operation writes.
func changes(op string) bool {
	switch op {
	case "write", "edit", "mkdir", "rename", "remove":
		return true
	}
	return false
}
