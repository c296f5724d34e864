package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
)

// toolHomes are directories of the home directory, with those that programs found in them
// need. A PATH entry at or below the first makes the others readable.
var toolHomes = [...]struct {
	dir   string
	trees []string
}{
	{".cargo/bin", []string{".cargo/bin", ".rustup"}},
	{".local/bin", []string{".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx", ".local/share/uv"}},
	{".local/share/mise", []string{".local/share/mise"}},
	{".local/share/fnm", []string{".local/share/fnm"}},
	{".local/share/pnpm", []string{".local/share/pnpm"}},
	{".local/state/fnm_multishells", []string{".local/state/fnm_multishells", ".local/share/fnm"}},
	{"bin", []string{"bin"}},
	{"go/bin", []string{"go/bin"}},
	{".npm-global", []string{".npm-global"}},
	{".config/composer/vendor", []string{".config/composer/vendor"}},
}

// toolManagers are directories of the home directory that contain everything their programs
// need.
var toolManagers = []string{
	".asdf", ".bun", ".deno", ".dotnet", ".elan", ".fnm", ".foundry", ".ghcup", ".goenv", ".jenv", ".juliaup", ".krew", ".luaenv", ".nodenv", ".nvm", ".opam", ".phpenv", ".plenv",
	".poetry", ".pyenv", ".rbenv", ".rye", ".sdkman", ".tfenv", ".volta", "anaconda3", "mambaforge", "miniconda3", "miniforge3", "sdk",
}

// notATool are directories that are too wide to be shown because they have a bin directory.
var notATool = []string{"/", "/home", "/media", "/mnt", "/root", "/run", "/srv", "/tmp", "/var"}

// toolRules makes the programs in PATH readable, together with what they need.
func (b *builder) toolRules(path string) error {
	for dir := range strings.SplitSeq(path, ":") {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, tree := range b.toolTrees(filepath.Clean(dir)) {
			p, err := b.files.resolve(tree)
			if err != nil || !p.exists || slices.Contains(neverReadable, p.path) || p.path == b.home {
				continue // PATH may name missing directories
			}
			b.rules = append(b.rules, rule{p, grantRead, "PATH"})
		}
	}
	return nil
}

// toolTrees returns the directories that the programs of a PATH entry need.
func (b *builder) toolTrees(dir string) []string {
	if b.home != "" && mount.Within(dir, b.home) {
		rel := strings.TrimPrefix(strings.TrimPrefix(dir, b.home), "/")
		for _, home := range toolHomes {
			if mount.Within("/"+rel, "/"+home.dir) {
				return b.inHome(home.trees)
			}
		}
		if top, _, _ := strings.Cut(rel, "/"); slices.Contains(toolManagers, top) {
			return []string{filepath.Join(b.home, top)} // ~/.pyenv/shims needs all of ~/.pyenv
		}
	}
	up := filepath.Dir(dir)
	switch base := filepath.Base(dir); {
	case base != "bin" && base != "sbin" && base != "shims", up == b.home, slices.Contains(notATool, up):
		return []string{dir}
	}
	for _, beside := range []string{"lib", "libexec", "pkg"} { // a self-contained installation: /srv/jdk/lib, /data/go/pkg
		if info, err := b.files.lstat(filepath.Join(up, beside)); err == nil && info != nil {
			return []string{up}
		}
	}
	return []string{dir}
}

func (b *builder) inHome(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = filepath.Join(b.home, n)
	}
	return out
}
