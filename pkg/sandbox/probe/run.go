package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// Argument is the first argument of the confined process, before its mission.
const Argument = "probe-inside"

// Run tests the default profile.
func Run(ctx context.Context) Report {
	r := Report{Kernel: kernel(), Arch: runtime.GOARCH, UID: os.Geteuid(), Profile: capability.DefaultProfile, Checks: []Check{}, Controls: []record.Control{}}
	if err := r.try(ctx, sandbox.Native); err != nil {
		hint := ""
		var refusal *sandbox.Refusal
		if errors.As(err, &refusal) {
			hint = refusal.Hint
		}
		r.add("start", No, err.Error(), hint)
	}
	r.others(os.ReadFile)
	r.judge()
	r.backends(ctx)
	return r
}

// backends tests the other backends. The native one has been tested already.
func (r *Report) backends(ctx context.Context) {
	r.Backends = []Backend{{Name: sandbox.Native, OK: r.OK, Checks: []Check{}, Controls: r.Controls}}
	for _, name := range []string{sandbox.Bwrap, sandbox.Landlock, sandbox.Seatbelt} {
		r.Backends = append(r.Backends, tried(ctx, name))
	}
	r.Backends = append(r.Backends, Backend{Name: sandbox.None, Checks: []Check{}, Controls: []record.Control{}, Detail: "it isolates nothing"})
}

func tried(ctx context.Context, name string) Backend {
	alone := Report{Checks: []Check{}, Controls: []record.Control{}}
	b := Backend{Name: name}
	if err := alone.try(ctx, name); err != nil {
		b.Detail = err.Error()
		if refusal := (*sandbox.Refusal)(nil); errors.As(err, &refusal) {
			b.Hint = refusal.Hint
		}
	}
	alone.judge()
	b.OK, b.Checks, b.Controls = alone.OK && b.Detail == "", alone.Checks, alone.Controls
	return b
}

// others tells root, who is not restricted, about restrictions for other users. It does not affect
// OK.
func (r *Report) others(read func(string) ([]byte, error)) {
	if setting, hint := sandbox.Restricted(read); setting != "" && r.UID == 0 {
		r.Checks = append(r.Checks, Check{Name: "ordinary users can confine commands too", Outcome: No, Detail: setting, Hint: hint})
	}
}

// scene holds the objects outside that the confined process must not reach.
type scene struct {
	Mission
	dir      string
	tcp      net.Listener
	unix     net.Listener
	accepted atomic.Int32
	signals  chan os.Signal
}

func (r *Report) try(ctx context.Context, backend string) error {
	s, err := newScene()
	if err != nil {
		return fmt.Errorf("prepare the probe: %w", err)
	}
	defer s.close()
	spec, err := s.spec()
	if err != nil {
		return err
	}
	spec.Backend = backend
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		return err
	}
	if limit, err := ceiling.InForce(); err == nil && limit != nil {
		r.Ceiling, r.Bounds = plan.Ceiling, limit.Lines()
	}
	out, capture, err := sandbox.RunCaptured(ctx, plan, nil)
	sandbox.Release()
	r.Controls = out.Evidence.Controls
	if err != nil {
		return err
	}
	var a Attempt
	if err := json.Unmarshal([]byte(capture.Stdout.Text), &a); err != nil || out.ExitCode != 0 {
		return fmt.Errorf("the confined process did not finish: status %s %d: %s", out.Status, out.ExitCode, capture.Stderr.Text)
	}
	r.compare(s, a)
	return nil
}

// newScene creates the files, the listeners and the signal handler.
func newScene() (*scene, error) {
	dir, err := os.MkdirTemp("", "ethos-probe-")
	if err != nil {
		return nil, err
	}
	s := &scene{dir: dir, signals: make(chan os.Signal, 1)}
	s.Mission = Mission{
		Write: filepath.Join(dir, "work", "declared"), Outside: filepath.Join(dir, "outside"), Secret: filepath.Join(dir, "secret"),
		Unix: filepath.Join(dir, "socket"), PID: os.Getpid(),
	}
	signal.Notify(s.signals, syscall.SIGUSR1)
	err = errors.Join(os.Mkdir(filepath.Join(dir, "work"), 0o700), os.WriteFile(s.Secret, []byte("secret"), 0o600), os.WriteFile(s.Outside, nil, 0o600))
	if err == nil {
		s.tcp, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err == nil {
		s.TCP = s.tcp.Addr().String()
		s.unix, err = net.Listen("unix", s.Unix)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	go s.accept(s.tcp)
	go s.accept(s.unix)
	return s, nil
}

func (s *scene) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.accepted.Add(1)
		c.Close()
	}
}

func (s *scene) close() {
	signal.Stop(s.signals)
	for _, l := range []net.Listener{s.tcp, s.unix} {
		if l != nil {
			l.Close()
		}
	}
	os.RemoveAll(s.dir)
}

func (s *scene) spec() (sandbox.Spec, error) {
	exe, err := os.Executable()
	if err != nil {
		return sandbox.Spec{}, err
	}
	mission, err := json.Marshal(s.Mission)
	work := filepath.Dir(s.Write)
	asked := capability.OnProfile(capability.DefaultProfile)
	asked.ReadPaths = []string{exe}
	return sandbox.Spec{
		Asked: asked, Argv: []string{exe, Argument, string(mission)}, Dir: work, Workspace: work, Environ: os.Environ(),
		CloseStdin: true, NewSession: true,
	}, err
}

// compare compares what happened outside with what the confined process reported.
func (r *Report) compare(s *scene, said Attempt) {
	for _, a := range attempts {
		r.check(a.name, a.held(s, said), said[a.key])
	}
}

// unsignalled reports whether sending a signal was tried and no signal arrived. If sending
// succeeded, the number may have been that of a process inside (in a container numbers are low).
// This process then gets time to receive the signal.
func (s *scene) unsignalled(a Attempt) bool {
	refusal, tried := a["signal"]
	if !tried || refusal != "" {
		return tried && len(s.signals) == 0
	}
	select {
	case <-s.signals:
		return false
	case <-time.After(2 * time.Second):
		return true
	}
}

func (r *Report) check(name string, held bool, detail string) {
	outcome, hint := Yes, ""
	if !held {
		outcome, hint = No, "the boundary does not hold on this machine; please report it with the output of ethos-sandbox probe --json"
	}
	r.add(name, outcome, detail, hint)
}
