package gitrepo

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Caller is the user for whom a repository is opened. Git enters a repository of another owner only
// if safe.directory names it, so that nobody runs what another user has written into a
// configuration: git-config(1), safe.directory and safe.bareRepository.
type Caller struct {
	UID     int
	SudoUID string  // SUDO_UID: root also enters the repositories of this user
	Command []Entry // configuration of the command line and the environment
}

// enters reports whether git would enter a repository that was found, not named: setup.c,
// setup_git_directory_gently_1 and ensure_valid_ownership. If versions of git differ, or an entry
// cannot be resolved here, the answer is yes: git makes the final decision, and what it would read
// has been judged.
func (c *Caller) enters(at place, dir string, opt Options) (bool, error) {
	if c == nil || at.gitDir == "" || at.named {
		return true, nil
	}
	ours := c.owns(at.gitDir) && (at.top == "" || c.owns(at.top)) && (at.file == "" || c.owns(at.file))
	if ours && at.top != "" {
		return true, nil
	}
	protected, err := c.protected(opt)
	if err != nil || at.top == "" && !bareAllowed(protected, at.gitDir) {
		return false, err
	}
	return ours || listed(protected, cmp.Or(at.top, at.gitDir), dir, opt.Home), nil
}

// protected returns the configuration that a repository cannot write.
func (c *Caller) protected(opt Options) ([]Entry, error) {
	config, err := loadConfig(opt.files(place{}), conditions{}, opt.Home)
	return append(config.Entries, c.Command...), err
}

// owns is is_path_owned_by_current_uid of compat-util.
func (c *Caller) owns(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	uid := uint32(c.UID)
	if uid == 0 && st.Uid != 0 {
		if sudo, err := strconv.ParseUint(strings.TrimLeft(c.SudoUID, " \t\n\v\f\r+"), 10, 64); err == nil { // as strtoul(3) reads it
			uid = uint32(sudo)
		}
	}
	return st.Uid == uid
}

// listed reports whether safe.directory names the repository: setup.c, safe_directory_cb.
func listed(config []Entry, repository, dir, home string) (safe bool) {
	for _, e := range config {
		if e.Key != "safe.directory" {
			continue
		}
		if e.Value == "" {
			safe = false
		} else if names(e.Value, repository, dir, home) {
			safe = true
		}
	}
	return safe
}

// names reports whether one value of safe.directory names the repository.
func names(value, repository, dir, home string) bool {
	path, known := (&loader{home: home}).expand(value)
	switch {
	case value == "*" || !known:
		return true
	case value == ".":
		return dir == repository
	case !filepath.IsAbs(path):
		return false
	}
	below, wide := strings.CutSuffix(path, "/*")
	below = filepath.Clean("/" + below)
	if real, err := filepath.EvalSymlinks(below); err == nil {
		below = real
	}
	return !wide && below == repository || wide && strings.HasPrefix(repository, strings.TrimSuffix(below, "/")+"/")
}

// bareAllowed reports whether git accepts a bare repository that was found: setup.c,
// get_allowed_bare_repo and is_implicit_bare_repo.
func bareAllowed(config []Entry, gitDir string) bool {
	allowed := true
	for _, e := range config {
		if e.Key == "safe.barerepository" && (e.Value == "explicit" || e.Value == "all") {
			allowed = e.Value == "all"
		}
	}
	return allowed || filepath.Base(gitDir) == ".git" || strings.Contains(gitDir, "/.git/worktrees/") || strings.Contains(gitDir, "/.git/modules/")
}
