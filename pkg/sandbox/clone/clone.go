package clone

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ethos/pkg/statedir"
)

// Folder is the folder of the clones' records in the state folder.
const Folder = "clones"

const (
	metaName = "clone.json"
	refsName = "refs.json"
)

// Source says what a clone is made of.
type Source struct {
	Name   string `json:"name"`   // usable as a directory name
	Origin string `json:"origin"` // the absolute root of the original work tree
	Branch string `json:"branch"` // the clone's own branch
	Base   string `json:"base"`   // the commit that the branch starts from, in hexadecimal
}

// Clone is an open clone.
type Clone struct {
	Source
	Dir     string    `json:"dir"`
	Merged  string    `json:"merged,omitempty"` // the branch's commit that was merged last
	Created time.Time `json:"created"`
	state   string
	held    *os.File
}

func dirOf(getenv func(string) string, name string) (string, error) {
	data := getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("neither XDG_DATA_HOME nor HOME is an absolute path")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "ethos", "workspaces", name), nil
}

// Create creates the empty directory of a clone, and records its source. The
// error wraps fs.ErrExist if a clone with the name exists.
func Create(getenv func(string) string, from Source) (*Clone, error) {
	dir, err := dirOf(getenv, from.Name)
	if err != nil {
		return nil, err
	}
	base, err := statedir.Make(getenv, Folder)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	above, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(above, from.Name)
	if strings.HasPrefix(dir, from.Origin+"/") {
		return nil, fmt.Errorf("%s lies in the work space %s, whose commands would see it", dir, from.Origin)
	}
	c := &Clone{Source: from, Dir: dir, Created: time.Now().UTC(), state: filepath.Join(base, from.Name)}
	if err := os.Mkdir(c.state, 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, errors.Join(err, os.Remove(c.state))
	}
	if c.held, err = statedir.Lock(c.state, true); err == nil {
		err = c.Save()
	}
	if err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}

// Open opens a clone, exclusively if alone is set, else shared. The error wraps
// fs.ErrNotExist if there is none, and is [statedir.ErrBusy] if others have it
// open.
func Open(getenv func(string) string, name string, alone bool) (*Clone, error) {
	base, err := statedir.Open(getenv, Folder)
	if err != nil {
		return nil, err
	}
	c := &Clone{state: filepath.Join(base, name)}
	if c.held, err = statedir.Lock(c.state, alone); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(c.state, metaName))
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", metaName, err), c.Close())
	}
	return c, nil
}

// Save saves what is known about the clone.
func (c *Clone) Save() error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return statedir.Replace(c.state, metaName, text, false)
}

// Scratch opens a new file without a name on the file system of the state
// folder.
func (c *Clone) Scratch() (*os.File, error) {
	f, err := os.CreateTemp(c.state, "scratch-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// Close releases the clone.
func (c *Clone) Close() error { return c.held.Close() }

// Remove removes the clone with everything in it.
func (c *Clone) Remove() error {
	if c.held != nil {
		defer c.held.Close()
	}
	err := statedir.RemoveTree(c.Dir)
	if err == nil { // otherwise Remove can be repeated
		err = statedir.RemoveTree(c.state)
	}
	return err
}
