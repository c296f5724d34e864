package record

import (
	"cmp"
	"encoding/base64"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxID is the longest id, in bytes.
const maxID = 128

func validID(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// validate checks rules that the types do not express.
func (l *Line) validate() *BadLine {
	schema := decoded[string](l, "schema")
	if schema == nil {
		return bad(CodeMissingField, "line: missing: schema")
	}
	if *schema != Schema {
		return bad(CodeWrongSchema, "schema: want %q, found %.64q", Schema, *schema)
	}
	if l.id == "" {
		return bad(CodeMissingField, "id: want a string of 1 to %d printable bytes", maxID)
	}
	return l.validateKind()
}

func (l *Line) validateKind() *BadLine {
	found := 0
	for kind, name := range []string{LineAction: "action", LineOutput: "output", LineError: "error"} {
		if l.Has(name) {
			l.kind = LineKind(kind)
			found++
		}
	}
	if found != 1 {
		return bad(CodeMissingField, "line: want exactly one of action, output and error, found %d of them", found)
	}
	switch l.kind {
	case LineOutput:
		out := decoded[Output](l, "output")
		err := oneOf("output.stream", out.Stream, "stdout", "stderr")
		if out.Action != nil {
			err = cmp.Or(err, out.Action.validate())
		}
		return err
	case LineAction:
		return l.validateAction()
	}
	return nil
}

// decoded returns the value of a member that was decoded when the line was read, or nil if it is
// absent.
func decoded[T any](l *Line, name string) *T {
	i := l.index(name)
	if i < 0 {
		return nil
	}
	value, _ := l.values[i].(*T)
	return value
}

func (l *Line) validateAction() *BadLine {
	stamp := ""
	if text := decoded[string](l, "time"); text != nil {
		stamp = *text
	}
	if _, err := time.Parse(time.RFC3339Nano, stamp); err != nil {
		return bad(CodeWrongValue, "time: want RFC 3339, found %.64q", stamp)
	}
	err := decoded[Action](l, "action").validate()
	if actor := decoded[Actor](l, "actor"); actor != nil {
		err = cmp.Or(err, actor.validate())
	}
	if d := decoded[Decision](l, "decision"); d != nil {
		err = cmp.Or(err, oneOf("decision.verdict", d.Verdict, VerdictAllow, VerdictWarn, VerdictAsk, VerdictDeny))
	}
	if r := decoded[Result](l, "result"); r != nil {
		err = cmp.Or(err, oneOf("result.status", r.Status, StatusExited, StatusSignaled, StatusTimeout, StatusOOM, StatusDenied))
	}
	return err
}

func (a *Actor) validate() *BadLine {
	err := oneOf("actor.mode", a.Mode, ModePlan, ModeSafe, ModeAuto, ModeVerify)
	if a.Parent != nil {
		err = cmp.Or(err, oneOf("actor.parent.mode", a.Parent.Mode, ModePlan, ModeSafe, ModeAuto, ModeVerify))
	}
	return err
}

func oneOf(path, value string, allowed ...string) *BadLine {
	if slices.Contains(allowed, value) {
		return nil
	}
	return bad(CodeWrongValue, "%s: want one of %s, found %.64q", path, strings.Join(allowed, ", "), value)
}

// validate checks that the action has the fields that its kind needs, and no string that a system
// call would truncate.
func (a *Action) validate() *BadLine {
	err := cmp.Or(
		oneOf("action.kind", a.Kind, KindExec, KindShell, KindFile, KindFetch, KindMCP, KindEvent),
		absolute("action.cwd", a.Cwd),
		absolute("action.workspace", a.Workspace),
		noNUL("action.script", a.Script),
	)
	for _, arg := range a.Argv {
		err = cmp.Or(err, noNUL("action.argv", arg))
	}
	if err != nil {
		return err
	}
	switch {
	case a.Kind == KindExec && (len(a.Argv) == 0 || a.Argv[0] == ""):
		return bad(CodeMissingField, "action.argv: an exec action names a command")
	case a.Kind == KindFile && a.File == nil:
		return bad(CodeMissingField, "action.file: missing for a file action")
	case a.Kind != KindExec && a.Argv != nil, a.Kind != KindShell && a.Script != "":
		return bad(CodeWrongValue, "action: argv is for exec and script for shell, not for %s", a.Kind)
	}
	return nil
}

func absolute(path, value string) *BadLine {
	if !filepath.IsAbs(value) {
		return bad(CodeWrongValue, "%s: want an absolute path, found %.200q", path, value)
	}
	return noNUL(path, value)
}

func noNUL(path, value string) *BadLine {
	if strings.IndexByte(value, 0) >= 0 {
		return bad(CodeWrongValue, "%s: contains a NUL byte", path)
	}
	return nil
}

// TextOrBase64 returns b as text if it is UTF-8, else in base64 (RFC 4648, with padding).
func TextOrBase64(b []byte) (text, encoded string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return "", base64.StdEncoding.EncodeToString(b)
}
