//go:build compat

package compat

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// python are modules of CPython's own tests: what it has for files, processes,
// memory, terminals, sockets, archives, databases and servers.
const python = `
	test_asynchat test_atexit test_bz2 test_c_locale_coercion test_cmd_line test_cmd_line_script test_codeccallbacks
	test_compileall test_contextlib test_datetime test_dbm test_eintr test_ensurepip
	test_epoll test_faulthandler test_fcntl test_file test_fileinput test_fileio test_fnmatch test_fork1
	test_ftplib test_functools test_gc test_genericpath test_getpass test_glob test_grp test_gzip test_hashlib
	test_httpservers test_imaplib test_import test_importlib test_io test_json test_largefile test_locale
	test_logging test_lzma test_mailbox test_mmap test_multiprocessing_main_handling test_nntplib test_openpty test_os
	test_pathlib test_poll test_popen test_poplib test_posix test_posixpath test_pty test_pwd test_queue test_random
	test_resource test_runpy test_select test_selectors test_shelve test_shutil test_signal test_site
	test_smtplib test_socket test_ssl test_stat test_subprocess test_sys
	test_sysconfig test_tarfile test_telnetlib test_tempfile test_thread test_threading test_threadsignals test_time
	test_unicode_file test_urllib2_localnet test_uuid test_venv test_wait3 test_wait4
	test_xmlrpc test_zipfile test_zipimport test_zlib`

// TestSuites runs the suites that `make compat-suites` has put below
// ETHOS_TEST_COMPAT, and holds the differences against docs/compatibility.md. A
// row that no difference meets any more is told.
func TestSuites(t *testing.T) {
	data := prepared()
	sides := newSides(t)
	for _, s := range []struct {
		name  string
		needs []string
		units func(*testing.T, string) []Unit
	}{
		{"std", []string{"file:" + filepath.Join(data, "go/src/bufio/bufio.test")}, std},
		{"cpython", []string{"command:python3.11", "file:" + filepath.Join(data, "cpython/test/regrtest.py")}, cpython},
		{"git", []string{"command:git", "file:" + filepath.Join(data, "git/t/helper/test-tool")}, gitUnits},
		{"bbolt", []string{"file:" + filepath.Join(data, "bbolt/bbolt.test")}, modules("bbolt")},
		{"x/tools", []string{"file:" + filepath.Join(data, "tools/go/analysis/analysis.test")}, modules("tools")},
		{"vitest", []string{"command:node", "file:" + filepath.Join(data, "vitest/node_modules/vitest")}, vitest},
		{"jest", []string{"command:node", "file:" + filepath.Join(data, "jest/node_modules/jest")}, jest},
		{"maven", []string{"command:mvn", "file:" + filepath.Join(data, "maven/pom.xml")}, maven},
		{"xz", []string{"command:make", "file:" + filepath.Join(data, "xz/tests/Makefile")}, xz},
	} {
		t.Run(s.name, func(t *testing.T) {
			probetest.Need(t, s.needs...)
			judge(t, sides, s.name, s.units(t, data))
		})
	}
}

// prepared is where `make compat-suites` has put them.
func prepared() string {
	if dir := os.Getenv("ETHOS_TEST_COMPAT"); dir != "" {
		return dir
	}
	return "/nonexistent/ETHOS_TEST_COMPAT"
}

// std are the test programs of Go's standard library, in a copy of GOROOT.
func std(t *testing.T, data string) []Unit {
	return goUnits(t, filepath.Join(data, "go/src"), "GOROOT="+filepath.Join(data, "go"))
}

func modules(name string) func(*testing.T, string) []Unit {
	return func(t *testing.T, data string) []Unit { return goUnits(t, filepath.Join(data, name)) }
}

// goUnits are the test programs below a directory, each beside its package.
func goUnits(t *testing.T, dir string, env ...string) (units []Unit) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if e != nil && e.IsDir() && e.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".test") {
			return err
		}
		at := filepath.Dir(name)
		rel, err := filepath.Rel(dir, at)
		if rel == "." {
			rel = ""
		}
		units = append(units, Unit{Name: rel, Dir: at, Argv: []string{name, "-test.v", "-test.short", "-test.timeout=5m"}, Env: env, Parse: ParseGo})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return units
}

func cpython(_ *testing.T, data string) (units []Unit) {
	dir := filepath.Join(data, "cpython")
	for _, module := range strings.Fields(python) {
		units = append(units, Unit{
			Name: module, Dir: dir, Report: "report.xml", Parse: ParseJUnit,
			// test_4_daemon_threads looks for the tests where Python is installed, and waits for ever.
			Argv: []string{"env", "PYTHONPATH=" + dir, "python3.11", "-m", "test", "-i", "test_4_daemon_threads", "--timeout", "240", "--junit-xml", "report.xml", module},
		})
	}
	return units
}

func vitest(_ *testing.T, data string) []Unit {
	return []Unit{{
		Dir: filepath.Join(data, "vitest"), Report: "report.xml", Parse: ParseJUnit,
		Argv: []string{"npm", "test", "--", "--reporter=junit", "--outputFile=report.xml"},
	}}
}

func jest(_ *testing.T, data string) []Unit {
	return []Unit{{
		Dir: filepath.Join(data, "jest"), Report: "report.json", Parse: ParseJest,
		Argv: []string{"npm", "test", "--", "--json", "--outputFile=report.json"},
	}}
}

func maven(_ *testing.T, data string) []Unit {
	dir := filepath.Join(data, "maven")
	return []Unit{{
		Dir: dir, Report: "report.xml", Parse: ParseJUnit,
		Argv: []string{"sh", "-c", `rm -rf target; mvn -o -q -B -Dmaven.repo.local="$PWD/repository" test; cat target/surefire-reports/*.xml > report.xml`},
	}}
}

// xz is a Debian package in C, compiled with AddressSanitizer, whose search for
// leaks traces.
func xz(_ *testing.T, data string) []Unit {
	return []Unit{{
		Dir: filepath.Join(data, "xz"), Parse: ParseAutomake, Limit: 20 * time.Minute, Flags: []string{"--debug"},
		Argv: []string{"make", "check"},
	}}
}
