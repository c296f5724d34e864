// Package released builds the programs as they are released, for tests that run
// them. A program built by go build alone has another entry point, and hands
// nothing over to another one.
package released

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Root is the root of the module, for a test in a folder of pkg/internal.
const Root = "../../.."

// Build builds the programs into a directory with packaging/build. The variables
// are added to its environment.
//
// It reads the folders of the sources, so that go test notices when one has
// changed and does not repeat an earlier result.
func Build(dir string, variables ...string) error {
	for _, folder := range []string{"cmd", "pkg", "packaging"} {
		err := filepath.WalkDir(filepath.Join(Root, folder), func(string, fs.DirEntry, error) error { return nil })
		if err != nil {
			return err
		}
	}
	cmd := exec.Command(filepath.Join(Root, "packaging/build"), dir, "-trimpath")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), variables...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
}
