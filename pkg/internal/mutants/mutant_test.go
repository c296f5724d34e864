package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Mutant is a change that removes one defence.
type Mutant struct {
	Name     string // of the removed defence
	Edits    []Edit
	Without  []Call  // kernel calls of the set-up to omit
	Tests    []Tests // that should notice, fastest first
	Survives string  // why no test can notice; "" if one must
}

// Edit replaces a text that occurs exactly once in a file.
type Edit struct{ File, Old, New string }

// Call selects kernel calls of the set-up: those that match all given fields.
type Call struct{ Stage, Name, Object string }

// dropping is the file that omits calls when a program is compiled. A call is
// replaced with another one that does nothing, so that the later calls stay the
// same.
const dropping = "pkg/sandbox/exec/mutant_linux.go"

const dropText = `package exec

import (
	"syscall"

	"ethos/pkg/sandbox/kernel/steps"
)

func init() {
	mutate = func(p *steps.Program) {
		for _, list := range [][]steps.Step{p.Init, p.Command, p.Finalize, p.Cleanup} {
			for i := range list {
				if s := &list[i]; %s {
					*s = steps.Step{Stage: s.Stage, Call: s.Call, Object: s.Object, Nr: syscall.SYS_GETPID, Save: s.Save}
				}
			}
		}
	}
}
`

// matches returns the condition under which a step is one of the call's.
func (c Call) matches() string {
	var all []string
	for _, f := range [][2]string{{"Stage", c.Stage}, {"Call", c.Name}, {"Object", c.Object}} {
		if f[1] != "" {
			all = append(all, fmt.Sprintf("s.%s == %q", f[0], f[1]))
		}
	}
	return strings.Join(all, " && ")
}

// Tests selects tests of one package: arguments of go test.
type Tests struct{ Package, Run, Skip string }

// Apply returns the changed files by name. Names are relative to root.
func (m Mutant) Apply(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range m.Edits {
		text, ok := files[e.File]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.Old); n != 1 || e.Old == e.New {
			return nil, fmt.Errorf("mutant %q: %s has its text %d times, not once: %q", m.Name, e.File, n, e.Old)
		}
		files[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	if len(m.Without) > 0 {
		var any []string
		for _, c := range m.Without {
			any = append(any, c.matches())
		}
		files[dropping] = fmt.Sprintf(dropText, strings.Join(any, " || "))
	}
	return files, nil
}
