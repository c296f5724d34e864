package mount

import "testing"

// TestParseNames holds that a path of the mount table is read as the kernel
// writes it: it escapes space, tab, newline and backslash (show_mountinfo in
// fs/proc_namespace.c), and leaves every other space of Unicode as it is.
func TestParseNames(t *testing.T) {
	for written, want := range map[string]string{
		`/a\040b\011c\012d\134e`: "/a b\tc\nd\\e",
		"/a\rb":                  "/a\rb",
		"/a\vb\fc":               "/a\vb\fc",
		"/a\u0085b\u00a0c":       "/a\u0085b\u00a0c",
		"/a\u2028b\u3000c":       "/a\u2028b\u3000c",
		"/a\xffb":                "/a\xffb",
	} {
		table, err := parse("36 35 98:0 / " + written + " ro,nosuid shared:1 - tmpfs tmpfs rw\n")
		if err != nil || len(table) != 1 || table[0].target != want || table[0].fstype != "tmpfs" || len(table[0].tags) != 1 {
			t.Errorf("%q: %+v, %v", written, table, err)
		}
	}
}
