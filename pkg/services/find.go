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
	Remove  = "remove"  // can be made again
	Publish = "publish" // for everybody, for ever
	Change  = "change"  // of access, or of what guards it
	Reveal  = "reveal"  // prints a secret
)

// most bounds what one command is reported to do.
const most = 32

// Find lists what a command does to services; nil for most.
func Find(c *record.Command) (found []record.Service) {
	name, argv := program(c)
	if name == "" {
		return nil
	}
	found = of(c, name, argv)
	for i := within(name, argv); i > 0 && i < len(argv) && len(found) < most; i++ { // behind the container's or the machine's name
		if word := argv[i]; word != nil && !strings.HasPrefix(*word, "-") {
			if inner := path.Base(*word); inner != name && serves(inner) {
				found = append(found, of(c, inner, argv[i+1:])...)
			}
		}
	}
	return found[:min(len(found), most)]
}

// within is where the command may begin that a program runs in a container: behind
// its word for that; 0 without one.
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

// serves reports a client of a service.
func serves(name string) bool {
	if _, ok := clientNamed(name); ok {
		return true
	}
	system, _, _ := block(name)
	return system != ""
}

// of is what one program does.
func of(c *record.Command, name string, argv []*string) (found []record.Service) {
	found = append(found, statements(c, name, argv)...)
	found = append(found, requests(name, argv)...)
	if system, flags, lines := block(name); system != "" && !asksOnly(argv) {
		w := words{argv, flags}
		if s, ok := first(system, lines, w); ok && system != "socket" {
			found = append(found, s)
		}
		if system == "redis" || system == "socket" && w.somewhere("*.sock*") {
			found = append(found, typed(system, lines, c.Code)...)
		}
	}
	return found[:min(len(found), most)]
}

// program is the name and the arguments that decide: of a program that runs
// another one's code, the other's.
func program(c *record.Command) (string, []*string) {
	name, argv := strings.TrimSuffix(c.Name, ".exe"), c.Argv
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
		// split(1) takes a file and pieces of it; the other one takes a kind of thing and a verb.
	}
	return name, argv
}

func index(argv []*string, word string) int {
	return slices.IndexFunc(argv, func(w *string) bool { return w != nil && *w == word })
}

// asksOnly reports help and dry runs.
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

// first is the first line that the words match.
func first(system string, lines []line, w words) (record.Service, bool) {
	for i := range lines {
		if operation, rest, ok := lines[i].match(w); ok {
			return made(system, lines[i].effect, strings.Join(operation, " "), w.target(rest)), true
		}
	}
	return record.Service{}, false
}

// target is the next word that is no option.
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

// typed are the lines of a program that reads its commands.
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
