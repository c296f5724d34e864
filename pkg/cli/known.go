package cli

import (
	"fmt"
	"strings"

	"ethos/pkg/nearest"
)

// Known returns the hint for a word that is not one of the known names.
func Known(word string, names []string) string {
	hint := "known are " + strings.Join(names, ", ")
	if name := nearest.Name(word, names); name != "" {
		return fmt.Sprintf("did you mean %q? %s", name, hint)
	}
	return hint
}
