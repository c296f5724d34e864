package catalog

import (
	"fmt"
	"strings"

	"ethos/pkg/nearest"
)

// ConfigError is a position in a configuration file that is not valid. Nothing
// of the file is used then.
type ConfigError struct {
	File    string
	Line    int // 1-based; 0 when it is the file as a whole
	Column  int
	Message string
	Hint    string
}

func (f *ConfigError) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// known is the hint that lists what would have been understood, the nearest
// first.
func known(word string, names []string) string {
	if near := nearest.Name(word, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	names = nearest.Sort(word, names)
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 12:
		return "known are " + strings.Join(names[:12], ", ") + " and more: `ethos-facts tools` lists them"
	}
	return "known are " + strings.Join(names, ", ")
}
