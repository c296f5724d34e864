package mount

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"/", "/", true}, {"/a", "/", true}, {"/a/b", "/a", true}, {"/a", "/a", true}, {"/ab", "/a", false}, {"/a", "/a/b", false}, {"/", "/a", false},
	} {
		if got := Within(c.path, c.dir); got != c.want {
			t.Errorf("Within(%s, %s) = %v", c.path, c.dir, got)
		}
	}
}

// TestSort: whatever the order was, no mount comes before one that it lies in.
func TestSort(t *testing.T) {
	targets := []string{"/", "/a", "/a/b", "/a/b/c", "/ab", "/b/c/d", "/b", "/a.b"}
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		var list []Mount
		for _, i := range r.Perm(len(targets)) {
			list = append(list, Mount{Target: targets[i]})
		}
		Sort(list)
		for i := range list {
			for _, later := range list[i+1:] {
				if Within(list[i].Target, later.Target) {
					t.Fatalf("%s comes before %s: %v", list[i].Target, later.Target, list)
				}
			}
		}
	}
}

func TestCovering(t *testing.T) {
	list := []Mount{{Kind: Bind, Target: "/a"}, {Kind: Symlink, Target: "/a/l"}, {Kind: Bind, Target: "/a/b"}, {Kind: Mask, Target: "/a/b/c"}}
	for path, want := range map[string]string{"/a/x": "/a", "/a/l": "/a", "/a/b": "/a/b", "/a/b/c/d": "/a/b/c", "/a/bc": "/a"} {
		if got := Covering(list, path); got == nil || got.Target != want {
			t.Errorf("%s: %v, want %s", path, got, want)
		}
	}
	if got := Covering(list, "/other"); got != nil {
		t.Errorf("/other lies in %v", got)
	}
}

// planned is a small root, and table is the mount table that it makes.
var planned = []Mount{
	{Kind: Private, Target: "/run"}, {Kind: Proc, Target: "/proc"}, {Kind: Private, Target: "/tmp", Writable: true}, {Kind: Bind, Target: "/usr", Source: "/usr"},
	{Kind: Bind, Target: "/dev/null", Source: "/dev/null", Writable: true, File: true, Device: true}, {Kind: Devpts, Target: "/dev/pts"},
	{Kind: Bind, Target: "/w", Source: "/w", Writable: true}, {Kind: Bind, Target: "/w/a b", Source: "/w/a b"}, {Kind: Mask, Target: "/w/hid"},
	{Kind: Overlay, Target: "/cache", Writable: true}, {Kind: Symlink, Target: "/bin", Source: "usr/bin"},
}

const table = `100 99 0:50 / / ro,nosuid,nodev - tmpfs tmpfs rw
101 100 0:51 / /proc ro,nosuid,nodev,noexec - proc proc rw
102 100 0:50 /tmp /tmp rw,nosuid,nodev - tmpfs tmpfs rw
103 100 8:1 /usr /usr ro,nosuid,nodev - ext4 /dev/sda1 rw
104 100 0:6 /null /dev/null rw,nosuid - devtmpfs udev rw
105 100 0:52 / /dev/pts rw,nosuid,noexec - devpts devpts rw
106 100 8:1 /w /w rw,nosuid,nodev - ext4 /dev/sda1 rw
107 106 8:1 /w/a\040b /w/a\040b ro,nosuid,nodev - ext4 /dev/sda1 rw
108 106 0:50 /.mask /w/hid ro,nosuid,nodev - tmpfs tmpfs rw
109 100 0:53 / /cache rw,nosuid,nodev - overlay overlay rw
110 103 8:2 / /usr/local ro,nosuid,nodev - ext4 /dev/sda2 rw
`

// TestCheck: each difference between the table and the plan is found, and named.
func TestCheck(t *testing.T) {
	if err := Check(planned, table); err != nil {
		t.Fatalf("the table as it should be: %v", err)
	}
	for name, c := range map[string]struct{ from, to, says string }{
		"the root is writable":            {"/ / ro,nosuid,nodev", "/ / rw,nosuid,nodev", "/ is rw"},
		"the root is the host's":          {"- tmpfs tmpfs rw\n101", "- ext4 /dev/sda1 rw\n101", "the root is not the tmpfs"},
		"a system tree is writable":       {"/usr /usr ro", "/usr /usr rw", "/usr is rw"},
		"a system tree has suid":          {"/usr /usr ro,nosuid,nodev", "/usr /usr ro,nodev", "not nosuid"},
		"a work space has devices":        {"/w /w rw,nosuid,nodev", "/w /w rw,nosuid", "not nodev"},
		"a protected path is not mounted": {"107 106 8:1 /w/a\\040b /w/a\\040b ro,nosuid,nodev - ext4 /dev/sda1 rw\n", "", "nothing is mounted at /w/a b"},
		"a protected path is writable":    {"/w/a\\040b ro", "/w/a\\040b rw", "/w/a b is rw"},
		"a mask is the host's":            {"/.mask /w/hid ro,nosuid,nodev - tmpfs", "/w/hid /w/hid ro,nosuid,nodev - ext4", "/w/hid is of type ext4"},
		"proc is writable":                {"/ /proc ro", "/ /proc rw", "/proc is rw"},
		"proc is not proc":                {"noexec - proc proc", "noexec - tmpfs tmpfs", "/proc is of type tmpfs"},
		"a cache is not an overlay":       {"- overlay overlay", "- ext4 /dev/sda1", "/cache is of type ext4"},
		"a mount that nobody asked for":   {"109 100", "111 100 8:1 / /host ro,nosuid,nodev - ext4 /dev/sda1 rw\n109 100", "/host is mounted and not in the plan"},
		"one in a private directory":      {"109 100", "111 102 8:1 / /tmp/x ro,nosuid,nodev - ext4 /dev/sda1 rw\n109 100", "/tmp/x is mounted on /tmp"},
		"one in a system tree, writable":  {"/ /usr/local ro", "/ /usr/local rw", "/usr/local is rw"},
		"a shared one":                    {"/usr /usr ro,nosuid,nodev -", "/usr /usr ro,nosuid,nodev shared:7 -", "/usr is not private"},
		"one over another":                {"109 100", "111 106 8:1 / /w rw - ext4 /dev/sda1 rw\n109 100", "/w is rw, not nosuid"},
		"a line that is none":             {"109 100 0:53", "109", "is not of proc_pid_mountinfo"},
	} {
		if !strings.Contains(table, c.from) {
			t.Fatalf("%s: the table has no %q", name, c.from)
		}
		if err := Check(planned, strings.Replace(table, c.from, c.to, 1)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
