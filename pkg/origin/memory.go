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
	folder = "reached" // name in the state folder
	file   = "runs"
	// maxRuns is how many runs are kept: the most recent ones.
	maxRuns = 500
	// maxRun is the size limit of the line of one run in bytes.
	maxRun = 8 << 10
)

// tick is how far file timestamps can lag behind: the kernel uses the time of its last tick, and
// there are at least 100 ticks per second (CONFIG_HZ).
const tick = 10 * time.Millisecond

// Run is a run that could reach the network, or that used files which such a run has written.
type Run struct {
	Action  string   `json:"action"`             // the ID of its record; "" if none was kept
	Agent   string   `json:"agent"`              // the agent that asked; "" if not known
	Network string   `json:"network"`            // proxy or host
	Roots   []string `json:"roots"`              // directories that it could write to; absolute, free of symbolic links
	Package bool     `json:"packages,omitempty"` // it ran nothing but a package manager
	// Scripts maps manifest files to the digests of their scripts when the run began: see
	// [ScriptsOf].
	Scripts map[string]string `json:"scripts,omitempty"`
	PID     int               `json:"pid,omitempty"`     // of ethos-sandbox, while the run lasts
	Started string            `json:"started,omitempty"` // start time of that process, proc_pid_stat(5)

	begin, end int64 // nanoseconds since 1970; end is 0 while the run lasts
}

// Memory holds the recorded runs of one person.
type Memory struct {
	getenv func(string) string
	seen   fs.FileInfo // the file that runs was read from
	runs   *Runs
}

// New returns the memory whose state folder the environment names.
func New(getenv func(string) string) *Memory { return &Memory{getenv: getenv} }

// Begun is a run that has not ended.
type Begun struct {
	memory *Memory
	begin  int64
	run    Run
}

// Begin records a run that is about to start. Files that the run writes have times that are not
// earlier than this.
func (m *Memory) Begin(r Run) (*Begun, error) {
	r.PID, r.Started = os.Getpid(), started(os.Getpid())
	b := &Begun{memory: m, run: r}
	return b, m.change(func(runs []Run) []Run {
		b.begin = time.Now().Add(-tick).UnixNano()
		b.run.begin = b.begin
		return append(runs, b.run)
	})
}

// End records that the run, and every process that it started, has ended. A nil receiver is a run
// that did not begin.
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

// change rewrites the memory under a lock. A run whose process was killed is ended here: any file
// written until now may be its work.
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

// Runs are the recorded runs, as they were read.
type Runs struct{ list []line }

// line is one recorded run. Its body is decoded only if its times match.
type line struct {
	begin, end int64
	body       []byte // JSON of a [Run]
}

// Runs reads the recorded runs, again only if the file has changed. It returns nil if there are
// none. A file that somebody else could have written is an error.
func (m *Memory) Runs() (*Runs, error) {
	if _, err := statedir.Dir(m.getenv); err != nil {
		return nil, nil // no run can have been recorded
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

// parse reads the times of the runs. It skips lines that it cannot read.
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

// digits parses a decimal number without allocating a string.
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

// Of returns the last recorded run in which a file was written, or nil. path is absolute and free
// of symbolic links, and info is the result of lstat(2). read returns the content; Of calls it only
// for a package manifest.
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

// wrote reports whether a file whose times lie in the run counts as written by it. The file must
// lie below the roots of the run. It must not be a dependency that a package manager put in its
// usual directory, nor a manifest whose scripts have not changed.
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

// dependencies are directories into which package managers install what they fetch.
var dependencies = []string{"node_modules", "site-packages", ".venv", "venv", "bower_components", ".yarn", ".pnpm-store", "vendor", ".bundle"}

// Dependency reports whether a path in a work space leads through a directory of installed
// packages.
func Dependency(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if slices.Contains(dependencies, part) {
			return true
		}
	}
	return false
}

// started returns the start time of a process as proc_pid_stat(5) prints it, or "" if there is no
// such process.
func started(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
	const at = 19 // the 22nd field; the first one after the name is the third
	if fields := strings.Fields(rest); len(fields) > at && fields[0] != "Z" {
		return fields[at]
	}
	return ""
}
