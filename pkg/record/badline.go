package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Codes of a [BadLine].
const (
	CodeInvalidJSON  = "invalid_json"
	CodeInvalidUTF8  = "invalid_utf8"
	CodeDuplicateKey = "duplicate_key"
	CodeTooLong      = "too_long"
	CodeTooDeep      = "too_deep"
	CodeTruncated    = "truncated" // the input ended in the middle of a line
	CodeWrongSchema  = "wrong_schema"
	CodeWrongType    = "wrong_type"
	CodeWrongValue   = "wrong_value"
	CodeUnknownField = "unknown_field"
	CodeMissingField = "missing_field"
	CodeRepoConfig   = "repo_config_invalid" // also IncompleteRepoConfig
	CodeInternal     = "internal_error"      // its analysis failed: a defect of ethos
)

// ErrAbsent is returned by [Line.Decode] for a member that the line does not have.
var ErrAbsent = errors.New("member is absent")

// absent is the name of a member that a line does not have.
type absent string

func (a absent) Error() string { return string(a) + ": " + ErrAbsent.Error() }

func (a absent) Unwrap() error { return ErrAbsent }

// prefixBytes is the longest [Error.InputPrefix], in bytes.
const prefixBytes = 200

// BadLine describes a line that is not valid, with the reason. It becomes an error line.
type BadLine struct {
	Code    string
	Message string
	ID      string // of the line, if it could be read; otherwise the error line gets a new id
	SHA256  string // of the input line without its newline, hex
	Prefix  string // the start of the input line, valid UTF-8
}

func (b *BadLine) Error() string { return b.Code + ": " + b.Message }

func bad(code, format string, args ...any) *BadLine {
	return &BadLine{Code: code, Message: fmt.Sprintf(format, args...)}
}

// NewBadLine describes input that a stage could not read.
func NewBadLine(code, message string, input []byte) *BadLine {
	return (&BadLine{Code: code, Message: message}).from(input)
}

// from records the input, unless the BadLine already has it.
func (b *BadLine) from(input []byte) *BadLine {
	if b.SHA256 == "" {
		sum := sha256.Sum256(input)
		b.SHA256, b.Prefix = hex.EncodeToString(sum[:]), prefix(input)
	}
	return b
}

// prefix cuts input at a rune boundary and makes it valid UTF-8.
func prefix(input []byte) string {
	if len(input) > prefixBytes {
		input = input[:prefixBytes]
		for range utf8.UTFMax - 1 {
			if r, _ := utf8.DecodeLastRune(input); r != utf8.RuneError {
				break
			}
			input = input[:len(input)-1]
		}
	}
	return strings.ToValidUTF8(string(input), "\uFFFD")
}
