package statedir

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"ethos/pkg/shorttest"
)

// TestPathBuffer: the folders that are found without the runtime are those of
// [Sockets], or it says that it does not know.
func TestPathBuffer(t *testing.T) {
	shorttest.Long(t)
	var buffer PathBuffer
	known := [2]int{}
	for n := range 1000 {
		base := t.TempDir()
		create := func(names ...string) {
			for _, name := range names {
				switch dir := filepath.Join(base, name); rand.IntN(12) {
				case 0: // missing
				case 1:
					_ = os.WriteFile(dir, nil, 0o600)
				case 2:
					_ = errors.Join(os.MkdirAll(dir+"-", 0o700), os.Symlink(dir+"-", dir))
				case 3:
					_ = errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777))
				case 4:
					_ = errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o755))
				default:
					_ = os.Mkdir(dir, 0o700)
				}
			}
		}
		create("run", "run/ethos", "state", "state/ethos", "state/ethos/sessions", "home", "home/.local", "home/.local/state", "home/.local/state/ethos", "home/.local/state/ethos/sessions")
		value := func(name string) string {
			switch dir := base + "/" + name; rand.IntN(10) {
			case 0:
				return ""
			case 1:
				return name
			case 2:
				return dir + "/"
			case 3:
				return dir + "/../" + name
			case 4:
				return base + "//./" + name
			default:
				return dir
			}
		}
		env := map[string]string{"XDG_RUNTIME_DIR": value("run"), "XDG_STATE_HOME": value("state"), "HOME": value("home")}
		getenv := func(name string) string { return env[name] }
		want, _ := Sockets(getenv, false)
		var got []string
		for i := range 2 {
			fd := buffer.Sockets(getenv, i)
			if fd == Unknown {
				got = nil
				want = nil
				break
			}
			if fd == None {
				continue
			}
			known[i]++
			dir, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, dir)
			os.NewFile(uintptr(fd), dir).Close()
		}
		if len(got) != len(want) {
			t.Fatalf("%d: %v: %q, want %q", n, env, got, want)
		}
		for i := range want {
			if real, err := filepath.EvalSymlinks(want[i]); err != nil || real != got[i] {
				t.Fatalf("%v: %q, want %q: %v", env, got, want, err)
			}
		}
	}
	if known[0] < 50 || known[1] < 50 {
		t.Errorf("%d were found", known)
	}
}
