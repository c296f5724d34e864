package netargs

import (
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestOptionsOfThePrograms compares the table with what the installed programs
// say of themselves: an option that takes a value must have a row, or its value
// would be read as an operand, and one that takes none must have no row, or the
// word after it would not be read.
func TestOptionsOfThePrograms(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		line *regexp.Regexp // of help: letter, name, value
		but  []string       // options of which the help does not tell
	}{
		"curl": {[]string{"--help", "all"}, regexp.MustCompile(`(?m)^ *(?:-(.), )?--([a-z0-9.-]+)( +[<[].*?[>\]])?`), []string{"h", "help"}},
		"wget": {[]string{"--help"}, regexp.MustCompile(`(?m)^ *(?:-(.),)? +--([a-z0-9-]+)(=[A-Z].*?)?(?: |$)`), []string{"backups", "max-redirect"}},
	} {
		t.Run(name, func(t *testing.T) {
			probetest.NeedFunc(t, name, func() string {
				if _, err := exec.LookPath(name); err != nil {
					return err.Error()
				}
				return ""
			})
			help, err := exec.Command(name, c.args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			found := c.line.FindAllStringSubmatch(string(help), -1)
			if len(found) < 100 {
				t.Fatalf("%d options", len(found))
			}
			for _, m := range found {
				for _, option := range m[1:3] {
					form := findProgram(name).form(option)
					listed, takes := form != flag, m[3] != ""
					if option != "" && !slices.Contains(c.but, option) && (takes && !listed || !takes && listed && form != hides) {
						t.Errorf("%s: takes a value: %t, listed: %t", option, takes, listed)
					}
				}
			}
		})
	}
}
