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

// CacheDir is where kernels are kept: $ETHOS_LAB_CACHE, else ethos-lab in the user's cache directory.
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

// Fetch returns the cached kernel of a series, such as 6.12, and downloads Debian's newest cloud kernel of that series with apt-get when there is none.
func Fetch(cache, series string) (Kernel, error) {
	dir := filepath.Join(cache, "linux-"+series)
	if k, err := open(dir, series); err == nil {
		return k, nil
	}
	name, err := newest(series)
	if err != nil {
		return Kernel{}, err
	}
	if err := unpack(name, dir); err != nil {
		return Kernel{}, fmt.Errorf("kernel package %s: %w", name, err)
	}
	return open(dir, series)
}

func open(dir, series string) (Kernel, error) {
	image, err := only(filepath.Join(dir, "boot", "vmlinuz-*"))
	if err != nil {
		return Kernel{}, err
	}
	modules, err := only(filepath.Join(dir, "lib", "modules", "*"))
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

// newest asks apt for the packages of the series and takes the highest version.
func newest(series string) (string, error) {
	out, err := exec.Command("apt-cache", "search", "--names-only", `^linux-image-`+strings.ReplaceAll(series, ".", `\.`)+`\.[^ ]*cloud-amd64$`).Output()
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

// compareVersions orders names whose numbers count as numbers.
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

// unpack downloads the package and extracts it to dir, which appears whole or not at all.
func unpack(name, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	get := exec.Command("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", name)
	get.Dir = work
	if out, err := get.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get download: %w: %s", err, out)
	}
	deb, err := only(filepath.Join(work, "*.deb"))
	if err != nil {
		return err
	}
	tree := filepath.Join(work, "tree")
	if out, err := exec.Command("dpkg", "-x", deb, tree).CombinedOutput(); err != nil {
		return fmt.Errorf("dpkg -x: %w: %s", err, out)
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
