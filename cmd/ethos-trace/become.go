package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"ethos/pkg/cli"
)

// become turns this process into a program that lies beside this one, with an order in JSON.
func become(sys *cli.System, program string, order any) error {
	text, err := json.Marshal(order)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err == nil {
		name := filepath.Join(filepath.Dir(self), program)
		err = syscall.Exec(name, []string{name, string(text)}, sys.Environ)
	}
	hint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint = "install " + program + " beside ethos-trace, as make install does"
	case errors.Is(err, syscall.E2BIG):
		hint = "ask for less at once"
	}
	return cli.Errorf(cli.CannotEnforce, hint, "start %s: %w", program, err)
}
