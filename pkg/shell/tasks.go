package shell

import (
	"slices"
	"strings"

	"ethos/pkg/snippet"
)

// runner is a program that runs tasks of a file.
type runner struct {
	names string // of the program
	kind  snippet.TaskFile
	files string // the names that the file may have
	grammar
	file, dir string // options, without dashes, that name the file and its directory
	looks     string // options with which nothing is run
	run       string // words of which one comes before the name of a task; "" if none does
	bare      bool   // the name of a task may come first
}

var runners = [...]runner{
	{names: "make gmake", kind: snippet.Makes, files: "GNUmakefile makefile Makefile", grammar: grammar{"C:f:I:o:W:j?l?E:", "directory= file= makefile= include-dir= eval= jobs? load-average?"}, dir: "C directory", looks: "n just-print dry-run recon q question", bare: true},
	{names: "just", kind: snippet.Just, files: "justfile Justfile .justfile", grammar: grammar{"f:d:", "justfile= working-directory= set= shell= chooser="}, file: "f justfile", dir: "d working-directory", looks: "n dry-run l list s show summary dump evaluate", bare: true},
	{names: "task go-task", kind: snippet.Taskfile, files: "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml", grammar: grammar{"t:d:o:C:I:", "taskfile= dir= output= concurrency= interval="}, file: "t taskfile", dir: "d dir", looks: "n dry l list a list-all status summary", bare: true},
	{names: "npm", kind: snippet.Scripts, files: "package.json", grammar: grammar{"C:w:", "prefix= workspace="}, dir: "C prefix", run: "run run-script rum urn"},
	{names: "pnpm", kind: snippet.Scripts, files: "package.json", grammar: grammar{"C:F:", "dir= filter="}, dir: "C dir", run: "run run-script", bare: true},
	{names: "yarn yarnpkg", kind: snippet.Scripts, files: "package.json", grammar: grammar{"", "cwd="}, dir: "cwd", run: "run", bare: true},
	{names: "bun", kind: snippet.Scripts, files: "package.json", grammar: grammar{"", "cwd="}, dir: "cwd", run: "run", bare: true},
	{names: "deno", kind: snippet.Scripts, files: "deno.json deno.jsonc package.json", grammar: grammar{"", "cwd= config="}, dir: "cwd", run: "task run"},
	{names: "composer", kind: snippet.Scripts, files: "composer.json", grammar: grammar{"d:", "working-dir="}, dir: "d working-dir", run: "run run-script", bare: true},
}

// runningTask is a call of a runner around a piece of code.
type runningTask struct {
	outer *runningTask
	key   string
}

// tasks follows the tasks that a runner runs, if the script has written their file.
func (c *walker) tasks(inv invocation, name string) {
	if name == "npm" || name == "pnpm" {
		c.newScripts(inv)
	}
	if len(c.written) == 0 {
		return
	}
	i := slices.IndexFunc(runners[:], func(r runner) bool { return hasWord(r.names, name) })
	if i < 0 {
		return
	}
	r := &runners[i]
	p := r.parse(inv.fields[1:], false)
	if p.has(strings.Fields(r.looks)...) {
		return
	}
	d := c.dirOf(inv)
	if f, ok := p.value(strings.Fields(r.dir)...); ok {
		d = c.enterDir(f, d)
		inv.dir = &d
	}
	file, label := c.taskFile(r, &p, d)
	goals, more, vars := r.goals(p.operands)
	key := d.path + " " + label + " " + strings.Join(goals, " ")
	for at := c.running; at != nil; at = at.outer {
		if at.key == key { // it calls itself
			return
		}
	}
	in := *c
	in.running = &runningTask{c.running, key}
	for _, code := range snippet.Commands(r.kind, file, goals, vars) {
		f := c.snippetWord(code, inv.fields[0].at(0))
		in.shellCode(join(append([]field{f}, more...)), label, &positional{dyn: true}, inv)
	}
}

// newScripts follows the scripts that npm pkg set scripts.NAME=CODE writes.
func (c *walker) newScripts(inv invocation) {
	p := grammar{}.parse(inv.fields[1:], false)
	if len(p.operands) < 3 || p.operands[0].text != "pkg" || p.operands[1].text != "set" {
		return
	}
	for _, f := range p.operands[2:] {
		if at := strings.IndexByte(f.text, '='); at > 0 && strings.HasPrefix(f.text, "scripts") {
			c.shellCode(f.from(at+1), "package.json", &positional{dyn: true}, inv)
		}
	}
}

func (c *walker) taskFile(r *runner, p *parsed, d dir) (text, name string) {
	names := []field{}
	for word := range strings.FieldsSeq(r.files) {
		names = append(names, literal(word, 0))
	}
	if f, ok := p.value(strings.Fields(r.file)...); ok && r.file != "" {
		names = []field{f}
	}
	for _, f := range names {
		if text, ok := c.writtenTo(c.locate(f, d).absolute); ok {
			return text.text, names[0].text
		}
	}
	return "", ""
}

// goals returns the tasks that operands name, the words that are added to their code, and the
// variables that they set. What may run with a task of npm, or with an installation, counts.
func (r *runner) goals(operands []field) (goals []string, more []field, vars map[string]string) {
	vars = map[string]string{}
	if r.kind != snippet.Scripts {
		for _, f := range operands {
			if name, value, ok := strings.Cut(f.text, "="); ok {
				vars[strings.TrimRight(name, ":?+")] = value
			} else {
				goals = append(goals, f.text)
			}
		}
		return goals, nil, vars
	}
	if len(operands) == 0 {
		operands = []field{literal("install", 0)}
	}
	first := operands[0]
	switch operands = operands[1:]; {
	case hasWord(r.run, first.text):
		if len(operands) == 0 {
			return []string{""}, nil, vars
		}
		first, operands = operands[0], operands[1:]
	case hasWord("install i ci add update rebuild", first.text):
		return strings.Fields("preinstall install postinstall prepublish preprepare prepare postprepare pre-install-cmd post-install-cmd pre-update-cmd post-update-cmd post-autoload-dump"), nil, vars
	case hasWord("pack publish", first.text):
		return strings.Fields("prepublishOnly prepack prepare postpack publish postpublish"), nil, vars
	case hasWord("t tst", first.text):
		first.text = "test"
	case !r.bare && !hasWord("test start stop restart", first.text):
		return []string{""}, nil, vars
	}
	return []string{"pre" + first.text, first.text, "post" + first.text}, operands, vars
}
