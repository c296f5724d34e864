package cgroup

import (
	"strings"
	"testing"
)

// FuzzHierarchy : whatever a mount table and a cgroup path hold, the directory is below the mount or there is none.
func FuzzHierarchy(f *testing.F) {
	f.Add("30 22 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/user.slice/a.scope")
	f.Add("30 22 0:27 /a\\040b /m rw shared:4 - cgroup2 cgroup2 rw\n31 22 0:28 / /v1 rw - cgroup cgroup rw,cpu,cpuacct\n", "/a b/c")
	f.Add("30 22 0:27 /.. /m rw - cgroup2 cgroup2 rw\n", "/../../x")
	f.Add("0 0 0 / / 0 - cgroup2 0 0", "/")
	f.Add("0 0 0 / / 0 - cgroup2 0 0", "/a")
	f.Fuzz(func(t *testing.T, mounts, own string) {
		h := parseMounts(mounts)
		dir := h.dir(own)
		if point := strings.TrimSuffix(h.point, "/"); dir != "" && dir != point && !strings.HasPrefix(dir, point+"/") {
			t.Errorf("mount at %q, root %q, own %q: directory %q", h.point, h.root, own, dir)
		}
		if strings.Contains(dir+"/", "/../") && !strings.Contains(h.point+own+"/", "/../") {
			t.Errorf("directory %q", dir)
		}
	})
}
