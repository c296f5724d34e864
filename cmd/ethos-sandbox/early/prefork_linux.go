//go:build !amd64

package early

// prefork does nothing: here, nothing runs before the runtime.
func prefork([]string) {}
