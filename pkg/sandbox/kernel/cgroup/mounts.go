package cgroup

import (
	"fmt"
	"slices"
	"strings"
)

// hierarchy describes where cgroup file systems are mounted and in which cgroup
// the caller is.
type hierarchy struct {
	point string   // the mount point of the v2 file system; "" if not mounted
	root  string   // the cgroup that is visible there
	own   string   // the caller's cgroup, relative to the same root
	v1    []string // controllers that are mounted as v1
}

const (
	mountTable = "/proc/self/mountinfo"
	ownCgroup  = "/proc/self/cgroup"
)

// readHierarchy reads /proc/self/mountinfo and /proc/self/cgroup:
// proc_pid_mountinfo(5), cgroups(7). Both files show paths relative to the root
// of the reader's cgroup namespace: cgroup_namespaces(7).
func readHierarchy(files Files) (hierarchy, error) {
	mounts, err := files.ReadFile(mountTable)
	if err != nil {
		return hierarchy{}, fmt.Errorf("cgroup: %w", err)
	}
	h := parseMounts(string(mounts))
	if h.own, err = readOwn(files); err != nil {
		return hierarchy{}, err
	}
	return h, nil
}

// parseMounts returns the first v2 mount and the controllers of all v1 mounts.
// The format of a line is "36 35 98:0 /root /point options [tags] - fstype
// source superoptions". Fields in brackets may be any number, so the type is
// looked for after the dash. A line that has not this form is skipped.
func parseMounts(text string) (h hierarchy) {
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(line, " - ")
		place, kind := strings.Split(before, " "), strings.Split(strings.TrimSuffix(after, "\n"), " ")
		if !found || len(place) < 6 || len(kind) < 3 {
			continue
		}
		switch {
		case kind[0] == "cgroup2" && h.point == "":
			h.root, h.point = unescape(place[3]), unescape(place[4])
		case kind[0] == "cgroup":
			h.v1 = append(h.v1, v1Controllers(kind[2])...)
		}
	}
	return h
}

// v1Controllers returns the controllers among the options of a v1 mount: of
// "rw,cpu,cpuacct", but not of "rw,xattr,name=systemd". blkio is the name of io
// in v1. A mount with a name only, as systemd makes one in a hybrid tree, has
// no controller and does no harm.
func v1Controllers(options string) (list []string) {
	for option := range strings.SplitSeq(options, ",") {
		if slices.Contains([]string{"memory", "pids", "cpu", "io", "blkio"}, option) {
			list = append(list, option)
		}
	}
	return list
}

// unescape decodes the octal escapes of mountinfo: space, tab, newline and
// backslash. Only these four are escaped: proc_pid_mountinfo(5).
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// readOwn returns the caller's v2 cgroup, from the line "0::/path" of
// /proc/self/cgroup; "" if there is none. The path may end in " (deleted)" if
// the cgroup was removed; no directory has that name then.
func readOwn(files Files) (string, error) {
	text, err := files.ReadFile(ownCgroup)
	if err != nil {
		return "", fmt.Errorf("cgroup: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			return path, nil
		}
	}
	return "", nil
}

// dir returns the directory of a cgroup, or "" if the mount does not show it: a
// path with ".." is outside the cgroup namespace. The kernel shows a cgroup
// above the root of the namespace as "/..": cgroup_namespaces(7). A container
// may have only a part of the hierarchy mounted, whose root is then not "/".
func (h hierarchy) dir(cgroup string) string {
	if h.point == "" || !strings.HasPrefix(cgroup, "/") || strings.Contains(cgroup+"/", "/../") {
		return ""
	}
	rest := cgroup
	if h.root != "/" {
		var ok bool
		if rest, ok = strings.CutPrefix(cgroup, h.root); !ok || rest != "" && rest[0] != '/' {
			return ""
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(h.point, "/")+rest, "/")
}
