package egressclients

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// A service is a real server of the world, started at its first use; it lasts
// as long as the tests.
type service func(t *testing.T)

func newService(need, file, port string, start func(program string) error) service {
	run := sync.OnceValue(func() error { return errors.Join(start(find(file)), await("20.0.0.1:"+port)) })
	return func(t *testing.T) {
		t.Helper()
		probetest.NeedFunc(t, need, func() string {
			if find(file) == "" {
				return "there is no " + file
			}
			return ""
		})
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
}

// find is the last file that a pattern names: that of the newest version.
func find(pattern string) string {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		return ""
	}
	return files[len(files)-1]
}

// ordinary is whom servers run as that refuse to run as root.
const ordinary = 65534

// start starts a server in a directory of its own, which its arguments call
// DIR. It ends with the tests.
func start(name string, asOrdinary bool, argv ...string) error {
	dir, log, err := serverFolder(name)
	if err != nil {
		return err
	}
	cmd := prepared(dir, asOrdinary, argv)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return cmd.Start()
}

func prepared(dir string, asOrdinary bool, argv []string) *exec.Cmd {
	cmd := exec.Command(argv[0])
	for _, word := range argv[1:] {
		cmd.Args = append(cmd.Args, strings.ReplaceAll(word, "DIR", dir))
	}
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + searchPath, "HOME=" + dir, "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if asOrdinary && os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: ordinary, Gid: ordinary}
	}
	return cmd
}

func serverFolder(name string) (dir string, log *os.File, err error) {
	dir = filepath.Join(theWorld.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	if os.Geteuid() == 0 && name != "sshd" {
		if err := os.Chown(dir, ordinary, ordinary); err != nil {
			return "", nil, err
		}
	}
	log, err = os.OpenFile(filepath.Join(theWorld.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return dir, log, err
}

// await waits until a server takes connections.
func await(address string) error {
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var c net.Conn
		if c, err = net.Dial("tcp", address); err == nil {
			return c.Close()
		}
	}
	return err
}

var redis = newService("redis", "/usr/bin/redis-server", "6379", func(program string) error {
	return start("redis", true, program, "--bind", "20.0.0.1", "--port", "6379", "--save", "", "--protected-mode", "no", "--dir", "DIR")
})

var postgres = newService("postgres", "/usr/lib/postgresql/*/bin/postgres", "5432", func(program string) error {
	dir, _, err := serverFolder("postgres")
	if err != nil {
		return err
	}
	initdb := prepared(dir, true, []string{filepath.Join(filepath.Dir(program), "initdb"), "-D", "DIR/data", "-U", "tester", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8"})
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	hba := "host all all 0.0.0.0/0 trust\n"
	if err := os.WriteFile(filepath.Join(dir, "data/pg_hba.conf"), []byte(hba), 0o600); err != nil {
		return err
	}
	return start("postgres", true, program, "-D", "DIR/data", "-c", "listen_addresses=20.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off")
})

// sshd serves the user who runs the tests, with a key of the tests. As root it
// has a /run of its own, for its folder of separated privileges.
var sshd = newService("sshd", "/usr/sbin/sshd", "22", func(program string) error {
	dir, _, err := serverFolder("sshd")
	if err != nil {
		return err
	}
	for _, name := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			return fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	command := []string{program, "-D", "-e", "-f", "/dev/null", "-h", "DIR/host", "-o", "ListenAddress=20.0.0.1", "-o", "AuthorizedKeysFile=DIR/user.pub", "-o", "StrictModes=no",
		"-o", "PidFile=none", "-o", "UsePAM=no", "-o", "PermitRootLogin=yes"}
	if os.Geteuid() == 0 {
		command = append([]string{"unshare", "--mount", "sh", "-ec", `mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"`, "-"}, command...)
	}
	return start("sshd", false, command...)
})

// repository is a bare repository with one commit, which servers of git have.
var repository = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(theWorld.dir, "git")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	script := `git init -q w; cd w; echo hello > file; git add file; git -c user.name=a -c user.email=a@b commit -qm one; cd ..; git clone -q --bare w repo.git; git -C repo.git update-server-info`
	if out, err := prepared(dir, false, []string{"sh", "-ec", script}).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

// login is the name of the user who runs the tests.
func login() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}
