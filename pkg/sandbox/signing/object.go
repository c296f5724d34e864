package signing

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the name of an object of git
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
)

// The kinds of an [Object].
const (
	Commit = "commit"
	Tag    = "tag"
)

// MaxPayload limits the text to be signed, in bytes.
const MaxPayload = 1 << 20

// maxIdentity limits an identity, and maxLine the line with a tag's name or an
// encoding, in bytes.
const (
	maxIdentity = 1 << 10
	maxLine     = 1 << 10
)

// Object is what git wants signed: the text of a commit or a tag before the
// signature is added.
type Object struct {
	Kind      string
	Refers    []string // names of the objects it refers to: tree and parents, or the tagged object
	Author    Identity // of a commit
	Committer Identity // or the tagger
	TagName   string   // of a tag
	Subject   string   // first line of the message, in UTF-8
	text      []byte
}

// Identity is the name and address of a person.
type Identity struct{ Name, Email string }

func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// errObject is wrapped by the errors of [Parse].
var errObject = errors.New("it is neither a commit nor a tag of git")

// Parse parses the text of a commit or a tag as git writes it before signing:
// commit.c, commit_tree_extended, and builtin/tag.c, build_tag_object. Anything
// else is an error.
func Parse(text []byte) (*Object, error) {
	if len(text) > MaxPayload {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", errObject, MaxPayload)
	}
	head, message, ok := bytes.Cut(text, []byte("\n\n"))
	if !ok || bytes.IndexByte(text, 0) >= 0 {
		return nil, errObject
	}
	lines := &header{lines: strings.Split(string(head), "\n")}
	o := &Object{text: text, Subject: subject(message)}
	if lines.has("tree ") {
		o.commit(lines)
	} else {
		o.tag(lines, message)
	}
	if len(lines.lines) > 0 {
		lines.fail("an unknown line " + quoted(lines.lines[0]))
	}
	for _, name := range o.Refers {
		if len(name) != len(o.Refers[0]) {
			lines.fail("names of two lengths")
		}
	}
	if lines.err != nil {
		return nil, lines.err
	}
	return o, nil
}

func (o *Object) commit(h *header) {
	o.Kind = Commit
	o.Refers = append(o.Refers, h.object("tree "))
	for h.has("parent ") {
		o.Refers = append(o.Refers, h.object("parent "))
	}
	o.Author = h.identity("author ")
	o.Committer = h.identity("committer ")
	if h.has("encoding ") {
		if name := h.take("encoding "); len(name) > 40 || strings.Trim(name, encodings) != "" || name == "" {
			h.fail("no encoding " + quoted(name))
		}
	}
	for h.has("mergetag ") {
		h.take("mergetag ")
		for h.has(" ") {
			h.take(" ")
		}
	}
}

func (o *Object) tag(h *header, message []byte) {
	o.Kind = Tag
	o.Refers = append(o.Refers, h.object("object "))
	switch kind := h.take("type "); kind {
	case "commit", "tree", "blob", "tag":
	default:
		h.fail("a tag of no known type")
	}
	if o.TagName = h.take("tag "); !tagName(o.TagName) {
		h.fail("not the name of a tag " + quoted(o.TagName))
	}
	o.Committer = h.identity("tagger ")
	for line := range bytes.Lines(message) {
		if bytes.HasPrefix(line, []byte("-----BEGIN ")) {
			h.fail("a tag with a signature in its message")
		}
	}
}

// maxSubject limits the subject, in bytes.
const maxSubject = 1 << 10

func subject(message []byte) string {
	line, _, _ := bytes.Cut(message, []byte("\n"))
	return cut(string(line), maxSubject)
}

// Command returns the git command that makes such an object, signed. Policy
// decides on this command.
func (o *Object) Command() []string {
	if o.Kind == Tag {
		return []string{"git", "tag", "-s", "-m", o.Subject, o.TagName, o.Refers[0]}
	}
	argv := []string{"git", "commit-tree", "-S"}
	for _, parent := range o.Refers[1:] {
		argv = append(argv, "-p", parent)
	}
	return append(argv, "-m", o.Subject, o.Refers[0])
}

// header holds the lines before the first empty line.
type header struct {
	lines []string
	err   error // the first error
}

func (h *header) fail(why string) {
	if h.err == nil {
		h.err = fmt.Errorf("%w: %s", errObject, why)
	}
}

func (h *header) has(prefix string) bool {
	return len(h.lines) > 0 && strings.HasPrefix(h.lines[0], prefix)
}

// take returns the rest of the next line, which must begin with prefix.
func (h *header) take(prefix string) string {
	if !h.has(prefix) {
		h.fail("no line " + quoted(prefix))
		return ""
	}
	rest := h.lines[0][len(prefix):]
	h.lines = h.lines[1:]
	if prefix != " " && strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		h.fail("a control character after " + quoted(prefix))
	}
	return rest
}

func (h *header) object(prefix string) string {
	name := h.take(prefix)
	if !objectName(name) {
		h.fail("not the name of an object after " + quoted(prefix))
	}
	return name
}

// objectName reports whether a name is a SHA-1 or SHA-256 as git writes it.
func objectName(name string) bool {
	return (len(name) == 2*sha1.Size || len(name) == 2*sha256.Size) && strings.Trim(name, "0123456789abcdef") == ""
}

// identity parses NAME <ADDRESS> SECONDS ZONE.
func (h *header) identity(prefix string) (i Identity) {
	line := h.take(prefix)
	if len(line) > maxIdentity {
		h.fail(fmt.Sprintf("more than %d bytes after %s", maxIdentity, quoted(prefix)))
		return i
	}
	name, rest, ok1 := strings.Cut(line, "<")
	email, when, ok2 := strings.Cut(rest, "> ")
	seconds, zone, ok3 := strings.Cut(when, " ")
	if !ok1 || !ok2 || !ok3 || strings.ContainsAny(name+email, "<>") || name != "" && !strings.HasSuffix(name, " ") || !digits(seconds, maxSeconds) ||
		len(zone) != 5 || zone[1:] > "1459" || zone[0] != '+' && zone[0] != '-' || !digits(zone[1:], 4) {
		h.fail("no person and date after " + quoted(prefix))
	}
	return Identity{strings.TrimSuffix(name, " "), email}
}

// encodings lists the characters in names of encodings.
const encodings = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

// maxSeconds is the maximum number of digits of a date: until the year 5138.
const maxSeconds = 11

// tagName reports whether git accepts a tag name: git-check-ref-format(1).
func tagName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return len(name) <= maxLine && name[0] != '-' && name != "@" && name[len(name)-1] != '.' && !strings.Contains(name, "..") &&
		!strings.Contains(name, "@{") && !strings.ContainsAny(name, " ~^:?*[\\\x7f\t")
}

func digits(s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == ""
}

func quoted(line string) string { return fmt.Sprintf("%.40q", line) }

// Name returns the name that git gives the object with this signature.
func (o *Object) Name(signature []byte) string {
	if len(o.Refers[0]) == 2*sha256.Size {
		return o.name(sha256.New(), "gpgsig-sha256", signature)
	}
	return o.name(sha1.New(), "gpgsig", signature) //nolint:gosec // as above
}

// name inserts the signature as git does: commit.c, add_header_signature.
func (o *Object) name(sum hash.Hash, field string, signature []byte) string {
	text := bytes.Clone(o.text)
	if o.Kind == Tag {
		text = append(text, signature...)
	} else {
		at := bytes.Index(text, []byte("\n\n")) + 1
		var lines bytes.Buffer
		lines.WriteString(field)
		for line := range bytes.Lines(signature) {
			lines.WriteByte(' ')
			lines.Write(line)
		}
		text = append(append(text[:at:at], lines.Bytes()...), o.text[at:]...)
	}
	fmt.Fprintf(sum, "%s %d\x00", o.Kind, len(text))
	sum.Write(text)
	return hex.EncodeToString(sum.Sum(nil))
}
