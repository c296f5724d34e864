package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/record"
)

// pathsBlank is the placeholder in a message for the paths that a policy matched.
const pathsBlank = "{paths}"

// maxPaths limits how many paths a message names.
const maxPaths = 3

var (
	ofProtected = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`f\.protected == "([^"]+)"`) }}
	ofTouches   = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`touches\(shell\.(?:reads|writes), \[([^\]]*)\]`) }}
	ofGlob      = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`glob\("([^"]+)", [wf]\.path\)`) }}
	ofNames     = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`w\.path in \[([^\]]*)\]`) }}
	ofQuotes    = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`"([^"]+)"`) }}
)

// paths returns, in parentheses, the paths of a record that the policy's expression refers to:
// files of the protection classes that it names, reads or writes that match its patterns and names,
// paths outside of the work space, and paths that are not build output, if the expression tests for
// these. If it refers to no path, the result has the paths that are deleted, moved or changed.
func (p *Policy) paths(in *Input) string {
	var found []string
	add := func(path string) {
		if path != "" && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	s := p.spoken()
	uses := in.Facts.Shell.Writes
	if !s.changes {
		uses = slices.Concat(in.Facts.Shell.Reads, uses)
	}
	for i := range in.Facts.Files {
		f := &in.Facts.Files[i]
		changed := f.Op != "read" && f.Op != "list"
		if slices.Contains(s.kinds, f.Protected) || changed && s.outside && f.Outside ||
			changed && s.kept && in.Action.Kind == record.KindFile {
			add(f.Path)
		}
	}
	for i := range uses {
		hit, err := touchesUse(&uses[i], s.patterns)
		if hit && err == nil || slices.Contains(s.names, uses[i].Path) {
			add(uses[i].Path)
		}
	}
	for _, u := range in.Facts.Shell.Writes {
		if s.all || s.outside && u.Outside || s.kept && !isScratch(u.Path) {
			add(u.Path)
		}
	}
	if len(found) == 0 {
		for _, u := range in.Facts.Shell.Writes {
			if u.Op == "delete" || u.Op == "move" || u.Op == "mode" {
				add(u.Path)
			}
		}
	}
	if len(found) == 0 && in.Action.File != nil {
		add(in.Action.File.Path)
	}
	if len(found) == 0 {
		return ""
	}
	named := strings.Join(found[:min(maxPaths, len(found))], ", ")
	if more := len(found) - maxPaths; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return " (" + named + ")"
}

// spoken says how an expression refers to paths.
type spoken struct {
	kinds    []string // protection classes of files
	patterns []string
	names    []string
	outside  bool // it tests for paths outside of the work space
	kept     bool // it tests for paths that are not build output
	all      bool // it tests whether anything is written
	changes  bool // it tests for operations, and none of them reads
}

func (p *Policy) spoken() (s spoken) {
	s.outside = strings.Contains(p.When, ".outside")
	s.kept = strings.Contains(p.When, "!scratch(")
	s.changes = strings.Contains(p.When, ".op in [") && !strings.Contains(p.When, `"read"`) && !strings.Contains(p.When, "shell.reads")
	s.all = strings.Contains(p.When, "size(shell.writes)")
	for _, m := range ofProtected.Get().FindAllStringSubmatch(p.When, -1) {
		s.kinds = append(s.kinds, m[1])
	}
	for _, m := range ofTouches.Get().FindAllStringSubmatch(p.When, -1) {
		for _, q := range ofQuotes.Get().FindAllStringSubmatch(m[1], -1) {
			s.patterns = append(s.patterns, q[1])
		}
	}
	for _, m := range ofNames.Get().FindAllStringSubmatch(p.When, -1) {
		for _, q := range ofQuotes.Get().FindAllStringSubmatch(m[1], -1) {
			s.names = append(s.names, q[1])
		}
	}
	for _, m := range ofGlob.Get().FindAllStringSubmatch(p.When, -1) {
		if !strings.HasSuffix(m[1], ".pub") {
			s.patterns = append(s.patterns, m[1])
		}
	}
	return s
}

// ways has, for each fact that could not be established, the problem and the remedy.
var ways = lazy.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		record.IncompleteParse:       "the script cannot be read%s: close every quote, bracket and here-document, or put the code into a file and run that",
		record.IncompleteDepth:       "commands are nested too deeply to be analysed: write the inner script to a file and run that",
		record.IncompleteSize:        "the action is too long to be analysed: put the script into a file and run that",
		record.IncompleteNotUTF8:     "its text is not UTF-8: write it in UTF-8",
		record.IncompleteFile:        "where the path leads could not be established: name the file itself, without links",
		record.IncompleteRepoConfig:  "repo_config.yaml is not valid: a person has to fix it, ethos-facts tools says where the error is",
		record.IncompleteUnknownTool: "the profile is not known: omit --profile, or name one of those that its error lists",
		codeFindings:                 "what the tool printed is cut off, or is not in the format that the catalog names for it: run it on less at a time, or with the options of its format",
		record.IncompleteGitRepo:     "the git repository cannot be read: git status says what is wrong with it",
	}
}}

// unreadable says why an action could not be judged, and gives the remedy.
func unreadable(in *Input, codes []string) string {
	var all []string
	for _, code := range codes {
		way, ok := ways.Get()[code]
		switch {
		case !ok:
			way = "not established: " + code
		case code == record.IncompleteParse:
			at := ""
			if in.Facts.Shell.Error != "" {
				at = " (" + in.Facts.Shell.Error + ")"
			}
			way = fmt.Sprintf(way, at)
		}
		all = append(all, way)
	}
	return strings.Join(all, "; ")
}
