package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Beside returns the path of a program in the same directory as this one.
func Beside(program string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	return filepath.Join(filepath.Dir(self), program), err
}

// Become replaces this process with a program in the same directory, and passes it an order as
// JSON, or none if order is nil. It returns only if that fails.
func Become(sys *System, program string, order any) error {
	name, err := Beside(program)
	args := []string{name}
	if err == nil && order != nil {
		var text []byte
		text, err = json.Marshal(order)
		args = append(args, string(text))
	}
	if err == nil {
		err = syscall.Exec(name, args, sys.Environ)
	}
	hint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint = "install " + program + " beside " + sys.Name + ", as make install does"
	case errors.Is(err, syscall.E2BIG):
		hint = "use fewer or shorter arguments"
	}
	return Errorf(CannotEnforce, hint, "start %s: %w", program, err)
}
