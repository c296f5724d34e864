package origin

import (
	"os"
	"path/filepath"
	"slices"

	"ethos/pkg/record"
)

// Inherited is the origin of a file that a command reads, moves, changes or runs, and that no person has looked at: what it writes may hold what that
// holds. nil is none.
func Inherited(f *record.Facts) *record.Origin {
	for i := range f.Files {
		if file := &f.Files[i]; file.Origin != nil && !file.Origin.Reviewed && file.Op != "delete" && file.Op != "mode" {
			return file.Origin
		}
	}
	return nil
}

// Describe completes what is remembered of a run from the facts of its command. Network is "" where it can reach none; then nil says that there is
// nothing to remember, unless the command has to do with what another one has left. dir is the one that it starts in.
func (m *Memory) Describe(r Run, f *record.Facts, dir string) *Run {
	from := Inherited(f)
	switch {
	case r.Network != "":
		r.Package = from == nil && packagesAlone(f)
		r.Scripts = m.manifests(append(slices.Clone(r.Roots), dir))
	case from != nil:
		r.Action, r.Agent, r.Network = from.Action, from.Agent, from.Network
	default:
		return nil
	}
	return &r
}

// packageManagers are the programs of a command that does nothing but fetch packages, and those that may stand beside.
var packageManagers = []string{"npm", "pnpm", "yarn", "bun", "corepack", "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "composer", "bundle", "gem", "go", "cargo", "cd", "echo", "true", "export", "set", "mkdir", "tail", "head", "grep"}

func packagesAlone(f *record.Facts) bool {
	return f.Tool.Category == "packages" && !slices.ContainsFunc(f.Shell.Commands, func(c record.Command) bool {
		return c.Path != c.Name || !slices.Contains(packageManagers, c.Name)
	})
}

// maxManifests is how many of them are remembered of one run.
const maxManifests = 16

// manifests are digests of the scripts in manifests of directories, but of those that an earlier run has changed.
func (m *Memory) manifests(dirs []string) map[string]string {
	runs, err := m.Runs()
	if err != nil {
		return nil
	}
	found := map[string]string{}
	for _, dir := range dirs {
		for _, name := range Manifests() {
			name = filepath.Join(dir, name)
			info, err := os.Lstat(name)
			if err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest || len(found) >= maxManifests {
				continue
			}
			text, err := os.ReadFile(name)
			if err == nil && runs.Of(name, info, func() []byte { return text }) == nil {
				found[name] = ScriptsOf(name, text)
			}
		}
	}
	return found
}

// maxManifest bounds one, in bytes.
const maxManifest = 1 << 20
