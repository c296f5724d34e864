package sandbox

import "fmt"

// makeInsideTraces makes the directory that is mounted as the trace store of managed git.
func makeInsideTraces(p *Plan) error {
	if !p.HasInsideTraces() {
		return nil
	}
	root, err := openOwn(p.Own)
	if err != nil {
		return fmt.Errorf("trace store of managed git: %w", err)
	}
	defer root.Close()
	if err := root.MkdirAll(insideTraces, 0o700); err != nil {
		return fmt.Errorf("trace store of managed git: %w", err)
	}
	return nil
}
