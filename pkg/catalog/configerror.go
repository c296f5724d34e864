package catalog

import (
	"fmt"
	"strings"

	"ethos/pkg/nearest"
)

// ConfigError is an error at a position in a configuration file. Nothing of the file is then used.
type ConfigError struct {
	File    string
	Line    int // 1-based; 0 if the error concerns the whole file
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

// known returns the hint that lists the names that would be accepted, the most similar first.
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
