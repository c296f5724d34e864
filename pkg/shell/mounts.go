package shell

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
)

// mounts records the files of the host that a container gets to see. The host's side of a bind mount
// is read and, unless it is mounted read-only, written ([opMount]). The container's side is no file
// of the host: docker-run(1), podman-run(1). It returns which words of args belong to a mount. Where
// the command in the container begins is not known, so its words are read in the same way.
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
		if option == "--mount" {
			c.mount(f, d, name)
		} else {
			c.volume(f, d, name)
		}
	}
	return read
}

// mountOption returns the option of a word that mounts something, and where its argument begins,
// which is in the next word if that is the end. A short option may follow others that take no
// argument: -itv.
func mountOption(word string) (option string, at int) {
	for _, long := range [...]string{"--volume", "--mount"} {
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
	parts, err := csv.NewReader(strings.NewReader(f.text)).Read()
	if err != nil {
		parts = strings.Split(strings.ReplaceAll(f.text, `"`, ""), ",")
	}
	var sources []string
	bind, readOnly := false, false
	for _, part := range parts {
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
