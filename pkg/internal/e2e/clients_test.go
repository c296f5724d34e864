package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"ethos/pkg/internal/probetest"
)

// client is the path of a program that `make clients` installs; the test needs it by its name.
func client(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("ETHOS_TEST_CLIENTS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "ethos-test/clients")
	}
	path := filepath.Join(dir, "node_modules", programOf(name))
	probetest.NeedFunc(t, name, func() string {
		if _, err := os.Stat(path); err != nil {
			return err.Error() + "; run `make clients`"
		}
		return ""
	})
	return path
}

// programOf is where a client's package keeps its program. That of opencode would be put in place by an install script.
func programOf(name string) string {
	if name == "opencode" {
		return "opencode-linux-x64-baseline/bin/opencode" // runs on processors without AVX2, too
	}
	return filepath.Join(".bin", name)
}

// example is the text of a file below examples/.
func example(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(), "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// goModule fills the session's folder with a small module; with a defect that go vet finds, or without.
func (s *session) goModule(defect bool) {
	verb := "%s"
	if defect {
		verb = "%d"
	}
	s.write("go.mod", "module example.invalid/small\n\ngo 1.26\n")
	s.write("small.go", "package small\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\""+verb+"\\n\", \"text\") }\n")
	s.shell("git add .").mustSucceed(s.t)
}
