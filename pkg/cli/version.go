package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

func (p Program) version() string { return p.Name + " " + Version() + "\n" }

// release is the version of a build made by `make dist`, set by the linker; "" in any other build.
var release string

// Version describes this build from the build information that the linker embeds: the release, or
// else the module version or revision, then Go version and platform.
func Version() string {
	version := release
	if version == "" {
		version = "devel"
		if info, ok := debug.ReadBuildInfo(); ok {
			version = buildVersion(info)
		}
	}
	return fmt.Sprintf("%s (%s %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func buildVersion(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+dirty"
		}
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision + modified
}
