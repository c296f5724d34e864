// Package repocheck checks rules about this repository that no compiler checks.
//
// It exports nothing; `go test ./pkg/internal/repocheck` reads the tree and fails, naming file,
// line and rule. The rules: who may import whom (imports_test.go), which package is the door to
// which dependency (doors_test.go), the one os.Exit and other calls that are allowed in one place
// (calls_test.go), sizes and comments (shape_test.go), what text may not name (text_test.go), exit
// tables equal in code and docs (exit_test.go), and what the Makefile, .ci/run and the README
// promise each other (ci_test.go).
//
// Limits: it reads syntax, not types. An import is found under every build constraint. A call is
// found by the name of its package, so a dot import would hide it, and dot imports are therefore
// refused.
package repocheck
