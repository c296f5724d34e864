package printable

import (
	"go/build"
	"testing"
)

// TestPlatforms holds that a build for a system of which docs/install.md says that there is none ends with an error that names that page, and no other does.
func TestPlatforms(t *testing.T) {
	for _, system := range []struct {
		os, arch string
		not      bool
	}{
		{"linux", "amd64", false}, {"linux", "arm64", false}, {"darwin", "arm64", false}, {"darwin", "amd64", false},
		{"linux", "386", false}, {"linux", "arm", true}, {"linux", "riscv64", true}, {"windows", "amd64", true}, {"freebsd", "amd64", true},
	} {
		context := build.Default
		context.GOOS, context.GOARCH = system.os, system.arch
		if got, err := context.MatchFile(".", "platform_other.go"); got != system.not || err != nil {
			t.Errorf("%s/%s: refused is %v, %v", system.os, system.arch, got, err)
		}
	}
}
