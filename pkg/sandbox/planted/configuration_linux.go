package planted

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
)

var errTooMany = errors.New("more than the bound")

// config holds the settings of a configuration file that run something. dir is the git directory that it is in.
func (l *Look) config(path, dir string) {
	if !l.suspect(dir, path) {
		return
	}
	text, err := l.read(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return // not the command's, or nobody's
	}
	if err != nil {
		l.put(path, "a configuration that cannot be read: "+err.Error(), nil)
		return
	}
	var rest strings.Builder
	var out []string
	err = gitrepo.ParseConfig(path, text, func(e gitrepo.Entry) error {
		if gitargs.Executes(e.Key, e.Value) || l.misplaced(e, dir) {
			out = append(out, e.Key)
		} else {
			rest.WriteString(setting(e))
		}
		return nil
	})
	switch {
	case err != nil:
		l.put(path, "a configuration that cannot be read: "+err.Error(), nil)
	case len(out) > 0:
		l.put(path, strings.Join(out, ", "), []byte(rest.String()))
	}
}

// misplaced reports whether a setting makes a directory a work tree that the command could not write to.
func (l *Look) misplaced(e gitrepo.Entry, dir string) bool {
	if e.Key != "core.worktree" {
		return false
	}
	tree := e.Value
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(dir, tree)
	}
	real, err := filepath.EvalSymlinks(tree)
	return err == nil && !l.Writable(real)
}

// setting writes one setting as git-config(1) reads it.
func setting(e gitrepo.Entry) string {
	section, rest, _ := strings.Cut(e.Key, ".")
	sub, name := "", rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		sub, name = rest[:i], rest[i+1:]
		sub = ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub) + `"`
	}
	line := "[" + section + sub + "]\n\t" + name
	if e.Bare {
		return line + "\n"
	}
	value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(e.Value)
	return line + ` = "` + value + "\"\n"
}

// hooks takes the names of hooks away. git-init(1) makes samples, which git does not run.
func (l *Look) hooks(dir string) {
	real, ok := l.resolve(filepath.Join(dir, "hooks"))
	if !ok {
		return
	}
	for _, name := range names(real) {
		path := filepath.Join(real, name)
		if strings.HasSuffix(name, ".sample") || strings.Contains(name, ".held") || !l.suspect(dir, path) || !runnable(path) {
			continue
		}
		l.put(path, "a hook", nil)
	}
}
