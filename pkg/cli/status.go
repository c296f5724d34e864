package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"ethos/pkg/nospace"
	"ethos/pkg/outfile"
	"ethos/pkg/statedir"
)

// Status is a process exit status.
type Status int

// The exit statuses. See [ExitTable] for the meaning of each in each kind of program.
const (
	OK             Status = 0
	NegativeStatus Status = 1
	Usage          Status = 2
	BadInput       Status = 3
	CannotEnforce  Status = 4
	Timeout        Status = 124
	Refused        Status = 125
	NotExecutable  Status = 126
	NotFound       Status = 127
	SignalBase     Status = 128
)

// Kind distinguishes the two families of exit statuses.
type Kind int

const (
	// Filter reads records and writes records or a report.
	Filter Kind = iota
	// Runner runs a command and passes its status through.
	Runner
)

// ExitRow is one line of the exit table.
type ExitRow struct {
	Status string // as documented: "0", "128+n"
	Filter string // meaning for a filter; "" if it never occurs
	Runner string // meaning for a runner
}

// ExitTable returns the table of exit statuses. Manual pages and docs/exit-codes.md are generated
// from it.
func ExitTable() []ExitRow {
	return []ExitRow{
		{"0", "all done; ethos-decide: all allowed; ethos-trace: all ran and succeeded", "the child's own status is passed through"},
		{"1", "a negative result: something was denied, asked about, failed or found", "the child's own status"},
		{"2", "usage error", "the child's own status"},
		{"3", "bad input: a record, policy or configuration is invalid", "the child's own status"},
		{"4", "this machine cannot enforce what is asked", "the child's own status"},
		{"124", "", "the wall-clock limit was reached"},
		{"125", "", "ethos refused or failed before exec: nothing ran"},
		{"126", "", "the command was found but is not executable"},
		{"127", "", "the command was not found"},
		{"128+n", "ended by signal n", "the child was killed by signal n"},
	}
}

// Negative ends a command with status 1 and no message.
var Negative error = Exit(NegativeStatus)

// Exit is an error that ends a command with a status and without a message.
type Exit Status

func (e Exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Error ends a command with a message, a hint and a status.
type Error struct {
	Status Status
	Err    error
	Hint   string // the remedy; "" if there is none
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an [Error] with a formatted message.
func Errorf(status Status, hint, format string, args ...any) error {
	return &Error{Status: status, Err: fmt.Errorf(format, args...), Hint: hint}
}

// statusOf maps a command's error to the exit status and to the message and hint to print, if any.
func statusOf(kind Kind, err error) (Status, string, string) {
	var exit Exit
	var fault *Error
	switch {
	case err == nil:
		return OK, "", ""
	case errors.As(err, &exit):
		return Status(exit), "", ""
	case errors.As(err, &fault):
		return fault.Status, err.Error(), cmp.Or(outfile.Hint(err), nospace.Hint(err, ""), statedir.Hint(err), limitHint(err), fault.Hint)
	}
	hint := cmp.Or(outfile.Hint(err), nospace.Hint(err, ""), statedir.Hint(err), limitHint(err))
	if hint == "" && errors.Is(err, syscall.ENOSPC) && strings.Contains(err.Error(), os.Stdout.Name()) {
		hint = "standard output has no space left: free space there, or send the output elsewhere"
	}
	return unexpected(kind), err.Error(), hint
}

// limitHint is the remedy for an error that a limit of this process causes: getrlimit(2).
func limitHint(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit of open files: ulimit -n " + strconv.FormatUint(moreFiles(), 10)
	case errors.Is(err, syscall.EFBIG):
		return "raise the limit of the size of files: ulimit -f unlimited"
	}
	return ""
}

// moreFiles is a limit of open files that is higher than the present one.
func moreFiles() uint64 {
	const usual = 1024
	var has syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &has) != nil {
		return usual
	}
	return max(usual, 2*has.Cur)
}

// unexpected returns the status for an unclassified failure. A caller cannot take it for success or
// for the child's status.
func unexpected(kind Kind) Status {
	if kind == Runner {
		return Refused
	}
	return BadInput
}
