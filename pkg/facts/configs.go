package facts

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"ethos/pkg/catalog"
)

// maxConfig bounds repo_config.yaml, in bytes.
const maxConfig = 1 << 20

// configs remembers configurations by their file, for as long as it is not written to.
type configs struct {
	tree Tree
	file string // --config; "" is repo_config.yaml of the work space
	kept map[string]*config
}

// config is one repository's configuration and the catalog it makes.
type config struct {
	catalog.Config
	catalog *catalog.Catalog
	file    string // "" when there is none
	err     error
	stamp   stamp
}

// of returns the configuration of a work space. The error names the key and the line.
func (c *configs) of(workspace string) (*config, error) {
	name := c.file
	if name == "" {
		name = path.Join(workspace, catalog.ConfigName)
	}
	now := stampOf(c.tree, name)
	if have := c.kept[name]; have != nil && have.stamp == now {
		return have, have.err
	}
	if len(c.kept) >= maxKept || c.kept == nil {
		c.kept = map[string]*config{}
	}
	read := &config{stamp: now}
	read.err = read.load(c.tree, name, c.file != "")
	read.catalog = catalog.New(read.Config)
	c.kept[name] = read
	return read, read.err
}

// load reads the file. One that was named must be there.
func (c *config) load(t Tree, name string, named bool) error {
	text, err := t.ReadFile(name, maxConfig)
	if !named && (errors.Is(err, fs.ErrNotExist) || err != nil && guarded(t, name)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	c.file = name
	c.Config, err = catalog.ParseConfig(name, text)
	return err
}

// guarded reports an empty directory: what ethos-sandbox puts in the place of a file that does not exist while a command
// runs that must not make one.
func guarded(t Tree, name string) bool {
	names, err := t.Names(name, 1)
	return err == nil && len(names) == 0
}
