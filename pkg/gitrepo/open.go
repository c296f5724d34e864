package gitrepo

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// Options are the settings that git takes from its environment and its global options.
type Options struct {
	Home       string // for "~/" and ~/.gitconfig; "" omits the user's configuration
	XDGConfig  string // $XDG_CONFIG_HOME; "" is Home/.config
	System     string // the system's configuration file; "" omits it
	GlobalFile string // GIT_CONFIG_GLOBAL, instead of the user's own files
	GitDir     string // GIT_DIR, --git-dir; relative to the directory that is examined
	WorkTree   string // GIT_WORK_TREE, --work-tree
	CommonDir  string // GIT_COMMON_DIR
	Ceilings   []string
	// AcrossFilesystems is GIT_DISCOVERY_ACROSS_FILESYSTEM.
	AcrossFilesystems bool
	// ByPlace evaluates only the conditions gitdir and gitdir/i of includeIf. What they test is not
	// in the repository, whose configuration and branches other people may have made.
	ByPlace bool
	// Caller makes Open skip a repository that git would not enter for this user. nil reads every
	// repository.
	Caller *Caller
}

// systemConfig is where the git of distributions reads the system's configuration.
const systemConfig = "/etc/gitconfig"

// FromEnviron returns the options that environment variables set; git(1), ENVIRONMENT VARIABLES.
func FromEnviron(getenv func(string) string) Options {
	o := Options{Home: getenv("HOME"), XDGConfig: getenv("XDG_CONFIG_HOME"), System: systemConfig, GlobalFile: getenv("GIT_CONFIG_GLOBAL"),
		GitDir: getenv("GIT_DIR"), WorkTree: getenv("GIT_WORK_TREE"), CommonDir: getenv("GIT_COMMON_DIR"),
		AcrossFilesystems: isTrue(getenv("GIT_DISCOVERY_ACROSS_FILESYSTEM"))}
	if file := getenv("GIT_CONFIG_SYSTEM"); file != "" {
		o.System = file
	}
	if isTrue(getenv("GIT_CONFIG_NOSYSTEM")) {
		o.System = ""
	}
	for dir := range strings.SplitSeq(getenv("GIT_CEILING_DIRECTORIES"), ":") {
		if filepath.IsAbs(dir) {
			o.Ceilings = append(o.Ceilings, filepath.Clean(dir))
		}
	}
	return o
}

func (o Options) ceiling(dir string) bool { return slices.Contains(o.Ceilings, dir) }

// Repository is the result of a search. Config is never nil. Outside of a repository it holds the
// system's and the user's configuration, and Record.GitDir is "".
type Repository struct {
	Record record.Repo
	Config *Config
	Bare   bool // it has no work tree
	// Unsafe says that git does not enter it for the caller. Nothing in it was read, and Record
	// holds only its Root.
	Unsafe bool

	home string
}

// Open finds the repository that encloses dir. If there is none, that is not an error. With an
// error, the Repository holds what could be read, and must be treated as incomplete.
func Open(dir string, opt Options) (*Repository, error) {
	r := &Repository{home: opt.Home, Config: &Config{}, Record: record.Repo{Remotes: []string{}, Aliases: map[string]string{}, ProtectedBranches: ProtectedNames()}}
	dir, err := physical(dir)
	if err != nil {
		return r, err
	}
	at, err := find(dir, opt)
	if err != nil {
		return r, err
	}
	if enters, err := opt.Caller.enters(at, dir, opt); err != nil || !enters {
		r.Unsafe, r.Record.Root, r.Bare = true, at.top, at.top == ""
		at = place{}
		if err != nil {
			return r, err
		}
	}
	var headErr error
	if at.gitDir != "" {
		r.Record.GitDir, r.Record.CommonDir = at.gitDir, at.commonDir
		r.Record.Branch, r.Record.Detached, headErr = readHead(at.gitDir)
	}
	r.Config, err = loadConfig(opt.files(at), conditions{gitDir: at.gitDir, branch: r.Record.Branch, place: opt.ByPlace}, opt.Home)
	r.workTree(at, dir, opt)
	r.describe()
	if err == nil {
		err = headErr
	}
	return r, err
}

func physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// files lists the configuration files in the order git reads them.
func (o Options) files(at place) []scopedFile {
	var files []scopedFile
	addTo := func(scope, file string) { files = append(files, scopedFile{scope, file}) }
	if o.System != "" {
		addTo("system", o.System)
	}
	switch {
	case o.GlobalFile != "":
		addTo("global", o.GlobalFile)
	case o.Home != "" || o.XDGConfig != "":
		addTo("global", filepath.Join(o.xdg(), "git", "config"))
		if o.Home != "" {
			addTo("global", filepath.Join(o.Home, ".gitconfig"))
		}
	}
	if at.gitDir != "" {
		addTo("local", filepath.Join(at.commonDir, "config"))
		if worktreeConfig(at) {
			addTo("worktree", filepath.Join(at.gitDir, "config.worktree"))
		}
	}
	return files
}

func (o Options) xdg() string {
	if o.XDGConfig != "" || o.Home == "" {
		return o.XDGConfig
	}
	return filepath.Join(o.Home, ".config")
}

// worktreeConfig reads extensions.worktreeConfig, which git obeys only in the repository's own
// file.
func worktreeConfig(at place) bool {
	on := false
	text, err := readFile(filepath.Join(at.commonDir, "config"), maxConfigFile)
	if err != nil {
		return false
	}
	_ = ParseConfig("", text, func(e Entry) error { // a syntax error is reported when the file is loaded
		if e.Key == "extensions.worktreeconfig" {
			on = isTrue(e.Value)
		}
		return nil
	})
	return on
}

// workTree determines the root: GIT_WORK_TREE, core.worktree, or the directory in which .git was
// found. A bare repository has none.
func (r *Repository) workTree(at place, dir string, opt Options) {
	if at.gitDir == "" {
		return
	}
	worktree, set := r.own("core.worktree")
	bare, _ := r.own("core.bare")
	switch {
	case opt.WorkTree != "":
		r.Record.Root = absolute(dir, opt.WorkTree)
	case set:
		r.Record.Root = absolute(at.gitDir, worktree)
	case isTrue(bare) && at.commonDir == at.gitDir:
		r.Bare = true
	case at.top == "":
		r.Bare = true
	default:
		r.Record.Root = at.top
	}
}

// own returns a value of the repository's own scopes.
func (r *Repository) own(key string) (value string, ok bool) {
	for _, e := range r.Config.Entries {
		if e.Key == key && (e.Scope == "local" || e.Scope == "worktree") {
			value, ok = e.Value, true
		}
	}
	return value, ok
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}
