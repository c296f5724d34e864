package setup

import (
	"fmt"
	"path/filepath"
	"strings"
)

// toggle is a switch with which an agent turns all hooks off.
type toggle struct {
	path []string
	off  bool // the value that turns them off
}

// read returns what a text says: whether it has the switch, and whether it turns hooks off.
func (t *toggle) read(text []byte) (off, said bool) {
	e, err := newEditor(text)
	if err != nil {
		return false, false
	}
	v := e.find(t.path)
	if v == nil {
		return false, false
	}
	on, said := plainText(v.Pack()).(bool)
	return said && on == t.off, said
}

// Off says which setting of the agent turns all of its hooks off, whoever has put them in, or
// returns "". Of the files that have the setting, the project's counts before the person's, and
// before both the person's own for the project.
func Off(name string, d Dirs) (why string) {
	for _, project := range []bool{false, true} {
		p, err := Where(name, project, d)
		if err != nil {
			return why
		}
		for i, f := range p.Agent.files {
			json, ok := f.format.(jsonFormat)
			if !ok || json.switched == nil {
				continue
			}
			paths := p.paths[i : i+1]
			if project && f.local != "" {
				paths = append(paths[:1:1], filepath.Join(filepath.Dir(p.paths[i]), f.local))
			}
			for _, path := range paths {
				text, err := p.read(path)
				if err != nil || text == nil {
					continue // State reports settings that cannot be read
				}
				if off, said := json.switched.read(text); off {
					why = fmt.Sprintf("%s sets %s to %v, which turns all hooks off", path, strings.Join(json.switched.path, "."), json.switched.off)
				} else if said {
					why = ""
				}
			}
		}
	}
	return why
}
