package explain

import (
	"slices"
	"testing"
)

// TestCandidates holds that a path is found in the messages of common programs,
// however they quote it.
func TestCandidates(t *testing.T) {
	for line, want := range map[string]string{
		`cat: /a/b: No such file or directory`:                                      "/a/b",
		`cat: '/a b/'$'\303\274''n'$'\303\257''/in.txt': No such file or directory`: "/a b/ünï/in.txt",
		`cp: cannot stat '/a'\''b': No such file or directory`:                      "/a'b",
		`fatal: cannot open "/a/\303\274": No such file`:                            "/a/ü",
		`FileNotFoundError: [Errno 2] No such file or directory: '/a b/c'`:          "/a b/c",
		`open /a/b.txt: no such file or directory`:                                  "/a/b.txt",
		`Error: ENOENT: no such file or directory, open '/a/b'`:                     "/a/b",
		`/usr/bin/ld: cannot find /a/lib.so: No such file or directory`:             "/a/lib.so",
		`main.c:1:10: fatal error: /a/x.h: No such file or directory`:               "/a/x.h",
		`sh: 1: cannot open /a b: No such file`:                                     "/a b",
		`Can't open perl script "/a/b": No such file or directory`:                  "/a/b",
		"\x1b[31merror\x1b[0m: file \x1b]8;;x\x07/a/b\x1b]8;;\x07 not found":        "/a/b",
		`make: *** No rule to make target '/a/b'.  Stop.`:                           "/a/b",
		`touch: cannot touch 'sub/x': Read-only file system`:                        "sub/x",
		`/a/b.py:12: FileNotFoundError`:                                             "/a/b.py",
		`error: couldn't read file:/a/b`:                                            "/a/b",
		"bash: line 1: ~/x: No such file or directory":                              "~/x",
	} {
		if got := candidates(line); !slices.Contains(got, want) {
			t.Errorf("%q: %q, without %q", line, got, want)
		}
		if meaningOf(line) == silent && line != `/a/b.py:12: FileNotFoundError` {
			t.Errorf("%q says nothing", line)
		}
	}
}
