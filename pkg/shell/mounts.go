package shell

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
)

// mounts records the files of the host that a container gets to see, or the build of an image. The
// host's side of a bind mount is read and, unless it is mounted read-only, written ([opMount]). The
// container's side is no file of the host: docker-run(1), podman-run(1). A build reads secrets, keys
// and further contexts: docker-buildx-build(1), podman-build(1). It returns which words of args
// belong to these options. Where the command in the container begins is not known, so its words are
// read in the same way.
func (c *walker) mounts(args []field, d dir, name string) (read []bool) {
	read = make([]bool, len(args)+1)
	for i, f := range args {
		option, at := mountOption(f.text)
		switch {
		case option == "":
			continue
		case at < len(f.text):
			f, read[i] = f.from(at), true
		case i+1 < len(args):
			f, read[i+1] = args[i+1], true
		default:
			continue
		}
		switch option {
		case "--mount":
			c.mount(f, d, name)
		case "--secret":
			c.secret(f, d, name)
		case "--ssh":
			c.keys(f, d, name)
		case "--build-context":
			c.context(f, d, name)
		default:
			c.volume(f, d, name)
		}
	}
	return read
}

// mountOption returns the option of a word that makes files visible, and where its argument begins,
// which is in the next word if that is the end. A short option may follow others that take no
// argument: -itv.
func mountOption(word string) (option string, at int) {
	for _, long := range [...]string{"--volume", "--mount", "--secret", "--ssh", "--build-context"} {
		if rest, ok := strings.CutPrefix(word, long); ok && (rest == "" || rest[0] == '=') {
			return long, min(len(long)+1, len(word))
		}
	}
	if len(word) < 2 || word[0] != '-' {
		return "", 0
	}
	short := strings.TrimLeft(word[1:], "ditqPT")
	if short == "" || short[0] != 'v' {
		return "", 0
	}
	return "-v", len(word) - len(strings.TrimPrefix(short[1:], "="))
}

// volume reads [SOURCE:]TARGET[:OPTION,…].
func (c *walker) volume(f field, d dir, name string) {
	parts := colons(f)
	if len(parts) < 2 {
		return // a volume without a name
	}
	options := strings.Split(strings.Join(parts[2:], ","), ",")
	c.host(f, parts[0], false, slices.Contains(options, "ro") || slices.Contains(options, "readonly"), d, name)
}

// colons splits a word at its colons, but not at those of an expansion: "${DIR:-.}":/src.
func colons(f field) (parts []string) {
	depth, start := 0, 0
	for i := range len(f.text) {
		switch ch := f.text[i]; {
		case f.dyn && (ch == '{' || ch == '('):
			depth++
		case f.dyn && (ch == '}' || ch == ')'):
			depth--
		case ch == ':' && depth <= 0:
			parts, start = append(parts, f.text[start:i]), i+1
		}
	}
	return append(parts, f.text[start:])
}

// mount reads KEY=VALUE,…, which is a line of CSV. A key that is not known may name a file of the
// host too: volume-opt=device=/path.
func (c *walker) mount(f field, d dir, name string) {
	var sources []string
	bind, readOnly := false, false
	for _, part := range pairs(f) {
		key, value, given := strings.Cut(part, "=")
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "dst", "destination", "target":
		case "type":
			bind = strings.EqualFold(value, "bind")
		case "src", "source":
			sources = append(sources, value)
		case "ro", "readonly":
			on, err := strconv.ParseBool(value)
			readOnly = !given || err == nil && on
		default:
			g := f
			g.text = part
			if found, ok := c.sensitive(g); ok {
				c.read(c.locate(found, d), name)
			}
		}
	}
	for _, source := range sources {
		c.host(f, source, bind, readOnly, d, name)
	}
}

// pairs splits a line of CSV.
func pairs(f field) []string {
	parts, err := csv.NewReader(strings.NewReader(f.text)).Read()
	if err != nil {
		return strings.Split(strings.ReplaceAll(f.text, `"`, ""), ",")
	}
	return parts
}

// secret reads id=NAME,src=FILE. Without a slash or a dot, src may be the name of a secret that the
// engine has.
func (c *walker) secret(f field, d dir, name string) {
	for _, part := range pairs(f) {
		switch key, value, _ := strings.Cut(part, "="); strings.ToLower(strings.TrimSpace(key)) {
		case "src", "source":
			c.host(f, value, false, true, d, name)
		}
	}
}

// keys reads NAME=FILE,…, each a key or an agent's socket. Without files it is the agent of the
// environment.
func (c *walker) keys(f field, d dir, name string) {
	_, files, _ := strings.Cut(f.text, "=")
	for file := range strings.SplitSeq(files, ",") {
		c.host(f, file, false, true, d, name)
	}
}

// context reads NAME=DIRECTORY, or NAME=SCHEME://…
func (c *walker) context(f field, d dir, name string) {
	if _, place, _ := strings.Cut(f.text, "="); !strings.Contains(place, "://") {
		c.host(f, place, false, true, d, name)
	}
}

// host records the host's side of a mount, which is a part of the word f. Without a slash or a dot it
// is the name of a volume, unless the mount says that it binds.
func (c *walker) host(f field, source string, bind, readOnly bool, d dir, name string) {
	g := c.snippetWord(source, f.at(0))
	g.dyn = f.dyn && strings.ContainsAny(source, "$`{}*?<>")
	g.many = f.many && g.dyn
	if !bind && !g.dyn && !strings.Contains(source, "/") && !strings.HasPrefix(source, ".") && !strings.HasPrefix(source, "~") {
		return
	}
	at := c.locate(g, d)
	if c.read(at, name); !readOnly {
		c.write(at, name, opMount)
	}
}
