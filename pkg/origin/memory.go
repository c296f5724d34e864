package origin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ethos/pkg/statedir"
)

const (
	folder = "reached" // in the state folder
	file   = "runs"
	// maxRuns is how many runs are remembered: the last ones.
	maxRuns = 500
	// maxRun bounds the line of one, in bytes.
	maxRun = 8 << 10
)

// tick is how far the clock of files can be behind: the kernel takes the time of
// its last tick, of which there are at least 100 in a second (CONFIG_HZ).
const tick = 10 * time.Millisecond

// Run is one run that could reach the network, or that had to do with what such
// a run has written.
type Run struct {
	Action  string   `json:"action"`             // the id of its record; "" where none was kept
	Agent   string   `json:"agent"`              // who asked; "" where it is not known
	Network string   `json:"network"`            // proxy or host
	Roots   []string `json:"roots"`              // directories that it could write to, absolute, without links
	Package bool     `json:"packages,omitempty"` // it was a package manager alone
	// Scripts are digests of the scripts that manifests had when it began, by the
	// file: see [ScriptsOf].
	Scripts map[string]string `json:"scripts,omitempty"`
	PID     int               `json:"pid,omitempty"`     // of ethos-sandbox, while it is under way
	Started string            `json:"started,omitempty"` // when that process did, proc_pid_stat(5)

	begin, end int64 // nanoseconds since 1970; end is 0 while it is under way
}

// Memory is what one person's runs leave there.
type Memory struct {
	getenv func(string) string
	seen   fs.FileInfo // of the file that runs was read from
	runs   *Runs
}

// New is the memory that an environment leads to.
func New(getenv func(string) string) *Memory { return &Memory{getenv: getenv} }

// Begun is a run that is under way.
type Begun struct {
	memory *Memory
	begin  int64
	run    Run
}

// Begin remembers a run that is about to start. The times of what it writes are
// not before this.
func (m *Memory) Begin(r Run) (*Begun, error) {
	r.PID, r.Started = os.Getpid(), started(os.Getpid())
	b := &Begun{memory: m, run: r}
	return b, m.change(func(runs []Run) []Run {
		b.begin = time.Now().Add(-tick).UnixNano()
		b.run.begin = b.begin
		return append(runs, b.run)
	})
}

// End remembers that the run, and all that it started, has ended. nil did not begin.
func (b *Begun) End() error {
	if b == nil {
		return nil
	}
	return b.memory.change(func(runs []Run) []Run {
		for i := range runs {
			if r := &runs[i]; r.end == 0 && r.begin == b.begin && r.PID == b.run.PID && r.Started == b.run.Started && r.Action == b.run.Action {
				r.end, r.PID, r.Started = time.Now().UnixNano(), 0, ""
				break
			}
		}
		return runs
	})
}

// change writes the memory anew, for one process after the other. A run whose
// process was killed ends with that: until then everything may be its work.
func (m *Memory) change(with func([]Run) []Run) error {
	dir, err := statedir.Make(m.getenv, folder)
	if err != nil {
		return err
	}
	lock, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	runs := with(parse(text).all())
	for i := range runs {
		if r := &runs[i]; r.end == 0 && r.PID != os.Getpid() && (r.Started == "" || started(r.PID) != r.Started) {
			r.end, r.PID, r.Started = time.Now().UnixNano(), 0, ""
		}
	}
	if len(runs) > maxRuns {
		runs = runs[len(runs)-maxRuns:]
	}
	text = text[:0:0]
	for i := range runs {
		body, err := json.Marshal(runs[i])
		if err != nil {
			return err
		}
		if len(body) > maxRun {
			return fmt.Errorf("what is remembered of a run is longer than %d bytes", maxRun)
		}
		text = append(fmt.Appendf(text, "%016x %016x ", runs[i].begin, runs[i].end), body...)
		text = append(text, '\n')
	}
	return statedir.Replace(dir, file, text, false)
}

// Runs are the runs that were remembered, as they were read.
type Runs struct{ list []line }

// line is one of them. Only of those whose time fits is the rest read.
type line struct {
	begin, end int64
	body       []byte // JSON of a [Run]
}

// Runs reads what is remembered, anew when it has changed; nil where nothing is.
// A file that somebody else could have written is an error.
func (m *Memory) Runs() (*Runs, error) {
	if _, err := statedir.Dir(m.getenv); err != nil {
		return nil, nil // nobody could remember anything
	}
	dir, err := statedir.Open(m.getenv, folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, file)
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if m.seen != nil && os.SameFile(m.seen, info) && m.seen.ModTime().Equal(info.ModTime()) {
		return m.runs, nil
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.Mode().IsRegular() || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s is not a file that you alone can write to: remove it", name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m.seen, m.runs = info, parse(text)
	return m.runs, nil
}

const timeDigits = 16

// parse reads the times of the runs; a line that cannot be read is none.
func parse(text []byte) *Runs {
	r := &Runs{list: make([]line, 0, maxRuns)}
	for len(text) > 0 {
		var one []byte
		one, text, _ = bytes.Cut(text, []byte("\n"))
		if len(one) < 2*(timeDigits+1) {
			continue
		}
		begin, ok1 := digits(one[:timeDigits])
		end, ok2 := digits(one[timeDigits+1 : 2*timeDigits+1])
		if ok1 && ok2 {
			r.list = append(r.list, line{begin, end, one[2*(timeDigits+1):]})
		}
	}
	return r
}

// digits reads a number as it is written here, without making a string of it.
func digits(text []byte) (n int64, ok bool) {
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | int64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// all are the runs; one whose rest cannot be read is none.
func (r *Runs) all() (list []Run) {
	for _, l := range r.list {
		if run, ok := l.run(); ok {
			list = append(list, run)
		}
	}
	return list
}

func (l line) run() (r Run, ok bool) {
	err := json.Unmarshal(l.body, &r)
	r.begin, r.end = l.begin, l.end
	return r, err == nil
}

// Of is the last run in which a file was written, nil where it is none that is
// remembered. path is absolute and without links, info what lstat(2) says of it;
// read gives its content and is called for a manifest of packages alone.
func (r *Runs) Of(path string, info fs.FileInfo, read func() []byte) *Run {
	if r == nil || info == nil || !info.Mode().IsRegular() {
		return nil
	}
	changed, written := changes(info)
	var last *Run
	for _, l := range r.list {
		if !during(changed, l.begin, l.end) && !during(written, l.begin, l.end) || last != nil && l.begin < last.begin {
			continue
		}
		if run, ok := l.run(); ok && run.wrote(path, read) {
			last = &run
		}
	}
	return last
}

func during(t, begin, end int64) bool { return t >= begin && (t <= end || end == 0) }

// wrote reports whether a file whose times lie in the run counts as written by it:
// one below its roots; not a dependency that a package manager has put where
// they go, and no manifest that has the scripts that it had.
func (r *Run) wrote(path string, read func() []byte) bool {
	at := slices.IndexFunc(r.Roots, func(root string) bool { return strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/") })
	if at < 0 || r.Package && Dependency(strings.TrimPrefix(path, r.Roots[at])) {
		return false
	}
	if before, ok := r.Scripts[path]; ok && before == ScriptsOf(path, read()) {
		return false
	}
	return true
}

// dependencies are directories into which package managers put what they fetch.
var dependencies = []string{"node_modules", "site-packages", ".venv", "venv", "bower_components", ".yarn", ".pnpm-store", "vendor", ".bundle"}

// Dependency reports whether a path in a work space leads through a directory for
// what package managers fetch.
func Dependency(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if slices.Contains(dependencies, part) {
			return true
		}
	}
	return false
}

// started is when a process was started, as proc_pid_stat(5) has it; "" where it
// is not there.
func started(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
	const at = 19 // the 22nd field; the third is the first behind the name
	if fields := strings.Fields(rest); len(fields) > at && fields[0] != "Z" {
		return fields[at]
	}
	return ""
}
