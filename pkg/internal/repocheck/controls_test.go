package repocheck

import (
	"go/ast"
	"path"
	"slices"
	"testing"
)

const controlDir = "pkg/sandbox/control"

// listOfControls is the one file that names them all.
const listOfControls = "controls_linux.go"

// sharedByControls are the files of the controls' folder that hold no control.
var sharedByControls = []string{
	"command_linux.go", "control_linux.go", "directory_linux.go", "filters.go", "findings_linux.go", "foreign_linux.go", "fstatat_linux_386.go", "fstatat_linux_amd64.go", "fstatat_linux_arm64.go", "gitquarantine_other.go", "interface_linux.go", "io.go",
	"landlockrules_linux.go", "leaf_linux.go", "machine_linux.go", "namespace_linux.go", "narrow_linux.go", "own_linux.go", "ownevidence_linux.go", "ownwatch_linux.go", "proc_linux.go", "program_linux.go", "refusal_linux.go", "refusal_other.go", "view_linux.go", "view_other.go",
}

// partOfControl are further files of a control that one file would not hold.
var partOfControl = map[string]string{"pool_linux.go": "placeholders_linux.go", "aside_linux.go": "protectedpaths_linux.go", "dnotify_linux.go": "protectedpaths_linux.go",
	"cachestore.go": "caches_linux.go", "cachestore_linux.go": "caches_linux.go", "cachestore_other.go": "caches_linux.go", "intercept_linux.go": "egress_linux.go", "egressevents_linux.go": "egress_linux.go"}

// TestControlsKnowNoOther: what a control declares is used in its own file alone,
// and in the list of controls.
// What controls share is in the files without one, and what one leaves for
// another is a field of Job.
func TestControlsKnowNoOther(t *testing.T) {
	owner := map[string]string{}
	var files []source
	for _, s := range load(t).sources {
		if s.dir != controlDir || s.test || path.Base(s.path) == listOfControls {
			continue
		}
		files = append(files, s)
		if slices.Contains(sharedByControls, path.Base(s.path)) {
			continue
		}
		for name, object := range s.file.Scope.Objects {
			if object.Kind != ast.Bad {
				owner[name] = controlOf(s)
			}
		}
	}
	if len(files) < 15 {
		t.Fatalf("%d files with a control", len(files))
	}
	for _, s := range files {
		for _, name := range s.file.Unresolved {
			if by, ok := owner[name.Name]; ok && by != controlOf(s) {
				t.Errorf("%s: uses %s of %s", s.path, name.Name, by)
			}
		}
	}
}

func controlOf(s source) string {
	file := path.Base(s.path)
	if whole, ok := partOfControl[file]; ok {
		return whole
	}
	return file
}
