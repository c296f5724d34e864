package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"ethos/pkg/timerslack"
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
	if order == nil {
		return BecomeWith(sys, program)
	}
	text, err := json.Marshal(order)
	if err != nil {
		return err
	}
	return BecomeWith(sys, program, string(text))
}

// BecomeWith is like [Become], but passes arguments.
func BecomeWith(sys *System, program string, args ...string) error {
	name, err := Beside(program)
	if err == nil {
		err = timerslack.Exec(name, append([]string{name}, args...), sys.Environ)
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
