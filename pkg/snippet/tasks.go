package snippet

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"ethos/pkg/lazy"
)

// TaskFile is the notation of a file in which a runner of tasks finds its commands.
type TaskFile uint8

// The notations of a [TaskFile].
const (
	NoTasks  TaskFile = iota
	Makes             // Makefile: GNU make manual, "Writing Rules"
	Just              // justfile: just manual
	Taskfile          // Taskfile.yml: taskfile.dev, "Schema"
	Scripts           // the scripts of package.json and composer.json, the tasks of deno.json
)

// tasks are the tasks of a file. Loaded is the code that runs whenever the file is read.
type tasks struct {
	order  []string
	code   map[string][]string
	needs  map[string][]string
	loaded []string
	vars   map[string]string
}

// Commands returns the code for a shell that a runner of tasks runs for the goals, and for what these
// need. Without a goal, that is the first task. A goal that is not in the file may be made by any
// rule. What is not known stays as a variable of the shell.
func Commands(kind TaskFile, file string, goals []string, vars map[string]string) []string {
	t := tasks{code: map[string][]string{}, needs: map[string][]string{}, vars: map[string]string{}}
	file = strings.ReplaceAll(file, "\\\n", " ")
	switch kind {
	case Makes:
		for _, v := range makeVariables {
			t.vars[v[0]] = v[1]
		}
		t.makes(file)
	case Just:
		t.just(file)
	case Taskfile:
		t.taskfile(file)
	case Scripts:
		t.scripts(file)
	}
	for name, value := range vars {
		t.vars[name] = value
	}
	return t.run(kind, goals)
}

// makeVariables are variables that make knows without a definition, and their values.
var makeVariables = [...][2]string{{"HOME", "~"}, {"MAKE", "make"}, {"RM", "rm -f"}, {"CC", "cc"}, {"CXX", "c++"}, {"AR", "ar"}, {"LD", "ld"}, {"SHELL", "/bin/sh"}, {"CURDIR", "."}}

func (t *tasks) add(name string, needs []string) {
	if _, known := t.code[name]; !known {
		t.order, t.code[name] = append(t.order, name), nil
	}
	t.needs[name] = append(t.needs[name], needs...)
}

func (t *tasks) run(kind TaskFile, goals []string) (code []string) {
	if len(goals) == 0 {
		goals = t.first(kind)
	}
	queue, seen := slices.Clone(goals), map[string]bool{}
	for _, name := range t.order { // a pattern, or a name that is computed
		if kind == Makes && strings.ContainsAny(name, "%$") {
			queue = append(queue, name)
		}
	}
	code = slices.Clone(t.loaded)
	for len(queue) > 0 && len(code) < maxActs {
		name := queue[0]
		queue = queue[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		code = append(code, t.code[name]...)
		queue = append(queue, t.needs[name]...)
	}
	for i := range code {
		code[i] = t.expand(kind, code[i])
	}
	return code[:min(len(code), maxActs)]
}

// first returns the task that is run if none is named.
func (t *tasks) first(kind TaskFile) []string {
	if kind == Taskfile {
		return []string{"default"}
	}
	for _, name := range t.order {
		if kind == Just || kind == Makes && !strings.HasPrefix(name, ".") {
			return []string{name}
		}
	}
	return nil
}

var (
	makeAssignment = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:export\s+|override\s+)*([\w.-]+)\s*(\?|\+|::?|!)?=\s*(.*)$`)
	}}
	makeReference = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`\$(\$|\(([\w.-]+)\)|\{([\w.-]+)\}|[@<^*?+%]|\([^()]*\))`)
	}}
	justRecipe   = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^@?([A-Za-z_][\w-]*)(\s[^:]*)?:([^=].*)?$`) }}
	justVariable = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*['"]?([^'"]*)['"]?$`)
	}}
	braces  = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\{\{-?\s*\.?([\w-]*)[^{}]*\}\}`) }}
	taskKey = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^["']?([\w:*.-]+)["']?:(?:\s+(.*))?$`) }}
)

func (t *tasks) makes(file string) {
	var targets []string
	for line := range strings.Lines(file) {
		line = strings.TrimRight(line, "\r\n")
		recipe, isRecipe := strings.CutPrefix(line, "\t")
		if isRecipe {
			t.shells(recipe)
			for _, name := range targets {
				t.code[name] = append(t.code[name], strings.TrimLeft(recipe, " \t@-+"))
			}
			continue
		}
		if m := makeAssignment.Get().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			if t.vars[m[1]] = m[3]; m[2] == "!" {
				t.loaded = append(t.loaded, m[3])
			}
			t.shells(line)
			continue
		}
		t.shells(line)
		head, rest, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		needs, inline, has := strings.Cut(rest, ";")
		targets = strings.Fields(head)
		for _, name := range targets {
			if t.add(name, strings.Fields(strings.Trim(needs, ":|&"))); has {
				t.code[name] = append(t.code[name], strings.TrimLeft(inline, " \t@-+"))
			}
		}
	}
}

// shells keeps the code of $(shell …) in a line.
func (t *tasks) shells(line string) {
	for {
		_, after, found := strings.Cut(line, "$(shell ")
		if !found {
			return
		}
		code := balanced(after)
		t.loaded = append(t.loaded, code)
		line = after[len(code):]
	}
}

func (t *tasks) just(file string) {
	name := ""
	for line := range strings.Lines(file) {
		line = strings.TrimRight(line, "\r\n ")
		switch {
		case line == "":
		case line[0] == ' ' || line[0] == '\t':
			if body := strings.TrimLeft(line, " \t@-"); name != "" && !strings.HasPrefix(body, "#!") {
				t.code[name] = append(t.code[name], body)
			}
		case justVariable.Get().MatchString(line):
			m := justVariable.Get().FindStringSubmatch(line)
			t.vars[m[1]] = m[2]
			if inner := strings.Trim(m[2], "`"); inner != m[2] {
				t.loaded = append(t.loaded, inner)
			}
		default:
			name = ""
			if m := justRecipe.Get().FindStringSubmatch(line); m != nil {
				name = m[1]
				t.add(name, strings.FieldsFunc(m[3], func(r rune) bool { return strings.ContainsRune(" \t()&", r) }))
			}
		}
	}
}

// taskfile reads the tasks of a Taskfile. It is no reader of YAML: each line below a task is a
// command, unless its key is that of something else.
func (t *tasks) taskfile(file string) {
	inside, depth, name := false, 0, ""
	for line := range strings.Lines(file) {
		line = strings.TrimRight(line, "\r\n ")
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if text == "" || text[0] == '#' {
			continue
		}
		key := taskKey.Get().FindStringSubmatch(text)
		switch {
		case indent == 0:
			inside, depth, name = strings.HasPrefix(text, "tasks:"), 0, ""
		case !inside:
			if key != nil && key[1] == "sh" {
				t.loaded = append(t.loaded, scalar(key[2]))
			}
		case (depth == 0 || indent <= depth) && key != nil:
			depth, name = indent, key[1]
			t.add(name, nil)
			t.taskLine(name, key[2])
		default:
			t.taskLine(name, text)
		}
	}
}

func (t *tasks) taskLine(name, text string) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "-"))
	if m := taskKey.Get().FindStringSubmatch(text); m != nil {
		switch m[1] {
		case "cmd", "cmds", "sh", "defer", "deps", "task":
			text = m[2]
		default:
			return
		}
	}
	items := []string{text}
	if list, ok := strings.CutPrefix(text, "["); ok {
		items = strings.Split(strings.TrimSuffix(list, "]"), ",")
	}
	for _, item := range items {
		if item = scalar(item); item == "" || item == "|" || item == ">" {
			continue
		}
		t.code[name] = append(t.code[name], item)
		t.needs[name] = append(t.needs[name], item) // or it is the name of a task
	}
}

func scalar(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text); n > 1 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		inner := text[1 : n-1]
		if text[0] == '\'' {
			return strings.ReplaceAll(inner, "''", "'")
		}
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(inner)
	}
	return text
}

// scripts reads the scripts of a file in JSON: each is one command, or a list of them.
func (t *tasks) scripts(file string) {
	var found struct {
		Scripts, Tasks map[string]json.RawMessage
	}
	if json.Unmarshal([]byte(file), &found) != nil {
		return
	}
	for _, group := range []map[string]json.RawMessage{found.Scripts, found.Tasks} {
		for name, raw := range group {
			var one string
			var list []string
			var command struct{ Command string }
			switch {
			case json.Unmarshal(raw, &one) == nil:
				list = []string{one}
			case json.Unmarshal(raw, &list) == nil:
			case json.Unmarshal(raw, &command) == nil:
				list = []string{command.Command}
			}
			t.add(name, nil)
			t.code[name] = append(t.code[name], list...)
		}
	}
}

// maxExpanded limits the length of code after the expansion of variables.
const maxExpanded = 1 << 16

// expand replaces the variables of the runner by their values, and others by variables of the shell.
func (t *tasks) expand(kind TaskFile, code string) string {
	switch kind {
	case Makes:
		for range 4 {
			before := code
			code = makeReference.Get().ReplaceAllStringFunc(code, t.makeValue)
			if code == before || len(code) > maxExpanded {
				break
			}
		}
		return strings.ReplaceAll(code, "$$", "$")
	case Just, Taskfile:
		return braces.Get().ReplaceAllStringFunc(code, func(ref string) string {
			name := braces.Get().FindStringSubmatch(ref)[1]
			if value, ok := t.vars[name]; ok {
				return value
			}
			return "${" + strings.ReplaceAll(name, "-", "_") + "_}"
		})
	}
	return code
}

func (t *tasks) makeValue(ref string) string {
	name := strings.Trim(ref[1:], "(){}")
	switch value, ok := t.vars[name]; {
	case ref == "$$":
		return ref
	case ok:
		return value
	}
	return "$${make_}"
}
