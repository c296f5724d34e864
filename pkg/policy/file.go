package policy

import (
	"encoding/json"
	"path"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ethos/pkg/proof/needs"
	"ethos/pkg/record"
)

// Source is the text of one policy file.
type Source struct {
	Name string // the name in messages
	Text []byte
	// Trusted lets the file weaken shipped policies that are not protected, because a person has
	// named it, or accepted this content of it. Otherwise the shipped policy also decides, besides
	// the amended one.
	Trusted bool
	// Around marks a file of a work tree that contains the work space. The policies that it adds
	// apply, also if their names are already in use, and it weakens nothing.
	Around bool
	// Ceiling marks a file of the machine's administrator. No other file weakens its policies, and
	// no approval overrides their denial.
	Ceiling bool
	// Digest is "sha256:" and the SHA-256 of Text for a file of a work space, which decisions list.
	// It is "" for any other file.
	Digest string
	// Last is the content of the file that a person has accepted, if it differs from Text. Proofs
	// that it requires stay required until Text is accepted.
	Last []byte
}

// file is a parsed policy file.
type file struct {
	*document
	trusted, around bool
	ceiling         bool
	digest          string
	widens          []string // what it weakens, or would weaken if trusted
	packs           []string
	principles      []writtenPrinciple
	macros          []*macro
	policies        []*written
	proofs          []needs.Rule
	last            []needs.Rule // those of the content that a person has accepted, if it differs
}

type writtenPrinciple struct {
	Principle
	at *yaml.Node
}

// written is a policy as given in a file: which keys are present, and where.
type written struct {
	Policy
	at       *yaml.Node
	given    map[string]*yaml.Node
	expanded []token // of When, if the file has macros
}

// policyKeys are the keys of a policy, in the order of their documentation.
var policyKeys = []string{"id", "pack", "principle", "effect", "on", "modes", "when", "message", "remedy", "examples", "protected"}

// readFile reads the text of one policy file. It collects faults in the result.
func readFile(s Source) *file {
	f := parseFile(s)
	f.expandMacros(nil)
	f.unusedMacros()
	if s.Last != nil {
		f.accepted(s)
	}
	return f
}

// parseFile is readFile without the content that a person has accepted, and before macros are
// expanded.
func parseFile(s Source) *file {
	d, root := parseYAML(s.Name, s.Text)
	f := &file{document: d, trusted: (s.Trusted || s.Ceiling) && !s.Around, around: s.Around, ceiling: s.Ceiling, digest: s.Digest}
	if root != nil {
		d.mapping(root, "the file", f.keys()...)
	}
	return f
}

// accepted reads the proofs that the file required when a person accepted it.
func (f *file) accepted(s Source) {
	was := readFile(Source{Name: s.Name + " (as it was trusted)", Text: s.Last})
	f.faults = append(f.faults, was.faults...)
	if !reflect.DeepEqual(was.proofs, f.proofs) {
		f.last = was.proofs
	}
	if len(f.last) > 0 {
		f.widens = append(f.widens, "proofs: are not what was trusted")
	}
}

// keys returns the keys of the file. See [amendable] for those that can weaken.
func (f *file) keys() []key {
	return []key{
		{"version", true, f.readVersion},
		{"packs", false, f.readPacks},
		{"principles", false, f.list("principles", f.readPrinciple)},
		{"macros", false, f.list("macros", f.readMacro)},
		{"policies", false, f.list("policies", f.readPolicy)},
		{"proofs", false, f.list("proofs", f.readProof)},
	}
}

// readProof reads which commands are required as proof for the files of some paths; without paths,
// for all files.
func (f *file) readProof(n *yaml.Node) {
	r := needs.Rule{Needs: []string{}}
	f.mapping(n, "a proof",
		key{"paths", false, f.list("paths", func(n *yaml.Node) {
			var pattern string
			if f.text(&pattern, "a path")(n); pattern == "" {
				return
			}
			if err := needs.Check(pattern); err != nil {
				f.fault(n, "path %q: %v", pattern, err)
			}
			r.Paths = append(r.Paths, pattern)
		})},
		key{"needs", true, f.list("needs", func(n *yaml.Node) {
			var command string
			if f.text(&command, "a command")(n); command != "" {
				r.Needs = append(r.Needs, command)
			}
		})})
	if r.Paths == nil { // an empty list means all, as does a missing one
		r.Paths = []string{"**"}
	}
	f.proofs = append(f.proofs, r)
}

func (f *file) readVersion(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Value != "1" {
		f.fault(n, "version must be 1")
	}
}

func (f *file) readPacks(n *yaml.Node) {
	f.wordList(&f.packs, "packs", Packs())(n)
}

func (f *file) readPrinciple(n *yaml.Node) {
	p := writtenPrinciple{at: n}
	f.mapping(n, "a principle",
		key{"id", true, f.identifier(&p.ID, "a principle's id")},
		key{"title", true, f.text(&p.Title, "a principle's title")})
	f.principles = append(f.principles, p)
}

func (f *file) readPolicy(n *yaml.Node) {
	w := &written{at: n, given: map[string]*yaml.Node{}}
	w.File, w.Line, w.Column = f.name, n.Line, n.Column
	readers := map[string]func(*yaml.Node){
		"id":        f.identifier(&w.ID, "a policy's id"),
		"pack":      f.identifier(&w.Pack, "pack"),
		"principle": f.identifier(&w.Principle, "principle"),
		"effect":    f.oneOf(&w.Effect, "effect", strictness),
		"on":        f.wordList(&w.On, "on", Kinds()),
		"modes":     f.wordList(&w.Modes, "modes", Modes()),
		"when":      f.text(&w.When, "when"),
		"message":   f.text(&w.Message, "message"),
		"remedy":    f.text(&w.Remedy, "remedy"),
		"examples":  f.examples(&w.Examples),
		"protected": f.truth(&w.Protected, "protected"),
	}
	keys := make([]key, len(policyKeys))
	for i, name := range policyKeys {
		keys[i] = key{name, name == "id", func(n *yaml.Node) {
			w.given[name] = n
			readers[name](n)
		}}
	}
	f.mapping(n, "a policy", keys...)
	if w.Effect == record.VerdictAllow { // the examples under allow are those that it matches
		w.Examples.Deny, w.Examples.Allow = w.Examples.Allow, w.Examples.Deny
	}
	f.policies = append(f.policies, w)
}

// identifier reads a name of letters, digits, "_", "-" and ".".
func (d *document) identifier(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var word string
		if d.text(&word, what)(n); word == "" {
			return
		}
		odd := func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
		}
		if i := strings.IndexFunc(word, odd); i >= 0 {
			d.fault(n, "%s %q may hold letters, digits, \"_\", \"-\" and \".\" only", what, word)
			return
		}
		*to = word
	}
}

func (d *document) examples(to *Examples) func(*yaml.Node) {
	read := func(to *[]Example) func(*yaml.Node) {
		return d.list("examples", func(n *yaml.Node) { *to = append(*to, d.example(n)) })
	}
	return func(n *yaml.Node) {
		if !d.is(n, yaml.MappingNode, "examples", "a mapping of lists: deny: [COMMAND, …], allow: [COMMAND, …]") {
			return
		}
		d.mapping(n, "examples", key{"deny", false, read(&to.Deny)}, key{"allow", false, read(&to.Allow)})
	}
}

// example reads a command, or a mapping that gives the action, the actor and the facts.
func (d *document) example(n *yaml.Node) Example {
	e := Example{Line: n.Line, Column: n.Column}
	if n.Kind == yaml.ScalarNode {
		d.text(&e.Command, "an example")(n)
		return e
	}
	d.mapping(n, "an example",
		key{"command", false, d.text(&e.Command, "command")},
		key{"argv", false, d.list("argv", func(n *yaml.Node) {
			if d.is(n, yaml.ScalarNode, "a word of argv", "a string") {
				e.Argv = append(e.Argv, n.Value)
			}
		})},
		key{"file", false, d.fileExample(&e)},
		key{"url", false, d.text(&e.URL, "url")},
		key{"mcp", false, d.toolExample(&e)},
		key{"cwd", false, d.text(&e.Cwd, "cwd")},
		key{"mode", false, d.oneOf(&e.Mode, "mode", Modes())},
		key{"approved", false, d.truth(&e.Approved, "approved")},
		key{"interactive", false, d.truth(&e.Interactive, "interactive")},
		key{"confined", false, d.truth(&e.Confined, "confined")},
		key{"agent", false, d.text(&e.Agent, "agent")},
		key{"tool", false, d.text(&e.Tool, "tool")},
		key{"parent", false, d.oneOf(&e.Parent, "parent", Modes())},
		key{"facts", false, d.factsExample(&e)},
		key{"findings", false, d.list("findings", func(n *yaml.Node) { e.Findings = append(e.Findings, d.finding(n)) })})
	if len(e.actions()) != 1 {
		d.fault(n, "an example has exactly one of command, argv, file, url and mcp")
	}
	return e
}

// actions lists the kinds of action that the example gives.
func (e *Example) actions() []string {
	var kinds []string
	for kind, given := range map[string]bool{
		record.KindShell: e.Command != "", record.KindExec: len(e.Argv) > 0, record.KindFile: e.File != nil,
		record.KindFetch: e.URL != "", record.KindMCP: e.Name != "",
	} {
		if given {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

var fileOps = []string{"read", "write", "edit", "delete", "move", "list"}

func (d *document) fileExample(e *Example) func(*yaml.Node) {
	return func(n *yaml.Node) {
		e.File = &record.FileAction{}
		d.mapping(n, "file",
			key{"op", true, d.oneOf(&e.File.Op, "op", fileOps)},
			key{"path", true, d.text(&e.File.Path, "path")},
			key{"target", false, d.text(&e.File.Target, "target")})
	}
}

func (d *document) toolExample(e *Example) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d.mapping(n, "mcp",
			key{"server", true, d.text(&e.Server, "server")},
			key{"name", true, d.text(&e.Name, "name")},
			key{"input", false, d.toolInput(&e.Input)})
	}
}

func (d *document) toolInput(to *[]byte) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var value map[string]any
		err := n.Decode(&value)
		if err == nil {
			*to, err = json.Marshal(value)
		}
		if err != nil {
			d.fault(n, "input: %v", err)
		}
	}
}

// factsExample stores the mapping as JSON. When the example is run, it is decoded strictly and
// merged into the derived facts.
func (d *document) factsExample(e *Example) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if !d.is(n, yaml.MappingNode, "facts", "a mapping") {
			return
		}
		var value map[string]any
		err := n.Decode(&value)
		if err == nil {
			e.Facts, err = json.Marshal(value)
		}
		if err != nil {
			d.fault(n, "facts: %v", err)
		}
	}
}

var levels = []string{"error", "warning", "note"}

func (d *document) finding(n *yaml.Node) Finding {
	f := Finding{Level: "error"}
	number := func(to *int, what string) func(*yaml.Node) {
		return func(n *yaml.Node) {
			if err := n.Decode(to); err != nil || *to < 0 {
				d.fault(n, "%s is a number from 0", what)
			}
		}
	}
	d.mapping(n, "a finding",
		key{"tool", false, d.text(&f.Tool, "tool")},
		key{"rule", false, d.text(&f.Rule, "rule")},
		key{"level", false, d.oneOf(&f.Level, "level", levels)},
		key{"message", false, d.text(&f.Message, "message")},
		key{"path", false, d.text(&f.Path, "path")},
		key{"line", false, number(&f.Line, "line")},
		key{"column", false, number(&f.Column, "column")},
		key{"end_line", false, number(&f.EndLine, "end_line")},
		key{"end_column", false, number(&f.EndColumn, "end_column")})
	return f
}

// locate returns the position in the file of a character of a scalar, in any scalar style. It walks
// through the text and the file in parallel.
func (d *document) locate(n *yaml.Node, offset int) (line, column int) {
	line, column = n.Line, n.Column
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		line, column = line+1, 1
	}
	rest := []rune(strings.Join(d.lines[min(line-1, len(d.lines)):], "\n"))
	at := min(column-1, len(rest))
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		at++
	}
	for i, r := range []rune(strings.TrimSpace(n.Value)) {
		if isBlank(r) {
			continue
		}
		for at < len(rest) && rest[at] != r {
			at++
		}
		if i >= offset || at >= len(rest) {
			break
		}
		at++
	}
	before := string(rest[:min(at, len(rest))])
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		return line + strings.Count(before, "\n"), len([]rune(before[i+1:])) + 1
	}
	return line, len([]rune(before)) + 1
}

func isBlank(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' }

// place formats a policy's position for lists: file:line.
func (p *Policy) place() string { return p.File + ":" + strconv.Itoa(p.Line) }

func shippedName(pack, name string) string { return "pack:" + path.Join(pack, name) }
