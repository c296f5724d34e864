package control

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/view"
	"ethos/pkg/statedir"
)

// viewHint is the hint if no view can be made.
const viewHint = "a copy-on-write view needs Linux 5.11, and room for what is written in ~/.local/state/ethos (or XDG_STATE_HOME) or /var/tmp, on a file system such as ext4, xfs or btrfs"

// ViewPlace returns the parameters of a view for a plan.
func ViewPlace(p *plan.Plan, name string) view.Place {
	return view.Place{
		Getenv: p.Getenv, Name: name, Roots: p.View.Roots, Closed: p.View.Closed, Home: p.Home,
		Hidden: func(dir string) bool {
			access := plan.Covering(p.Paths, dir).Access
			return access == plan.Hidden || access == plan.Private
		},
	}
}

// viewStepHint returns the hint if the kernel refused an overlay.
func viewStepHint(fault *steps.StepError) string {
	if fault.Step.Stage == mount.ViewStage {
		return viewHint + "; the directory itself may lie on an overlay, but not on one in another"
	}
	return ""
}

// ApplyView applies changes of a view to the host, and quarantines those that git or an
// agent would run outside, as after a run. If the process is killed meanwhile, the next run
// does that: without a journal nothing is applied.
func ApplyView(ctx context.Context, v *view.View, getenv func(string) string, changes []view.Change) view.Result {
	scope := scopeOf(v.Home, getenv)
	scope.Roots, scope.ReadOnly = v.RootPaths(), v.Closed
	scope.Writable = func(path string) bool {
		in := func(dir string) bool { return mount.Within(path, dir) }
		return slices.ContainsFunc(scope.Roots, in) && !slices.ContainsFunc(v.Closed, in)
	}
	var err error
	if scope.Journals, err = statedir.Make(getenv, journalsName); err != nil {
		return unapplied(changes, err)
	}
	seen := quarantine.Begin(ctx, scope)
	defer seen.Close()
	if err := seen.Unjournaled(); err != nil {
		return unapplied(changes, err)
	}
	result := v.Apply(ctx, changes)
	result.Found = denials(seen.Finish(context.WithoutCancel(ctx)))
	return result
}

// unapplied is the result if no journal can be made.
func unapplied(changes []view.Change, err error) (result view.Result) {
	for _, c := range changes {
		result.Left = append(result.Left, view.Left{Change: c, Reason: "no journal can be written, and without one the next run could not find what a killed apply leaves for git: " + err.Error()})
	}
	return result
}

// KeepView copies what the command created or changed in one root of a view to a new
// directory, whose path has no links.
func KeepView(ctx context.Context, v *view.View, getenv func(string) string, root int, changes []view.Change, dir string) (view.Result, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return view.Result{}, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil && real != dir {
		err = fmt.Errorf("%s leads to %s", dir, real)
	}
	if err != nil {
		return view.Result{}, err
	}
	to, kept, err := v.Onto(root, changes, real)
	if err != nil {
		return view.Result{}, err
	}
	return ApplyView(ctx, to, getenv, kept), nil
}
