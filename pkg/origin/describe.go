package origin

import (
	"os"
	"path/filepath"
	"slices"

	"ethos/pkg/record"
)

// Inherited returns the origin of a file that the command reads, moves, changes or runs and that no
// person has reviewed. The output of the command may contain the content of that file. It returns
// nil if there is no such file.
func Inherited(f *record.Facts) *record.Origin {
	for i := range f.Files {
		if file := &f.Files[i]; file.Origin != nil && !file.Origin.Reviewed && file.Op != "delete" && file.Op != "mode" {
			return file.Origin
		}
	}
	return nil
}

// Describe completes the description of a run from the facts of its command. Network is "" if the
// run can reach no network; Describe then returns nil, because there is nothing to store, unless
// the command uses files that an earlier run has written. dir is the start directory of the
// command.
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

// packageManagers are the programs of a command that only fetches packages. The list also has the
// programs that such a command may contain beside them.
var packageManagers = []string{"npm", "pnpm", "yarn", "bun", "corepack", "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "composer", "bundle", "gem", "go", "cargo", "cd", "echo", "true", "export", "set", "mkdir", "tail", "head", "grep"}

func packagesAlone(f *record.Facts) bool {
	return f.Tool.Category == "packages" && !slices.ContainsFunc(f.Shell.Commands, func(c record.Command) bool {
		return c.Path != c.Name || !slices.Contains(packageManagers, c.Name)
	})
}

// maxManifests limits how many manifests are stored for one run.
const maxManifests = 16

// manifests returns digests of the scripts in the manifests of dirs, without manifests that an
// earlier run has changed.
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

// maxManifest is the size limit of a manifest in bytes.
const maxManifest = 1 << 20
