package trace

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// dayLayout is the name of a day's file.
const dayLayout = "2006/01/02.ndjson"

func dayFile(t time.Time) string { return t.UTC().Format(dayLayout) }

func dayOf(file string) (time.Time, error) { return time.Parse(dayLayout, file) }

func validDay(file string) bool {
	t, err := dayOf(file)
	return err == nil && dayFile(t) == file
}

// days lists the day files, oldest first. It ignores all other files in the
// store.
func (s *Store) days() ([]string, error) {
	var out []string
	err := fs.WalkDir(s.root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // pruned in the meantime
		case err != nil:
			return err
		case d.IsDir() && strings.Count(path, "/") == 0 && path != "." && !digits(path, 4):
			return fs.SkipDir
		case d.Type().IsRegular() && validDay(path):
			out = append(out, path)
		}
		return nil
	})
	slices.Sort(out)
	return out, err
}

func digits(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789") == ""
}
