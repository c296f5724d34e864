package shell

import (
	"strings"
	"unicode/utf8"

	"ethos/pkg/gitargs"
	"ethos/pkg/record"
)

// IR is the version of the analysis, in [record.Shell.IR].
const IR = "1"

// Options describes where a script would run. Directories are absolute paths, or "" if unknown.
type Options struct {
	Cwd       string // working directory at the start
	Workspace string // paths inside it are shown relative to it
	Home      string // home directory; ~ and $HOME stay unexpanded without it
	Temporary string // where mktemp creates files; "" if unknown
	// List reads a list of names, given its absolute path, for a command that deletes each of them.
	// It returns the text ("" if the file does not exist), or false if the file cannot be read. If
	// List is nil, no list is read.
	List func(path string) (text string, ok bool)
	// Git is the state of the repository around Cwd: its aliases determine what a git command runs.
	Git gitargs.Context
}

// Analysis is what a script would do.
type Analysis struct {
	Shell      record.Shell
	Incomplete []string // sorted, unique [record.Facts] Incomplete codes
	// Partial is parallel to Shell.Commands. For each null in the Argv of a git command it has the
	// text with the expansions as written, or "" if the word may expand to several words.
	Partial [][]string
	Cwds    []string // parallel to Shell.Commands: the directory of each command; "" if unknown
	// Replaced is parallel to Shell.Commands: the files that the command's standard output replaces,
	// as absolute paths. One whose name is not known is as it is written: "$f", with the quotes.
	Replaced [][]string
	Shown    []Shown
	Reads    []string // parallel to Shell.Reads: the absolute path with its ".." kept; "" if unknown
	Writes   []string // parallel to Shell.Writes, likewise
	Ethos    []EthosCall
}

// Shown is a command that shows secrets of the environment to its caller.
type Shown struct {
	Command   int      // its index in Shell.Commands
	Variables []string // whose secrets they are
}

// Analyze reads script as sh -c would run it. The dialect is bash; commands that only a POSIX shell
// would find in the same text are listed too.
func Analyze(script string, opt Options) Analysis {
	a := newAnalysis(script, opt)
	if len(script) > maxScript {
		a.lack(lackSize)
		a.errText = "script is larger than 1 MiB"
		return a.result()
	}
	a.checkText(script)
	c := a.root()
	c.src = &source{text: placeholders(script), dialect: dialectScript}
	a.parsed = c.program(c.src)
	a.unfinished = unfinished(script, a.errText != "")
	c.finish()
	return a.result()
}

// checkText records properties of a text because of which no shell can be given it unchanged.
func (a *analysis) checkText(text string) {
	if !utf8.ValidString(text) {
		a.lack(lackUTF8)
	}
	if strings.IndexByte(text, 0) >= 0 {
		a.lack(lackParse)
	}
}

// AnalyzeArgv reads argv as one simple command that is executed without a shell. Positions are
// offsets into the argument vector as a shell would quote it, which is also [record.Command.Raw].
func AnalyzeArgv(argv []string, opt Options) Analysis {
	text, fields := quoteArgv(argv)
	a := newAnalysis(text, opt)
	a.parsed = true
	a.checkText(text)
	if len(text) > maxScript {
		a.lack(lackSize)
		return a.result()
	}
	c := a.root()
	c.src = &source{text: text}
	if len(fields) > 0 {
		c.dispatch(invocation{fields: fields, raw: clip(text, maxRaw), noFunc: true})
	}
	c.finish()
	return a.result()
}

// analysis is the state of one analysis: its results, and the budget that is left.
type analysis struct {
	opt     Options
	outer   string // the outermost script; every position is an offset into it
	lines   []int  // offsets of the beginnings of its lines, computed on first use
	parsed  bool
	errText string
	// unfinished says that a shell would read on before it ran the end of the text.
	unfinished bool

	commands  []found
	byOffset  map[int][]int32 // indexes into commands
	starts    map[int]bool    // offsets at which statements begin, from the first of the two readings
	reads     []use
	writes    []use
	usesSeen  map[useKey]struct{}
	written   map[string]field // content of the files that the script writes, by absolute path
	possible  int              // number of times that a value was used that is only possible
	copied    int              // bytes of these that were kept or used: see copies
	temporary int              // names that mktemp has returned
	links     []link           // symbolic links that the script creates, the last one first
	risks     risk
	lacks     lack
	size      int // bytes of text in the facts so far
	work      int // the budget that is left
	halted    bool
}

func newAnalysis(script string, opt Options) *analysis {
	return &analysis{opt: opt, outer: script, work: workFixed + workPerByte*len(script)}
}

func (a *analysis) root() *walker {
	s := &scope{cwd: dir{path: a.opt.Cwd, unknown: a.opt.Cwd == ""}, hasCwd: true, shell: new(shell)}
	return &walker{analysis: a, scope: s}
}
