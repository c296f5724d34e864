//go:build !unix

package clone

import (
	"errors"
	"os"
)

func lock(string, bool) (*os.File, error) { return nil, errors.New("work spaces need a Unix") }

const noFollow = 0
