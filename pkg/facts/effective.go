package facts

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"ethos/pkg/capability"
	"ethos/pkg/catalog"
	"ethos/pkg/record"
)

// Trust tells what a person has accepted. Outside of tests it is [trust.Memory].
type Trust interface {
	// Trusted reports whether a person has accepted this content of this file. If there is an
	// error, the answer is no, and the action continues without the file.
	Trusted(file, digest string) (bool, error)
}

// effective is the configuration that applies to an action: the work space's own file, as far as it
// is trusted or restricts, and the restrictions of the work trees that contain the work space. A
// file in an outer work tree restricts the inner ones, even if they are work trees of their own,
// but grants them nothing.
type effective struct {
	catalog.Config
	catalog *catalog.Catalog
	file    string // the work space's own; "" if there is none
	files   []record.Configuration
	// defined are the catalogs of files that define tools and are not trusted. An action may use no
	// more than each of them allows.
	defined []*catalog.Catalog
}

// effective reads the configuration files of a work space. The error names the file, the key and
// the line.
func (d *Deriver) effective(workspace string) (*effective, error) {
	own, err := d.configs.of(workspace)
	if err != nil {
		return nil, err
	}
	around, err := d.configs.around(workspace)
	if err != nil {
		return nil, err
	}
	e := &effective{catalog: own.catalog, file: own.file}
	w := d.workSpace(workspace)
	switch trusted := d.trusted(own); {
	case own.file == "":
	case trusted:
		e.Config = own.Config
		e.files = append(e.files, own.fact(true, own.Widenings(w)))
	default:
		less := own.Bounded(w)
		e.Adds = less.Adds
		e.bound(own, less)
		e.files = append(e.files, own.fact(false, own.Widenings(w)))
	}
	for _, outer := range around {
		e.bound(outer, outer.Bounded(w))
		e.files = append(e.files, outer.fact(d.trusted(outer), nil))
	}
	return e, nil
}

// Notes returns the remarks on the configuration of a work space: see [catalog.Config].
func (d *Deriver) Notes(workspace string) []string {
	own, err := d.configs.of(workspace)
	if err != nil {
		return nil // Derive reports the error
	}
	return own.Notes
}

// trusted reports whether the parts of a file that widen apply.
func (d *Deriver) trusted(c *config) bool {
	if c.named || c.file == "" || d.opt.Trust == nil {
		return c.named
	}
	ok, err := d.opt.Trust.Trusted(c.file, c.digest)
	return ok && err == nil
}

func (d *Deriver) workSpace(workspace string) catalog.WorkSpace {
	return catalog.WorkSpace{
		Space:   capability.Space{Workspace: workspace, Home: d.opt.Home},
		Resolve: func(name string) string { return resolve(d.opt.Tree, name, false).name },
	}
}

// bound adds the restrictions of a file; less is the part of it that restricts.
func (e *effective) bound(c *config, less catalog.Config) {
	e.NetworkTools = slices.Concat(e.NetworkTools, less.NetworkTools)
	e.ProtectedBranches = slices.Concat(e.ProtectedBranches, less.ProtectedBranches)
	if less.Adds.Enforce == "cgroup" {
		e.Adds.Enforce = less.Adds.Enforce
	}
	if len(c.Tools) > 0 {
		e.defined = append(e.defined, c.catalog)
	}
	if len(e.Tools) == 0 {
		e.catalog = catalog.New(catalog.Config{})
	}
}

// around returns the configurations of the git work trees that contain a work space. It ignores a
// file that belongs to somebody else, such as one in /tmp.
func (c *configs) around(workspace string) (list []*config, err error) {
	for dir := workspace; dir != path.Dir(dir); {
		dir = path.Dir(dir)
		name := path.Join(dir, capability.ConfigName)
		info, err := c.tree.Lstat(name)
		if err != nil || !ours(info) {
			continue
		}
		if _, err := c.tree.Lstat(path.Join(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		read, err := c.read(name, dir)
		if err != nil {
			return nil, err
		}
		if read.file != "" {
			list = append(list, read)
		}
	}
	return list, nil
}

// ours reports whether a file belongs to the caller or to root.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Uid == 0 || int(st.Uid) == os.Geteuid()
}
