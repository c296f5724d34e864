package report

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Terminal describes what an output supports. The zero value is a file or a pipe.
type Terminal struct {
	Live  bool       // lines can be overwritten
	Color bool       // ECMA-48 colours
	Width func() int // cells in a line, called for each line; nil for no limit
}

// DetectTerminal inspects an output and the environment: TERM=dumb disables live lines and colours,
// NO_COLOR (no-color.org) disables colours.
func DetectTerminal(out io.Writer, getenv func(string) string) Terminal {
	f, ok := out.(*os.File)
	if !ok {
		return Terminal{}
	}
	columns := func() int {
		size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
		if err != nil {
			return 0
		}
		if size.Col == 0 {
			return 80
		}
		return int(size.Col)
	}
	if columns() == 0 {
		return Terminal{}
	}
	capable := getenv("TERM") != "dumb" && getenv("TERM") != ""
	return Terminal{Live: capable, Color: capable && getenv("NO_COLOR") == "", Width: columns}
}
