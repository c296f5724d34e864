package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/prove"
)

// decoys are grants that no command needs, as denials that propose them.
func (s *scene) decoys(t *testing.T) (list []record.Denial) {
	t.Helper()
	base := filepath.Dir(s.Workspace)
	for i, name := range []string{"decoys/a/x", "decoys/b/x", "home/decoy/x"} {
		path := filepath.Dir(filepath.Join(base, name))
		write(t, filepath.Join(base, name), "decoy\n")
		list = append(list, record.Denial{Kind: record.KindHidden, What: path, Path: path, Remedy: []string{"--ro ", "--rw ", "--ro "}[i] + path})
	}
	return list
}

// beyondViews are the kinds of grants that no view can be given.
var beyondViews = []string{toWriteFile, toSocket}

// TestSmallestGrant takes one grant from each of many commands, and mixes what
// explain proposes with grants that nobody needs: what is proved is the one that
// was taken, or less. What cannot be proved says so, and keeps what was proposed.
func TestSmallestGrant(t *testing.T) {
	needUpper(t)
	twice(t, func(t *testing.T) {
		type one struct {
			grantCase
			place string
		}
		var all []one
		for _, c := range grantCases() {
			for _, place := range places {
				all = append(all, one{c, place})
			}
		}
		tried, proved, wrong, runs := 0, 0, 0, 0
		for i, c := range everyNth(all, 151) {
			s := newScene(t, c.place, c.command)
			first, err := s.with(t, true)
			if passed(first, err) {
				continue // it makes what it needs in a directory of its own
			}
			if r, err := newScene(t, c.place, c.command).granted(t, c.kind); !passed(r, err) {
				continue // the program is not here
			}
			before := state(t, s.dir)
			proposals := slices.DeleteFunc(first.Evidence.Denials, func(d record.Denial) bool { return d.Remedy == "" })
			at := i % (len(proposals) + 1)
			proposals = slices.Insert(proposals, at, s.decoys(t)...)
			tried++
			r := prove.Smallest(t.Context(), s.Spec, proposals, true, prove.DefaultBounds)
			runs += r.Runs
			want := s.grant(c.kind)
			var got []declared
			for _, d := range r.Needed {
				flag, _, _ := strings.Cut(strings.TrimPrefix(d.Remedy, "--"), " ")
				got = append(got, declared{flag, d.Path})
			}
			switch {
			case r.Proved && slices.Contains(beyondViews, c.kind) && want.flag != "rw":
				t.Errorf("%s in %s: proved %v, which no view can be given", c.command, c.place, got)
			case r.Proved && len(got) == 1 && got[0].flag == want.flag && mount.Within(got[0].path, want.path) && r.Needed[0].Certainty == record.Proved:
				proved++
			case r.Proved || r.Why == "" || !slices.Contains(beyondViews, c.kind):
				wrong++
				t.Logf("%s in %s: %t %v, not %v: %s", c.command, c.place, r.Proved, got, want, r.Why)
			case fmt.Sprint(r.Needed) != fmt.Sprint(proposals):
				wrong++
				t.Logf("%s in %s: not proved, and changed: %v", c.command, c.place, r.Needed)
			}
			if after := state(t, s.dir); fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("%s in %s changed what is outside: %v, not %v", c.command, c.place, after, before)
			}
		}
		t.Logf("%d commands: %d proved, %d wrong, %d runs", tried, proved, wrong, runs)
		if tried == 0 || proved == 0 || wrong*100 > tried {
			t.Errorf("of %d commands %d are proved, and %d are wrong", tried, proved, wrong)
		}
	})
}

// granted runs the command of a scene with the grant.
func (s *scene) granted(t *testing.T, kind string) (result, error) {
	t.Helper()
	return s.with(t, false, s.grant(kind))
}

// TestNothingProvedForFailures holds that no grant is said to help a command that
// fails by itself, whatever is proposed for it.
func TestNothingProvedForFailures(t *testing.T) {
	needUpper(t)
	twice(t, func(t *testing.T) {
		tried := 0
		for _, command := range everyNth(failures(), 83) {
			s := newScene(t, "data", command)
			if r, err := s.with(t, false); err != nil || passed(r, err) {
				continue
			}
			tried++
			r := prove.Smallest(t.Context(), s.Spec, s.decoys(t), true, prove.DefaultBounds)
			if r.Proved || r.Why == "" {
				t.Errorf("%s: %+v", command, r)
			}
		}
		if t.Logf("%d failures", tried); tried == 0 {
			t.Error("none was tried")
		}
	})
}

// TestProofReachesNothing: a command that would write, connect and send is run
// again with all that it was declared, and with a socket proposed. It reaches
// nothing; its allowed twin, a plain run, does.
func TestProofReachesNothing(t *testing.T) {
	needUpper(t)
	probetest.Need(t, probetest.UserNS, "command:python3")
	base := t.TempDir()
	hits := make(chan string, 100)
	listen := func(network, address string) string {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				hits <- network
				c.Close()
			}
		}()
		return l.Addr().String()
	}
	tcp, file := listen("tcp", "127.0.0.1:0"), listen("unix", filepath.Join(base, "s"))
	spec := script(t, "")
	need := filepath.Join(base, "need")
	write(t, need, "x\n")
	spec.Argv = []string{"python3", "-c", `import sys,socket,os
open('made','w').write('x')
try: os.write(3, b'x')
except OSError: pass
for family, to in ((socket.AF_INET, ('127.0.0.1', int(sys.argv[1]))), (socket.AF_UNIX, sys.argv[2])):
	try: socket.socket(family).connect(to)
	except OSError: pass
open(sys.argv[3]).read()`, tcp[strings.LastIndexByte(tcp, ':')+1:], file, need}
	spec.Network.Mode, spec.UnixSockets = "host", []string{file}
	proposals := []record.Denial{
		{Kind: record.KindSocket, Path: file, What: file, Remedy: "--unix-socket " + file}, {Kind: record.KindName, What: "x.example.com", Remedy: "--allow-domain x.example.com"},
		{Kind: record.KindHidden, Path: need, What: need, Remedy: "--ro " + need, Declare: "read_paths: [" + need + "]"},
	}
	r := prove.Smallest(t.Context(), spec, proposals, true, prove.DefaultBounds)
	if !r.Proved || len(r.Needed) != 1 || r.Needed[0].Path != need || len(r.Unneeded) != 2 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(spec.Workspace, "made")); err == nil || len(hits) > 0 {
		t.Errorf("made: %v, connections: %d", err, len(hits))
	}
	spec.ReadPaths = []string{need} // the twin
	if r := execute(t, spec); r.err != nil || r.ExitCode != 0 {
		t.Fatalf("%v %d %s", r.err, r.ExitCode, r.Stderr.Text)
	}
	for range 2 {
		select {
		case <-hits:
		case <-time.After(time.Minute):
			t.Fatal("the twin did not connect")
		}
	}
	if _, err := os.Stat(filepath.Join(spec.Workspace, "made")); err != nil {
		t.Error(err)
	}
}

// TestProofIsRefused: where what is run again would reach outside, where no view
// can be had, and where the bounds are reached, it is said, and nothing is taken
// away. Its allowed twin is proved.
func TestProofIsRefused(t *testing.T) {
	needUpper(t)
	probetest.Need(t, probetest.UserNS)
	spec := script(t, "")
	base := filepath.Dir(spec.Workspace)
	need, file := filepath.Join(base, "need"), filepath.Join(base, "file")
	write(t, need, "x\n")
	write(t, file, "x\n")
	spec.Argv = []string{"sh", "-c", `echo ran >>"$2" 2>/dev/null; cat "$1"`, "sh", need, file}
	proposals := []record.Denial{{Kind: record.KindHidden, Path: need, What: need, Remedy: "--ro " + need}}
	pipe, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer other.Close()
	for name, c := range map[string]struct {
		change func(*Spec, *prove.Bounds)
		why    string // "" is proved
	}{
		"twin":           {func(*Spec, *prove.Bounds) {}, ""},
		"descriptor":     {func(s *Spec, _ *prove.Bounds) { s.Descriptors = []int{int(other.Fd())} }, "descriptors of its caller"},
		"agent":          {func(s *Spec, _ *prove.Bounds) { s.Agent = "claude" }, "an agent is not run again"},
		"file to write":  {func(s *Spec, _ *prove.Bounds) { s.WritePaths = []string{file} }, "covers directories only"},
		"no room":        {func(s *Spec, _ *prove.Bounds) { s.Environ = append(s.Environ, "XDG_STATE_HOME=/proc/none") }, "copy-on-write view"},
		"runs":           {func(_ *Spec, b *prove.Bounds) { b.Runs = 1 }, "used up"},
		"time":           {func(_ *Spec, b *prove.Bounds) { b.Time = time.Nanosecond }, "used up"},
		"hangs":          {func(s *Spec, b *prove.Bounds) { s.Argv[2] = "sleep 100"; b.Time = time.Second }, "used up"},
		"another reason": {func(s *Spec, _ *prove.Bounds) { s.Argv[2] = "exit 7" }, "fails with the proposed grants"},
		"not each time":  {func(s *Spec, _ *prove.Bounds) { s.Argv[2] = "true" }, "passes in a view without any grant"},
	} {
		t.Run(name, func(t *testing.T) {
			s, b := spec, prove.DefaultBounds
			s.Argv = slices.Clone(spec.Argv)
			s.Asked = capability.OnProfile("")
			c.change(&s, &b)
			r := prove.Smallest(t.Context(), s, proposals, true, b)
			if r.Proved != (c.why == "") || !strings.Contains(r.Why, c.why) || len(r.Needed) != 1 || r.Needed[0].Path != need {
				t.Errorf("%+v", r)
			}
			if text, err := os.ReadFile(file); err != nil || string(text) != "x\n" {
				t.Errorf("%q %v", text, err)
			}
		})
	}
}
