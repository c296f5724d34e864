package policy

import "strings"

// builtDirs are directories whose content is created by builds, tests and installers, and can be
// created again.
const builtDirs = " build builds _build dist out output target bin obj coverage htmlcov node_modules .venv venv .tox .nox .cache .pytest_cache .mypy_cache .ruff_cache " +
	"__pycache__ .next .nuxt .turbo .parcel-cache .gradle .terraform .nyc_output .eggs .coverage .bundle _site public-build cmake-build-debug cmake-build-release tmp .tmp logs "

// builtEndings are the suffixes of files that tools leave beside the sources.
const builtEndings = " .log .pyc .pyo .o .obj .class .tmp .prof .test .tsbuildinfo .egg-info .out "

// temporaryDirs are directories for temporary files; the last ones are expressions that scripts use
// for them.
var temporaryDirs = []string{"/tmp", "/var/tmp", "/dev/shm", "$TMPDIR", "${TMPDIR}", "$(mktemp)", "$(mktemp -d)", "`mktemp -d`"}

// isScratch reports whether a path is build output or temporary, so that it can be created again. A
// path whose beginning is known only at run time is not, unless it begins as temporary paths do.
func isScratch(path string) bool {
	for _, dir := range temporaryDirs {
		if isUnder(path, dir) && path != dir || strings.HasPrefix(dir, "$(") && path == dir {
			return true
		}
	}
	if path == "" || strings.ContainsAny(path[:1], "/~$`") {
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == ".." {
			return false
		}
		if strings.Contains(builtDirs, " "+name+" ") {
			return true
		}
	}
	dot := strings.LastIndexByte(path, '.')
	return dot > 0 && strings.Contains(builtEndings, " "+path[dot:]+" ")
}
