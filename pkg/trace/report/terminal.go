package report

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Terminal says what an output can do. The zero value is a file or a pipe.
type Terminal struct {
	Live  bool       // lines may be drawn over
	Color bool       // ECMA-48 colours
	Width func() int // cells in a line, asked again for each; nil for no limit
}

// DetectTerminal looks at an output and the environment: TERM=dumb has no live lines and no colours, NO_COLOR (no-color.org) no colours.
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
