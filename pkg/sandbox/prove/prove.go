package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/exec"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/plan"
)

// Bounds limit a proof.
type Bounds struct {
	Runs int
	Time time.Duration
}

// DefaultBounds are for an interactive user.
var DefaultBounds = Bounds{Runs: 40, Time: 2 * time.Minute}

// Result is the result of a proof.
type Result struct {
	// Needed is the smallest set of proposals if Proved is true, each with the
	// certainty [record.Proved]; else the proposals as given.
	Needed []record.Denial
	// Unneeded lists the given proposals without which the command passes.
	Unneeded []record.Denial
	Proved   bool
	Why      string // the reason, if not proved
	Runs     int
}

// Smallest finds the smallest set of proposals with which the command of a spec
// passes. With follow, it also proposes what the command is refused when it has
// the proposals.
func Smallest(ctx context.Context, spec plan.Spec, proposals []record.Denial, follow bool, b Bounds) Result {
	t := &trial{ctx: ctx, left: b.Runs, until: time.Now().Add(b.Time)}
	needed, err := t.prove(spec, proposals, follow)
	r := Result{Needed: proposals, Runs: t.ran}
	if err != nil {
		r.Why = err.Error()
		if refusal := (*plan.Refusal)(nil); errors.As(err, &refusal) && refusal.Hint != "" {
			r.Why += "; " + refusal.Hint
		}
		return r
	}
	r.Needed, r.Proved = needed, true
	for _, d := range proposals {
		if !slices.ContainsFunc(needed, func(n record.Denial) bool { return covers(n, d) || n.Path == d.Path }) {
			r.Unneeded = append(r.Unneeded, d)
		}
	}
	return r
}

// trial runs one command repeatedly.
type trial struct {
	ctx   context.Context
	spec  plan.Spec
	left  int
	until time.Time
	each  time.Duration // time limit of one run; 0 means until
	ran   int
}

// maxFollowed limits the rounds of new proposals.
const maxFollowed = 8

func (t *trial) prove(spec plan.Spec, proposals []record.Denial, follow bool) ([]record.Denial, error) {
	if spec.Agent != "" {
		return nil, errors.New("an agent is not run again")
	}
	t.spec = apart(spec)
	if ok, _, err := t.run(nil); ok || err != nil {
		return nil, cmp.Or(err, errors.New("the command passes in a view without any grant: it failed for another reason, or not each time"))
	}
	have, err := t.enough(slices.DeleteFunc(slices.Clone(proposals), untried), follow)
	if err != nil {
		return nil, err
	}
	passes := func(set []record.Denial) (bool, error) {
		if len(set) == 0 {
			return false, nil // it was the first run
		}
		ok, _, err := t.run(set)
		return ok, err
	}
	if have, err = minimize(have, passes); err == nil {
		have, err = narrow(have, passes)
	}
	for i := range have {
		have[i].Certainty = record.Proved
	}
	return have, err
}

func (t *trial) enough(have []record.Denial, follow bool) ([]record.Denial, error) {
	for range maxFollowed {
		if len(have) == 0 {
			break
		}
		began := time.Now()
		ok, denials, err := t.run(have)
		if err != nil {
			return nil, err
		}
		if ok {
			t.each = 5*time.Second + 3*time.Since(began) // a run that lacks something may wait for ever
			return have, nil
		}
		before := len(have)
		for _, d := range denials {
			if follow && !untried(d) && !slices.ContainsFunc(have, func(h record.Denial) bool { return covers(h, d) }) {
				have = append(slices.DeleteFunc(have, func(h record.Denial) bool { return covers(d, h) }), d)
				before = -1
			}
		}
		if before == len(have) {
			break
		}
	}
	return nil, errors.New("in a view, without network and without sockets of the host, the command fails with the proposed grants")
}

// narrow reduces write access to read access where that suffices.
func narrow(have []record.Denial, passes func([]record.Denial) (bool, error)) ([]record.Denial, error) {
	for i, d := range have {
		if path, ok := strings.CutPrefix(d.Remedy, "--rw "); ok {
			tried := slices.Clone(have)
			tried[i].Remedy, tried[i].Declare = "--ro "+path, strings.Replace(d.Declare, "read_write_paths:", "read_paths:", 1)
			ok, err := passes(tried)
			if err != nil {
				return have, err
			}
			if ok {
				have = tried
			}
		}
	}
	return have, nil
}

// untried reports whether a proposal is not a grant, or cannot be granted to a
// run that reaches nothing outside.
func untried(d record.Denial) bool { return flagOf(d) == "" }

func flagOf(d record.Denial) string {
	flag, _, _ := strings.Cut(d.Remedy, " ")
	if flag == "--env-files" || (flag == "--ro" || flag == "--rw") && d.Path != "" {
		return flag
	}
	return ""
}

// covers reports whether grant a includes everything in grant b.
func covers(a, b record.Denial) bool {
	af, bf := flagOf(a), flagOf(b)
	if af == "--env-files" || bf == "--env-files" {
		return af == bf
	}
	return mount.Within(b.Path, a.Path) && (af == bf || af == "--rw")
}

// apart returns a spec whose command reaches nothing outside. [outside] checks
// the plan made from it.
func apart(s plan.Spec) plan.Spec {
	for _, set := range []*capability.Set{&s.Set, &s.Base} {
		if set.Network.Mode != "" && set.Network.Mode != "none" {
			set.Network.Mode = "loopback"
		}
		set.Network.AllowDomains, set.Network.DenyDomains, set.Network.AllowRequests, set.Network.Inject = nil, nil, nil, nil
		set.Network.SNI, set.Network.CABundle, set.UnixSockets = "", "", nil
	}
	s.View = capability.CopyOnWrite
	s.Publish, s.PublishAny, s.ProxyEnv, s.Recovered = nil, false, false, nil
	s.Explain, s.CloseStdin, s.NewSession = true, true, true
	return s
}

// outside says what in a plan reaches further than a discarded view.
func outside(p *plan.Plan) error {
	switch {
	case p.View == nil || p.View.At != "":
		return errors.New("what the command writes would stay")
	case p.Network != "none" && p.Network != "loopback" || p.Egress != nil || len(p.Publish) > 0:
		return errors.New("the command has a network")
	case len(p.Sockets) > 0 || len(p.UnixSockets) > 0:
		return errors.New("the command has sockets of the host")
	case len(p.Descriptors) > 0:
		return errors.New("the command has descriptors of its caller")
	case len(p.AgentState) > 0:
		return errors.New("the command has state of an agent")
	case !p.CloseStdin || !p.NewSession:
		return errors.New("the command has the terminal of its caller")
	}
	for _, m := range p.Mounts {
		if m.Writable && strings.HasPrefix(m.Source, "/dev/") && m.Why != "device" {
			return fmt.Errorf("the command has the device %s", m.Source)
		}
	}
	return nil
}

// run runs the command with grants, and returns what it was refused. The error
// says why it did not run, or had to stop.
func (t *trial) run(grants []record.Denial) (passed bool, denials []record.Denial, err error) {
	limit := time.Until(t.until)
	if t.left == 0 || limit <= 0 {
		return false, nil, fmt.Errorf("%d runs of the command and the time for them are used up", t.ran)
	}
	limited := t.each > 0 && t.each < limit
	if limited {
		limit = t.each
	}
	p, own, err := t.plan(grants, limit)
	if err != nil {
		return false, nil, err
	}
	t.left--
	t.ran++
	out, _, err := exec.RunCaptured(t.ctx, p, nil)
	if err == nil {
		err = context.Cause(t.ctx)
	}
	if err != nil {
		return false, nil, err
	}
	if out.Status == record.StatusTimeout && !own && !limited {
		return false, nil, errors.New("the time for the runs is used up")
	}
	return out.Status == record.StatusExited && out.ExitCode == 0, out.Evidence.Denials, nil
}

// plan returns the plan of one run; own reports whether the command's own time
// limit is the shorter one.
func (t *trial) plan(grants []record.Denial, limit time.Duration) (p *plan.Plan, own bool, err error) {
	s := t.spec
	s.ReadPaths, s.WritePaths = slices.Clone(s.ReadPaths), slices.Clone(s.WritePaths)
	for _, d := range grants {
		switch flagOf(d) {
		case "--ro":
			s.ReadPaths = append(s.ReadPaths, d.Path)
		case "--rw":
			s.WritePaths = append(s.WritePaths, d.Path)
		case "--env-files":
			s.EnvFiles = "read"
		}
	}
	if p, err = plan.Build(s, plan.HostFiles{}, os.Geteuid()); err != nil {
		return nil, false, err
	}
	if err := outside(p); err != nil {
		return nil, false, fmt.Errorf("it is not run again: %w", err)
	}
	own = p.Limits.Timeout > 0 && p.Limits.Timeout <= limit
	if !own {
		p.Limits.Timeout = limit
	}
	return p, own, nil
}
