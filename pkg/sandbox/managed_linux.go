package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
)

// makeInsideTraces makes the directory that is mounted as the trace store of managed git.
func makeInsideTraces(p *Plan) error {
	if !p.HasInsideTraces() {
		return nil
	}
	root, err := openOwn(p, p.Own)
	if err == nil {
		err = errors.Join(removeUnlike(root, insideTraces, fs.ModeDir), root.MkdirAll(insideTraces, 0o700), root.Close())
	}
	if err != nil {
		return &Refusal{Code: CodeSetup, Err: fmt.Errorf("trace store of managed git: %w", err), Hint: ownHint}
	}
	return nil
}
