package facts

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/origin"
	"ethos/pkg/record"
	"ethos/pkg/shell"
	"ethos/pkg/trust"
)

// Origins tells which runs could reach the network. Outside of tests it is [origin.Memory].
type Origins interface {
	// Runs returns nil if no run is recorded. If there is an error, nothing is known.
	Runs() (*origin.Runs, error)
}

// Reviews is a [Trust] that also knows which scripts a person has reviewed.
type Reviews interface {
	Reviewed(file, digest string) (bool, error)
}

const (
	maxFollowed = 64       // files that are searched for the files that they run
	maxCode     = 64 << 10 // of one of them, in bytes
	maxDeep     = 6        // nesting of scripts that run scripts
)

// originWork finds the files of one action that were written in a run that could reach the network.
type originWork struct {
	*work
	runs     *origin.Runs
	followed map[string]bool
	listed   map[string]map[string]bool // names by directory
}

// origins adds to the files of the action where they came from. It also adds files that would be
// executed or sourced and that came from such a run.
func (w *work) origins(analyses []shell.Analysis) {
	if w.d.opt.Origins == nil {
		return
	}
	runs, err := w.d.opt.Origins.Runs()
	if err != nil || runs == nil {
		return
	}
	o := &originWork{work: w, runs: runs, followed: map[string]bool{}, listed: map[string]map[string]bool{}}
	for i := range w.files.files {
		if f := &w.files.files[i]; f.Exists {
			f.Origin = o.of(f.Resolved)
		}
	}
	for i := range analyses {
		o.analysis(&analyses[i])
	}
	o.hooks()
}

// of returns the origin of a file, or nil if it came from no recorded run. name is resolved.
func (o *originWork) of(name string) *record.Origin {
	info, err := o.d.opt.Tree.Lstat(name)
	if err != nil {
		return nil
	}
	var text []byte
	read := func() []byte {
		if text == nil {
			text, _ = o.d.opt.Tree.ReadFile(name, trust.MaxText)
		}
		return text
	}
	run := o.runs.Of(name, info, read)
	if run == nil {
		return nil
	}
	out := &record.Origin{Action: run.Action, Agent: run.Agent, Network: run.Network}
	if reviews, ok := o.d.opt.Trust.(Reviews); ok && read() != nil {
		seen, err := reviews.Reviewed(name, trust.Digest(text))
		out.Reviewed = seen && err == nil
	}
	return out
}

// follow examines a file that would be executed or sourced, and the files that it names.
func (o *originWork) follow(name, cwd string, depth int) {
	at := resolve(o.d.opt.Tree, name, false)
	if !at.exists || o.followed[at.name] || len(o.followed) >= maxFollowed || depth > maxDeep {
		return
	}
	info, err := o.d.opt.Tree.Lstat(at.name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	o.followed[at.name] = true
	if from := o.of(at.name); from != nil {
		from.Executed = true
		o.executed(name, at.name, from)
		if !from.Reviewed {
			return
		}
	}
	if !within(at.name, o.place.workspace) || origin.Dependency(strings.TrimPrefix(at.name, o.place.workspace)) || info.Size() > maxCode {
		return
	}
	text, err := o.d.opt.Tree.ReadFile(at.name, maxCode)
	if err != nil || slices.Contains(text[:min(len(text), 512)], 0) {
		return
	}
	o.mentioned(origin.Commands(at.name, text), path.Base(at.name), path.Dir(at.name), cwd, depth)
}

// executed records the origin of a file that would run.
func (o *originWork) executed(name, resolved string, from *record.Origin) {
	for i := range o.files.files {
		if f := &o.files.files[i]; f.Resolved == resolved && f.Op == "read" {
			f.Origin = from
			return
		}
	}
	if len(o.files.files) >= maxFiles {
		o.lacks.add(record.IncompleteSize)
		return
	}
	shown := path.Clean(name)
	if within(shown, o.place.workspace) {
		shown = strings.TrimPrefix(shown, o.place.workspace+"/")
	}
	f := o.files.find("read", shown, name)
	f.Origin = from
	o.files.files = append(o.files.files, f)
}

// interpreters are programs that run the file named on their command line.
const interpreters = " bash sh zsh dash ksh ash fish source . python pypy perl ruby node nodejs deno bun php lua luajit Rscript julia tclsh osascript pwsh tsx ts-node make gmake just rake ninja task pytest py.test expect "

// defaults are the files that a program runs if the command line names none.
var defaults = lazy.Value[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{
		"make": {"GNUmakefile", "makefile", "Makefile"}, "gmake": {"GNUmakefile", "makefile", "Makefile"},
		"just": {"justfile", ".justfile", "Justfile"}, "rake": {"Rakefile", "rakefile"}, "ninja": {"build.ninja"}, "task": {"Taskfile.yml", "Taskfile.yaml"},
		"npm": {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "bun": {"package.json"}, "composer": {"composer.json"},
		"gulp": {"gulpfile.js", "gulpfile.mjs"}, "grunt": {"Gruntfile.js"}, "tox": {"tox.ini"}, "nox": {"noxfile.py"}, "gradle": {"build.gradle", "build.gradle.kts"},
		"pytest": {"conftest.py"}, "py.test": {"conftest.py"}, "vite": {"vite.config.js", "vite.config.ts"}, "webpack": {"webpack.config.js"},
		"jest": {"jest.config.js"}, "eslint": {"eslint.config.js", "eslint.config.mjs"}, "cmake": {"CMakeLists.txt"}, "bundle": {"Gemfile"},
	}
}}

// loaders are variables that name code which a program runs first.
const loaders = " BASH_ENV ENV PYTHONSTARTUP NODE_OPTIONS RUBYOPT PERL5OPT LD_PRELOAD "

// inline are the options whose argument is code, of the interpreters that also take a file.
const inline = " -c -e -E -p --eval --print -r "

// unversioned returns the name of an interpreter without its version: python for python3.12.
func unversioned(name string) string {
	if short := strings.TrimRight(name, "0123456789."); short != "" {
		return short
	}
	return name
}

// analysis follows the files that the commands of one analysis execute or source.
func (o *originWork) analysis(a *shell.Analysis) {
	fed := false
	for i := range a.Shell.Commands {
		c, cwd := &a.Shell.Commands[i], a.Cwds[i]
		if cwd == "" {
			cwd = o.action.Cwd
		}
		switch {
		case strings.Contains(c.Path, "/"):
			o.follow(o.files.absolute(c.Path, cwd), cwd, 0)
		case len(c.Wrappers) > 0 && strings.Contains(c.Path, "."):
			o.follow(path.Join(cwd, c.Path), cwd, 0)
		}
		for _, set := range c.Assignments {
			if set.Value != nil && strings.Contains(loaders, " "+set.Name+" ") {
				for _, word := range strings.FieldsFunc(*set.Value, func(r rune) bool { return r == ' ' || r == '=' || r == ':' }) {
					o.follow(o.files.absolute(word, cwd), cwd, 0)
				}
			}
		}
		dirs := sentInto(c, cwd)
		for _, name := range defaults.Get()[c.Name] {
			for _, dir := range dirs {
				o.follow(path.Join(dir, name), dir, 0)
			}
		}
		if c.Name == "go" && len(c.Argv) > 2 && word(c.Argv[1]) == "run" {
			o.packageOf(c, cwd)
		}
		if slices.Contains([]string{"awk", "gawk", "mawk", "sed"}, c.Name) {
			for j, w := range c.Argv[1:] {
				if option := word(w); j+2 < len(c.Argv) && (option == "-f" || option == "--file") {
					o.follow(o.files.absolute(word(c.Argv[j+2]), cwd), cwd, 0)
				}
			}
		}
		if strings.Contains(interpreters, " "+unversioned(c.Name)+" ") {
			fed = o.interpreter(a, c, cwd) || fed
		}
	}
	o.reads(a, fed)
}

// reads follows the files that an interpreter reads: those that patterns match and, if its standard
// input is code, those that are fed to it.
func (o *originWork) reads(a *shell.Analysis, fed bool) {
	for i, u := range a.Shell.Reads {
		name := a.Reads[i]
		fed := fed && slices.Contains([]string{"redirect", "cat", "tee", "sed", "envsubst"}, u.By)
		at := strings.IndexAny(name, "*?[")
		switch {
		case at < 0:
			if fed && name != "" {
				o.follow(name, o.action.Cwd, 0)
			}
		case !strings.Contains(name, "**") && (fed || strings.Contains(interpreters, " "+unversioned(u.By)+" ")):
			dir := name[:strings.LastIndexByte(name[:at], '/')+1]
			o.files.walk(dir, strings.Split(name[len(dir):], "/"), func(name string) { o.follow(name, o.action.Cwd, 0) })
		}
	}
}

// word returns the text of a word, or "" if it is not static.
func word(w *string) string {
	if w == nil {
		return ""
	}
	return *w
}

// sentInto returns the directory that a command runs in, and those that its options change to.
func sentInto(c *record.Command, cwd string) []string {
	dirs := []string{cwd}
	for i, w := range c.Argv {
		option, value, joined := strings.Cut(word(w), "=")
		switch {
		case slices.Contains([]string{"-C", "--directory", "--prefix", "--cwd", "--dir", "-d", "--working-directory"}, option):
			if !joined && i+1 < len(c.Argv) {
				value = word(c.Argv[i+1])
			}
		case strings.HasPrefix(option, "-C") && len(option) > 2:
			value = option[2:]
		default:
			continue
		}
		if value != "" {
			dirs = append(dirs, sentTo(cwd, value))
		}
	}
	return dirs
}

// interpreter follows the code of an interpreter: the first file that its arguments name, the files
// that options load before it, and the files that inline code names. It reports whether standard
// input is the code.
func (o *originWork) interpreter(a *shell.Analysis, c *record.Command, cwd string) (fed bool) {
	name := unversioned(c.Name)
	several := name == "make" || name == "gmake" || name == "pytest" || name == "py.test"
	dirs := sentInto(c, cwd)
	for i, w := range c.Argv[min(1, len(c.Argv)):] {
		text := word(w)
		switch {
		case text == "":
			continue
		case text == "-m" && name == "python" && i+2 < len(c.Argv):
			if module := word(c.Argv[i+2]); module == "pytest" {
				several = true
				o.follow(path.Join(cwd, "conftest.py"), cwd, 0)
				continue
			} else {
				o.mentioned([]byte("import "+module), "m.py", cwd, cwd, 0)
			}
			return false
		case strings.Contains(inline, " "+text+" ") && c.Code != "":
			o.mentioned([]byte(c.Code), "code"+extensionOf(name), cwd, cwd, 0)
			return false
		case strings.HasPrefix(text, "-"):
			if _, value, joined := strings.Cut(text, "="); joined && value != "" {
				text = value
			} else if len(text) > 2 && text[1] != '-' {
				text = text[2:]
			}
		}
		text, _, _ = strings.Cut(text, "::")
		for _, dir := range dirs {
			o.follow(o.files.absolute(text, dir), cwd, 0)
		}
		if !several && !strings.HasPrefix(word(w), "-") && o.isScript(a, c.Name, o.files.absolute(text, cwd)) {
			return false
		}
	}
	return c.Code == "" && !several
}

// isScript reports whether the analysis took a word for a file of code.
func (o *originWork) isScript(a *shell.Analysis, by, name string) bool {
	for i, u := range a.Shell.Reads {
		if u.By == by && a.Reads[i] != "" && path.Clean(a.Reads[i]) == path.Clean(name) {
			return true
		}
	}
	return false
}

// packageOf follows the Go files that `go run` names, or those of the directory that it names.
func (o *originWork) packageOf(c *record.Command, cwd string) {
	for _, w := range c.Argv[2:] {
		at := path.Join(cwd, word(w))
		if strings.HasSuffix(at, ".go") {
			o.follow(at, cwd, 0)
			continue
		}
		if strings.HasPrefix(word(w), ".") {
			for name := range o.names(at) {
				if strings.HasSuffix(name, ".go") {
					o.follow(path.Join(at, name), cwd, 0)
				}
			}
		}
	}
}

// hooking maps the git commands that run hooks to these hooks; nil stands for all but pre-push. See
// githooks(5).
var hooking = lazy.Value[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{
		"commit": {"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "reference-transaction", "post-index-change"},
		"push":   {"pre-push", "reference-transaction"}, "merge": nil, "pull": nil, "rebase": nil, "checkout": nil, "switch": nil, "am": nil, "cherry-pick": nil, "revert": nil, "worktree": nil,
	}
}}

// hooks follows the hooks that git commands of the action would run.
func (o *originWork) hooks() {
	for i := range o.git {
		wanted, ok := hooking.Get()[o.git[i].Subcommand]
		if !ok || slices.Contains(o.git[i].Dangers, "hook_bypass") || o.repo == nil || o.repo.Repository == nil {
			continue
		}
		dir := o.repo.HooksDir()
		if dir == "" {
			continue
		}
		dirs := []string{dir}
		if path.Base(dir) == "_" { // husky's; its programs run those in the parent directory
			dirs = append(dirs, path.Dir(dir))
		}
		for _, dir := range dirs {
			for name := range o.names(dir) {
				if slices.Contains(wanted, name) || wanted == nil && name != "pre-push" && !strings.HasSuffix(name, ".sample") {
					o.follow(path.Join(dir, name), o.repo.Record.Root, 0)
				}
			}
		}
	}
}

// names returns the names in a directory, up to the limit that is read.
func (o *originWork) names(dir string) map[string]bool {
	have, ok := o.listed[dir]
	if !ok {
		list, _ := o.d.opt.Tree.Names(dir, maxEntries)
		have = make(map[string]bool, len(list))
		for _, n := range list {
			have[n] = true
		}
		o.listed[dir] = have
	}
	return have
}

// executable reports whether a file is one that others run, judged by its name or mode.
func executable(name string, info fs.FileInfo) bool {
	return info.Mode()&0o111 != 0 || slices.Contains(codeExtensions, path.Ext(name)) || strings.EqualFold(path.Base(name), "makefile")
}
