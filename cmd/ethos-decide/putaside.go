//go:build !nocel

package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/printable"
	"ethos/pkg/protected"
	"ethos/pkg/timerslack"
	"ethos/pkg/trace"
)

// runningSession is a session of ethos-sandbox that runs.
type runningSession struct {
	Name      string   `json:"name"`
	Protected []string `json:"protected"` // what it puts aside if it appears or is replaced
}

// sessionsTime is the time limit for the list of sessions.
const sessionsTime = 5 * time.Second

// sessionAt returns the name of a running session that protects a path, or "". It asks the
// ethos-sandbox beside this program, else the one on the PATH: without one there is none.
func sessionAt(ctx context.Context, sys *cli.System, path string) string {
	program := beside("ethos-sandbox")
	if !filepath.IsAbs(program) {
		found, err := lookPath(sys, program)
		if err != nil {
			return ""
		}
		program = found
	}
	ctx, cancel := context.WithTimeout(ctx, sessionsTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "session", "list", "--json")
	cmd.Env, cmd.Dir, cmd.WaitDelay = sys.Environ, "/", time.Second
	var list []runningSession
	var out strings.Builder
	cmd.Stdout = &out
	if timerslack.Start(cmd.Run) != nil || json.Unmarshal([]byte(out.String()), &list) != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	for _, s := range list {
		for _, protected := range s.Protected {
			if path == protected || strings.HasPrefix(path, protected+"/") || strings.HasPrefix(protected, path+"/") {
				return s.Name
			}
		}
	}
	return ""
}

// asideDir is the directory of a work space in which a boundary keeps what it has put aside.
const asideDir = ".coding-ethos/" + protected.AsideFolder

// putAside returns where a boundary keeps a file of a work space that is not there, or "".
func putAside(space, file string) string {
	if _, err := os.Lstat(file); err == nil {
		return ""
	}
	dir, name := filepath.Split(file)
	kept := ""
	entries, _ := os.ReadDir(dir) // a directory that cannot be read has nothing to show
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name+protected.AsideSuffix) {
			kept = later(kept, filepath.Join(dir, e.Name()))
		}
	}
	rel, err := filepath.Rel(space, file)
	if err != nil || !filepath.IsLocal(rel) {
		return kept
	}
	runs, _ := os.ReadDir(filepath.Join(space, asideDir))
	for _, run := range runs {
		there, _ := os.ReadDir(filepath.Join(space, asideDir, run.Name(), filepath.Dir(rel)))
		for _, e := range there {
			number, ours := strings.CutPrefix(strings.TrimSuffix(e.Name(), protected.AsideEnding), name) // a second one has a number
			if ours && strings.HasSuffix(e.Name(), protected.AsideEnding) && strings.Trim(number, ".0123456789") == "" {
				kept = later(kept, filepath.Join(space, asideDir, run.Name(), filepath.Dir(rel), e.Name()))
			}
		}
	}
	return kept
}

// later returns the path that was changed later. A rename changes the ctime, which os does not
// tell everywhere: the time of the content decides, and of equals the second.
func later(a, b string) string {
	was, err := os.Lstat(a)
	if err != nil {
		return b
	}
	if is, err := os.Lstat(b); err != nil || is.ModTime().Before(was.ModTime()) {
		return a
	}
	return b
}

// tellPutAside warns that a boundary has put a file of a work space aside, and says how to get it
// back.
func tellPutAside(ctx context.Context, sys *cli.System, space, file string) (told bool) {
	kept := putAside(space, file)
	if kept == "" {
		return false
	}
	message, hint := file+" is missing and has no effect: a boundary quarantined it; it is kept in "+kept, "read it, and restore it if it is yours: "
	if name := sessionAt(ctx, sys, file); name != "" {
		message += "; session " + name + " is running, and would quarantine it again"
		hint += "ethos-sandbox session end " + name + " && "
	}
	sys.Warn(printable.Line(message), hint+"mv "+printable.Word(kept)+" "+printable.Word(file))
	return true
}

// tellAllPutAside does it for the configuration files of the work space.
func tellAllPutAside(ctx context.Context, sys *cli.System) {
	space := trace.WorkTree(sys.Dir)
	for _, name := range []string{capability.ConfigName, decide.ConsumerFile} {
		tellPutAside(ctx, sys, space, filepath.Join(space, name))
	}
}
