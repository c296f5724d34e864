package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Kernel is one unpacked Debian kernel package.
type Kernel struct {
	Series  string // 6.1
	Image   string // path of vmlinuz
	Modules string // path of lib/modules/VERSION
}

// CacheDir returns the directory for kernels: $ETHOS_LAB_CACHE, else ethos-lab in the user's cache
// directory.
func CacheDir() (string, error) {
	if dir := os.Getenv("ETHOS_LAB_CACHE"); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("directory for kernels: %w", err)
	}
	return filepath.Join(base, "ethos-lab"), nil
}

// Fetch returns the cached kernel of a series, such as 6.12. If there is none, it downloads
// Debian's newest cloud kernel of that series with apt-get. A series that is not in the machine's
// own lists is looked up in Debian unstable, whose lists are kept in the cache directory.
func Fetch(cache, series string) (Kernel, error) {
	dir := filepath.Join(cache, "linux-"+series)
	if k, err := open(dir, series); err == nil {
		return k, nil
	}
	var from apt
	name, err := from.newest(series)
	if err != nil {
		var fault error
		if from, fault = unstable(cache); fault == nil {
			name, fault = from.newest(series)
		}
		if fault != nil {
			return Kernel{}, errors.Join(err, fault)
		}
	}
	if err := from.unpack(name, dir); err != nil {
		return Kernel{}, fmt.Errorf("kernel package %s: %w", name, err)
	}
	return open(dir, series)
}

func open(dir, series string) (Kernel, error) {
	modules, err := only(filepath.Join(dir, "lib", "modules", "*"))
	if err != nil {
		if modules, err = only(filepath.Join(dir, "usr", "lib", "modules", "*")); err != nil {
			return Kernel{}, err
		}
	}
	image, err := only(filepath.Join(dir, "boot", "vmlinuz-*"))
	if err != nil { // since Debian's 7.2
		image, err = only(filepath.Join(modules, "vmlinuz"))
	}
	return Kernel{Series: series, Image: image, Modules: modules}, err
}

func only(pattern string) (string, error) {
	found, err := filepath.Glob(pattern)
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%s: want one match, found %d", pattern, len(found))
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// apt holds options for apt-get and apt-cache; no options mean the machine's own lists.
type apt []string

func (a apt) command(name string, args ...string) *exec.Cmd {
	return exec.Command(name, append(a[:len(a):len(a)], args...)...)
}

// unstable fetches the lists of Debian unstable to a cache directory.
func unstable(cache string) (apt, error) {
	dir := filepath.Join(cache, "unstable")
	for _, name := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, err
		}
	}
	sources := filepath.Join(dir, "sources.list")
	line := "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main\n"
	if err := os.WriteFile(sources, []byte(line), 0o644); err != nil {
		return nil, err
	}
	a := apt{
		"-o", "Dir::Etc::sourcelist=" + sources, "-o", "Dir::Etc::sourceparts=/dev/null", "-o", "Dir::State::lists=" + filepath.Join(dir, "lists"),
		"-o", "Dir::Cache=" + filepath.Join(dir, "cache"), "-o", "Acquire::Languages=none", "-o", "APT::Sandbox::User=root",
	}
	if out, err := a.command("apt-get", "-q", "update").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("lists of Debian's unstable: apt-get update: %w: %s", err, out)
	}
	return a, nil
}

// newest asks apt for the packages of the series and returns the highest version.
func (a apt) newest(series string) (string, error) {
	out, err := a.command("apt-cache", "search", "--names-only", `^linux-image-`+strings.ReplaceAll(series, ".", `\.`)+`\.[^ ]*cloud-amd64$`).Output()
	if err != nil {
		return "", fmt.Errorf("look for a %s kernel: apt-cache: %w", series, err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if name, _, ok := strings.Cut(line, " "); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", fmt.Errorf("look for a %s kernel: apt knows none; run apt-get update", series)
	}
	slices.SortFunc(names, compareVersions)
	return names[len(names)-1], nil
}

// compareVersions compares names with the numbers in them by value.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x == 0 || y == 0 {
			if a[0] != b[0] {
				return int(a[0]) - int(b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
		if len(m) != len(n) {
			return len(m) - len(n)
		}
		if m != n {
			return strings.Compare(m, n)
		}
		a, b = a[x:], b[y:]
	}
	return len(a) - len(b)
}

func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}

// unpack downloads the package and extracts it to dir, which appears completely or not at all.
// Since Debian's 7.2 the package is empty and depends on two packages with the files.
func (a apt) unpack(name, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	names := []string{name}
	if about, err := a.command("apt-cache", "show", "--no-all-versions", name).Output(); err != nil {
		return fmt.Errorf("apt-cache show: %w", err)
	} else if version := strings.TrimPrefix(name, "linux-image-"); strings.Contains(string(about), "linux-binary-"+version) {
		names = []string{"linux-binary-" + version, "linux-modules-" + version}
	}
	get := a.command("apt-get", append([]string{"-q", "-o", "APT::Sandbox::User=root", "download"}, names...)...)
	get.Dir = work
	if out, err := get.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get download: %w: %s", err, out)
	}
	debs, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil || len(debs) != len(names) {
		return errors.Join(err, fmt.Errorf("apt-get download: want %d packages, found %d", len(names), len(debs)))
	}
	tree := filepath.Join(work, "tree")
	for _, deb := range debs {
		if out, err := exec.Command("dpkg", "-x", deb, tree).CombinedOutput(); err != nil {
			return fmt.Errorf("dpkg -x: %w: %s", err, out)
		}
	}
	return errors.Join(os.RemoveAll(dir), os.Rename(tree, dir))
}

// Module returns the text of a module, decompressed.
func (k Kernel) Module(path string) ([]byte, error) {
	file := filepath.Join(k.Modules, path)
	if text, err := os.ReadFile(file); err == nil {
		return text, nil
	}
	out, err := exec.Command("xz", "--decompress", "--stdout", file+".xz").Output()
	if err != nil {
		return nil, fmt.Errorf("kernel module %s: xz: %w", path, err)
	}
	return out, nil
}
