package services

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// The values of [record.Service.Effect].
const (
	Destroy = "destroy" // cannot be undone
	Remove  = "remove"  // can be created again
	Publish = "publish" // visible to everybody, permanently
	Change  = "change"  // changes access, or what protects access
	Reveal  = "reveal"  // prints a secret
)

// most limits the effects reported for one command.
const most = 32

// Find lists what a command does to services. It returns nil for most commands. worthless reports
// whether a file, by its name in the command, is one that nobody keeps anything in.
func Find(c *record.Command, worthless func(file string) bool) (found []record.Service) {
	name, argv := program(c)
	if name == "" {
		return nil
	}
	found = of(c, name, argv, worthless)
	if starts(name) {
		if i := slices.IndexFunc(argv, func(w *string) bool { return w != nil && !strings.HasPrefix(*w, "-") }); i >= 0 && serves(*argv[i]) {
			found = append(found, of(c, *argv[i], argv[i+1:], worthless)...)
		}
	}
	for i := within(name, argv); i > 0 && i < len(argv) && len(found) < most; i++ { // after the container's name
		if word := argv[i]; word != nil && !strings.HasPrefix(*word, "-") {
			if inner := path.Base(*word); inner != name && serves(inner) {
				found = append(found, of(c, inner, argv[i+1:], nil)...)
			}
		}
	}
	return found[:min(len(found), most)]
}

// starts reports whether a program takes the name of another one for a command of its own: pnpm prisma.
func starts(name string) bool { return name == "pnpm" || name == "yarn" || name == "bun" }

// within returns the earliest index of the command that a program runs in a container: after the
// program's word for that. It returns 0 if there is none.
func within(name string, argv []*string) int {
	switch name {
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "k", "kubecolor", "oc", "lxc", "incus", "fly", "flyctl", "heroku", "kamal", "distrobox", "toolbox", "ecs-exec":
	default:
		return 0
	}
	for i, w := range argv {
		if w != nil && (*w == "exec" || *w == "run" || *w == "ssh" || *w == "console") {
			return i + 1
		}
	}
	return 0
}

// serves reports whether a program is a client of a service.
func serves(name string) bool {
	if _, ok := clientNamed(name); ok {
		return true
	}
	return block(name).system != ""
}

func of(c *record.Command, name string, argv []*string, worthless func(file string) bool) (found []record.Service) {
	found = append(found, statements(c, name, argv, worthless)...)
	found = append(found, requests(name, argv)...)
	if known := block(name); known.system != "" && !asksOnly(argv) {
		if known.answer != "" && slices.ContainsFunc(c.PipedFrom, answers) {
			argv = append(slices.Clip(argv), &known.answer)
		}
		w := words{argv, known.flags}
		if known.at != "" && w.here(known.at) {
			known.lines = known.lines[:known.always]
		}
		if s, ok := first(known.system, known.lines, w); ok && known.system != "socket" {
			found = append(found, s)
		}
		if known.system == "redis" || known.system == "socket" && w.somewhere("*.sock*") {
			found = append(found, typed(known.system, known.lines, c.Code)...)
		}
	}
	return found[:min(len(found), most)]
}

// answers reports whether a program upstream answers what a program asks.
func answers(name string) bool { return name == "yes" || name == "echo" || name == "printf" }

// program returns the name and the arguments to look up. For a program that runs another program's
// code, they are those of the other program.
func program(c *record.Command) (string, []*string) {
	name, argv := strings.TrimSuffix(c.Name, ".exe"), c.Argv
	if at := strings.LastIndexByte(name, '@'); at > 0 { // npx prisma@5
		name = name[:at]
	}
	if len(argv) == 0 {
		return "", nil
	}
	argv = argv[1:]
	switch base := strings.TrimRight(name, "0123456789."); {
	case name == "java":
		if i := index(argv, "-jar"); i >= 0 && i+1 < len(argv) && argv[i+1] != nil {
			return path.Base(*argv[i+1]), argv[i+2:]
		}
	case base == "python" || base == "php" || base == "ruby":
		if i := index(argv, "-m"); base == "python" && i >= 0 && i+1 < len(argv) && argv[i+1] != nil {
			return *argv[i+1], argv[i+2:]
		}
		for i, w := range argv {
			if w != nil && !strings.HasPrefix(*w, "-") {
				return path.Base(*w), argv[i+1:]
			}
		}
	case name == "bw" || name == "split":
		// split(1) takes a file and a size; the other program takes a kind of object and a verb.
	}
	return name, argv
}

func index(argv []*string, word string) int {
	return slices.IndexFunc(argv, func(w *string) bool { return w != nil && *w == word })
}

// asksOnly reports whether the command only asks for help or makes a dry run.
func asksOnly(argv []*string) bool {
	for i, w := range argv {
		if w == nil {
			continue
		}
		switch name, value, _ := strings.Cut(*w, "="); name {
		case "--help", "--dryrun", "--what-if", "--whatif", "-dry-run":
			return true
		case "--dry-run":
			if value != "none" && value != "false" {
				return true
			}
		case "-h":
			if i == len(argv)-1 {
				return true
			}
		case "help":
			if i == 0 {
				return true
			}
		}
	}
	return false
}

func first(system string, lines []line, w words) (record.Service, bool) {
	for i := range lines {
		if operation, rest, ok := lines[i].match(w); ok {
			return made(system, lines[i].effect, strings.Join(operation, " "), w.target(rest)), true
		}
	}
	return record.Service{}, false
}

// Shown returns the effect of a command that prints a secret of the environment, or records it.
func Shown(command, variable string) record.Service {
	return made("environment", Reveal, command, variable)
}

func (w words) target(from int) string {
	for i := from; i < len(w.argv); i++ {
		if !w.isOption(i) {
			return w.text(i)
		}
	}
	return ""
}

func made(system, effect, operation, target string) record.Service {
	return record.Service{
		System: system, Operation: operation, Effect: effect, Target: target,
		Destructive: effect == Destroy || effect == Remove, Reversible: effect == Remove || effect == Change || effect == Reveal,
	}
}

// typed returns the effects of commands that a program reads from code.
func typed(system string, lines []line, code string) (found []record.Service) {
	for text := range strings.SplitSeq(code, "\n") {
		fields := strings.Fields(text)
		argv := make([]*string, len(fields))
		for i := range fields {
			argv[i] = &fields[i]
		}
		if s, ok := first(system, lines, words{argv: argv}); ok && len(found) < most {
			found = append(found, s)
		}
	}
	return found
}
