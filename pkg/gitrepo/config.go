package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Config is the effective configuration: every entry of every scope, in the order in which git
// reads them. Later entries win.
type Config struct{ Entries []Entry }

// All returns every value of a canonical key, the effective one last.
func (c *Config) All(key string) []string {
	var out []string
	for _, e := range c.Entries {
		if e.Key == key {
			out = append(out, e.Value)
		}
	}
	return out
}

// Each calls f for every entry.
func (c *Config) Each(f func(key, value string)) {
	for _, e := range c.Entries {
		f(e.Key, e.Value)
	}
}

// Get returns the effective value of a canonical key.
func (c *Config) Get(key string) (string, bool) {
	for i := len(c.Entries) - 1; i >= 0; i-- {
		if c.Entries[i].Key == key {
			return c.Entries[i].Value, true
		}
	}
	return "", false
}

// loader reads configuration files with their includes.
type loader struct {
	conditions
	home    string
	scope   string
	files   int
	entries []Entry
	// urls are the addresses of the remotes, for hasconfig conditions. They are nil on the first
	// pass, which skips such conditions.
	urls     []string
	deferred bool // there is a hasconfig condition
}

// loadConfig reads the scopes in git's order: system, global, local, worktree. A missing file
// counts as empty.
func loadConfig(files []scopedFile, at conditions, home string) (*Config, error) {
	l := &loader{conditions: at, home: home}
	if err := l.run(files); err != nil {
		return &Config{Entries: l.entries}, err
	}
	if l.deferred { // a second pass, with the addresses known
		urls := []string{}
		for _, e := range l.entries {
			if strings.HasPrefix(e.Key, "remote.") && strings.HasSuffix(e.Key, ".url") {
				urls = append(urls, e.Value)
			}
		}
		l = &loader{conditions: at, home: home, urls: urls}
		if err := l.run(files); err != nil {
			return &Config{Entries: l.entries}, err
		}
	}
	return &Config{Entries: l.entries}, nil
}

type scopedFile struct{ scope, file string }

func (l *loader) run(files []scopedFile) error {
	for _, f := range files {
		l.scope = f.scope
		if err := l.load(f.file, 0); err != nil {
			return err
		}
	}
	return nil
}

// load reads one file. A file that is missing or may not be read counts as empty, as git treats its
// own standard files and includes.
func (l *loader) load(file string, depth int) error {
	if l.files++; l.files > maxFiles || depth > maxIncludes {
		return &fs.PathError{Op: "include", Path: file, Err: ErrTooLarge}
	}
	text, err := readFile(file, maxConfigFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || isNotDir(err) {
		return nil
	}
	if err != nil {
		if file == os.DevNull {
			return nil
		}
		return err
	}
	return ParseConfig(file, text, func(e Entry) error {
		e.Scope = l.scope
		l.entries = append(l.entries, e)
		return l.include(e, depth)
	})
}

// include follows include.path and includeIf.<condition>.path.
func (l *loader) include(e Entry, depth int) error {
	if e.Key != "include.path" {
		condition, ok := strings.CutPrefix(e.Key, "includeif.")
		condition, isPath := strings.CutSuffix(condition, ".path")
		if !ok || !isPath || !l.holds(condition, e.File) {
			return nil
		}
	}
	path, ok := l.expand(e.Value)
	if !ok {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(e.File), path)
	}
	return l.load(path, depth+1)
}

// expand replaces a leading "~/". It does not know other users' homes and %(prefix).
func (l *loader) expand(path string) (string, bool) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(l.home, rest), l.home != ""
	}
	return path, path != "" && !strings.HasPrefix(path, "~") && !strings.HasPrefix(path, "%(")
}
