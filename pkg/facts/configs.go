package facts

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"ethos/pkg/capability"
	"ethos/pkg/catalog"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// maxConfig is the size limit of repo_config.yaml in bytes.
const maxConfig = 1 << 20

// configs caches parsed configurations by file, until the file is written to.
type configs struct {
	tree Tree
	file string // --config; "" is repo_config.yaml of the work space
	kept map[string]*config
}

// ErrConfig is the error of a configuration file named by --config that cannot be read.
var ErrConfig = errors.New("read configuration")

// config is one configuration file and the catalog that it defines.
type config struct {
	catalog.Config
	catalog *catalog.Catalog
	file    string // "" if there is none
	digest  string
	named   bool // named by --config
	err     error
	stamp   stamp
}

// of returns the configuration of a work space. The error names the key and the line.
func (c *configs) of(workspace string) (*config, error) {
	if c.file != "" {
		return c.read(c.file, "")
	}
	return c.read(path.Join(workspace, capability.ConfigName), workspace)
}

// read returns the present content of a configuration file. root is the directory that a symbolic
// link of that name must not lead out of; "" permits every link.
func (c *configs) read(name, root string) (*config, error) {
	now := stampOf(c.tree, name)
	if have := c.kept[name]; have != nil && have.stamp == now {
		return have, have.err
	}
	if len(c.kept) >= maxKept || c.kept == nil {
		c.kept = map[string]*config{}
	}
	read := &config{stamp: now, named: root == ""}
	read.err = read.load(c, name, root)
	read.catalog = catalog.New(read.Config)
	c.kept[name] = read
	return read, read.err
}

// load reads the file. A file named by --config must exist. The content that is hashed is the
// content that is parsed.
func (c *config) load(from *configs, name, root string) error {
	text, err := ReadConfig(from.tree, name)
	if !c.named && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !c.named {
		err = leadsOut(from.tree, name, root)
	}
	switch {
	case err != nil && c.named:
		return fmt.Errorf("%w: %w", ErrConfig, err)
	case err != nil:
		return Unreadable(name, err)
	}
	c.file, c.digest = name, trust.Digest(text)
	c.Config, err = catalog.ParseConfig(name, text)
	return err
}

// ReadConfig reads a configuration file. The error wraps [fs.ErrNotExist] only if nothing has the
// name: a link to nothing is not a missing file, because whoever removes what it leads to would
// remove its restrictions.
func ReadConfig(t Tree, name string) ([]byte, error) {
	text, err := t.ReadFile(name, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		if _, absent := t.Lstat(name); !errors.Is(absent, fs.ErrNotExist) {
			return nil, errors.New("it is a link to a file that does not exist")
		}
	}
	return text, err
}

// Unreadable returns the error of a work space whose configuration file cannot be read.
func Unreadable(name string, err error) *catalog.ConfigError {
	return &catalog.ConfigError{File: name, Message: "cannot be read: " + cause(err), Hint: unreadableHint}
}

// unreadableHint is the remedy for a file that blocks every command. It works because the file
// binds the commands of agents and of the pipe, not the person's own shell.
const unreadableHint = "put a regular file in its place, or remove it, in a shell of your own"

// leadsOut refuses a configuration file that is a symbolic link out of its work space, because
// messages would reveal the content of the other file.
func leadsOut(t Tree, name, root string) error {
	at := resolve(t, name, false)
	if at.partial || !within(at.name, root) {
		return fmt.Errorf("it is a link that leads out of %s", root)
	}
	return nil
}

// cause returns an error without the path that it names.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// fact returns the file in the form of a record.
func (c *config) fact(trusted bool, widens []catalog.Widening) record.Configuration {
	out := record.Configuration{Path: c.file, Digest: c.digest, Trusted: trusted, Widens: make([]string, len(widens))}
	for i, w := range widens {
		out.Widens[i] = w.String()
	}
	return out
}
