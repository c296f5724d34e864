package policy

import (
	"errors"
	"fmt"
	"strings"
)

// Fault is one error in a policy file, with its position.
type Fault struct {
	File    string
	Line    int // 1-based; 0 if the fault concerns the whole file
	Column  int // 1-based, in characters
	Message string
	Source  string // the line of text
}

// Error formats the fault as compilers do: file:line:column: message, then the line and a caret.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	head := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	if f.Source == "" {
		return head
	}
	number := fmt.Sprint(f.Line)
	return fmt.Sprintf("%s\n  %s | %s\n  %s | %s^", head, number, f.Source, strings.Repeat(" ", len(number)), caretIndent(f.Source, f.Column))
}

// caretIndent keeps tabs, so that the caret is under its character in any terminal.
func caretIndent(source string, column int) string {
	var out strings.Builder
	for i, r := range []rune(source) {
		if i >= column-1 {
			break
		}
		if r != '\t' {
			r = ' '
		}
		out.WriteRune(r)
	}
	return out.String()
}

// Faults are all errors in the files that were loaded, in the order of the files.
type Faults []*Fault

func (f Faults) Error() string {
	text := make([]string, len(f))
	for i := range f {
		text[i] = f[i].Error()
	}
	return strings.Join(text, "\n")
}

// Unwrap returns the single faults for errors.As.
func (f Faults) Unwrap() []error {
	all := make([]error, len(f))
	for i := range f {
		all[i] = f[i]
	}
	return all
}

// orNil returns the faults as an error, nil if there are none.
func (f Faults) orNil() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// IsFault reports whether err concerns the text of a policy file.
func IsFault(err error) bool {
	var one *Fault
	return errors.As(err, &one)
}
