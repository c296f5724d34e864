package plan

import (
	"fmt"
	"strings"
	"time"
)

// Limits bound the resources of a command. Zero means no limit.
type Limits struct {
	Timeout     time.Duration `json:"timeout"`
	MemoryBytes int64         `json:"memory_bytes"`
	CPUPercent  int64         `json:"cpu_percent"` // of one processor; 250 is two and a half
	Pids        int64         `json:"pids"`
	OpenFiles   int64         `json:"open_files"`
	FileBytes   int64         `json:"file_bytes"`   // largest size of a file that is written
	OutputBytes int64         `json:"output_bytes"` // of standard output and standard error together, if captured
}

// Text describes the limits for people.
func (l Limits) Text() string {
	parts := []string{}
	add := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(l.Timeout > 0, "time %v", l.Timeout)
	add(l.MemoryBytes > 0, "memory %d bytes", l.MemoryBytes)
	add(l.CPUPercent > 0, "cpu %d%%", l.CPUPercent)
	add(l.Pids > 0, "%d processes", l.Pids)
	add(l.OpenFiles > 0, "%d open files", l.OpenFiles)
	add(l.FileBytes > 0, "files of %d bytes", l.FileBytes)
	add(l.OutputBytes > 0, "output %d bytes", l.OutputBytes)
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
