package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"unicode/utf8"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/lazy"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/sandbox/view"
	"ethos/pkg/statedir"
)

type workspaceCmd struct {
	Create workspaceCreateCmd `cmd:"" help:"Create a work space from this one: a copy-on-write view, or with --git a branch. What runs in it changes nothing here."`
	List   workspaceListCmd   `cmd:"" help:"List the created work spaces, and the runs whose changes wait to be applied."`
	Run    workspaceRunCmd    `cmd:"" help:"Run a command in a created work space, as run does."`
	Diff   workspaceDiffCmd   `cmd:"" help:"Show what was changed in a created work space, at or below the paths."`
	Apply  workspaceApplyCmd  `cmd:"" help:"Apply the changes in a created work space to the original, at or below the paths."`
	Merge  workspaceMergeCmd  `cmd:"" help:"Copy the branch of a work space created with --git into its repository, and merge it there."`
	Remove workspaceRemoveCmd `cmd:"" help:"Remove a created work space whose changes were applied or merged."`
}

// nameForm matches valid names of workspaces: a single directory name that is
// not hidden.
var nameForm = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) }}

func checkWorkspaceName(name string) error {
	if !nameForm.Get().MatchString(name) {
		return cli.Errorf(cli.Refused, "use at most 64 letters, digits, '.', '_' and '-', beginning with a letter or digit", "%q is not a valid name of a work space", name)
	}
	return nil
}

// namedInUTF8 refuses directories whose names the JSON that describes a session
// or a created workspace cannot carry.
func namedInUTF8(what string, dirs ...string) error {
	for _, dir := range dirs {
		if !utf8.ValidString(dir) {
			return cli.Errorf(cli.Refused, "rename the directory, or use ethos-sandbox run without a session, which takes any name", "%s: the name of the directory %q is not UTF-8", what, dir)
		}
	}
	return nil
}

func openWorkspace(sys *cli.System, name string) (*view.View, error) {
	if err := checkWorkspaceName(name); err != nil {
		return nil, err
	}
	v, err := view.Open(sys.Getenv, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.Errorf(cli.Refused, "ethos-sandbox workspace list lists the work spaces", "there is no work space %s", name)
	case errors.Is(err, statedir.ErrBusy):
		return nil, cli.Errorf(cli.Refused, "wait until the command that runs in it has ended", "work space %s: %w", name, err)
	case err != nil:
		return nil, cli.Errorf(cli.Refused, "", "work space %s: %w", name, err)
	}
	return v, nil
}

type workspaceCreateCmd struct {
	boundary.Flags
	Git    bool   `help:"Clone the git repository, with a new branch that begins at HEAD. What is not committed stays here."`
	Branch string `placeholder:"NAME" help:"With --git: name of the branch. Default: the name of the work space."`
	Name   string `arg:"" name:"name" help:"Name of the work space."`
}

// Kind says that a failure has the status of a command that did not run.
func (*workspaceCreateCmd) Kind() cli.Kind { return cli.Runner }

// Run creates a workspace over the directories that a command with these flags
// may write to, or a clone.
func (c *workspaceCreateCmd) Run(ctx context.Context, sys *cli.System) error {
	if err := checkWorkspaceName(c.Name); err != nil {
		return err
	}
	if there, err := isClone(sys, c.Name); err != nil || there {
		return errors.Join(err, thereIs(c.Name))
	}
	if c.Git {
		return c.clone(ctx, sys)
	}
	if c.Branch != "" {
		return cli.Errorf(cli.Refused, "add --git", "--branch needs --git")
	}
	plan, err := workspacePlan(sys, &c.Flags)
	if err != nil {
		return err
	}
	if err := namedInUTF8("work space "+c.Name, plan.View.Roots...); err != nil {
		return err
	}
	v, err := view.Create(sandbox.ViewPlace(plan, c.Name))
	if errors.Is(err, fs.ErrExist) {
		return thereIs(c.Name)
	}
	if err != nil {
		return cli.Errorf(cli.Refused, "check ~/.local/state/ethos (or XDG_STATE_HOME) and /var/tmp, where its layers are kept", "work space %s: %w", c.Name, err)
	}
	if err := v.Close(); err != nil {
		return err
	}
	return sys.Printf("%s\n", c.Name)
}

func thereIs(name string) error {
	return cli.Errorf(cli.Refused, "choose another name, or remove it: ethos-sandbox workspace remove "+name, "work space %s already exists", name)
}

// workspacePlan makes the plan for a command in a view.
func workspacePlan(sys *cli.System, f *boundary.Flags) (*sandbox.Plan, error) {
	spec, err := specNow(sys, f, []string{"true"})
	if err != nil {
		return nil, err
	}
	spec.View = capability.CopyOnWrite
	plan, err := build(sys, spec, cli.Refused)
	if err == nil && len(plan.View.Roots) == 0 {
		err = cli.Errorf(cli.Refused, "choose a profile that can write, such as workspace", "these flags allow no writing")
	}
	return plan, err
}

type workspaceListCmd struct {
	JSON bool `name:"json" help:"One JSON object for each, one a line."`
}

// listed is one line of the list.
type listed struct {
	Name    string   `json:"name"`
	Busy    bool     `json:"busy,omitempty"`
	Created string   `json:"created,omitempty"`
	Roots   []string `json:"roots,omitempty"`
	Changes int      `json:"changes"`
	Branch  string   `json:"branch,omitempty"` // of a workspace made with --git
	Dir     string   `json:"dir,omitempty"`    // its directory
}

func (c *workspaceListCmd) Run(ctx context.Context, sys *cli.System) error {
	names, err := statedir.List(sys.Getenv, view.Folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		one := listed{Name: name}
		v, err := view.Open(sys.Getenv, name)
		switch {
		case errors.Is(err, statedir.ErrBusy):
			one.Busy = true
		case err != nil:
			sys.Warn(name+": "+err.Error(), "")
			continue
		default:
			one.Created, one.Roots = v.Created.Format("2006-01-02T15:04:05Z"), v.RootPaths()
			changes, err := v.Unhashed(ctx)
			if v.Close(); err != nil {
				sys.Warn(name+": "+err.Error(), "")
			}
			one.Changes = len(changes)
		}
		if err := one.print(sys, c.JSON); err != nil {
			return err
		}
	}
	return listClones(ctx, sys, c.JSON)
}

func (l listed) print(sys *cli.System, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(sys.Records()).Encode(l)
	}
	what := counted(l.Changes, "change")
	if l.Busy {
		what = "in use"
	}
	root := ""
	if len(l.Roots) > 0 {
		root = l.Roots[0]
	}
	if l.Branch != "" {
		root += " (branch " + l.Branch + ") in " + l.Dir
	}
	return sys.Printf("%-28s %-20s %-14s %s\n", l.Name, l.Created, what, printable.Line(root))
}

type workspaceRunCmd struct {
	boundary.Flags
	evidenceFlags
	Argv cli.Argv `arg:"" passthrough:"" name:"name" help:"The work space; then the command and its arguments, after --."`
}

// Kind says that the status is that of the command.
func (*workspaceRunCmd) Kind() cli.Kind { return cli.Runner }

func (c *workspaceRunCmd) Run(ctx context.Context, sys *cli.System) error {
	words, err := behindDashes(c.Argv, cli.Refused)
	if err != nil {
		return err
	}
	if len(words) < 3 || words[1] != "--" {
		return cli.Errorf(cli.Refused, "ethos-sandbox workspace run [flags] NAME -- COMMAND", "a name, -- and a command are required")
	}
	name, argv := words[0], words[2:]
	if there, err := isClone(sys, name); err != nil || there {
		return errors.Join(err, c.inClone(ctx, sys, name, argv))
	}
	v, err := openWorkspace(sys, name)
	if err != nil {
		return err
	}
	if err := v.Close(); err != nil {
		return err
	}
	spec, err := specNow(sys, &c.Flags, argv)
	if err != nil {
		return err
	}
	spec.View = capability.CopyOnWrite
	caught := catch()
	plan, evidence, err := c.ready(ctx, sys, spec)
	if err != nil || plan == nil {
		return err
	}
	plan.View.At = v.Dir
	return c.pass(ctx, sys, plan, evidence, caught, nil)
}

type workspaceDiffCmd struct {
	JSON  bool     `name:"json" help:"One JSON object for each change, one a line, as in result.capture.writes."`
	Name  string   `arg:"" name:"name" help:"The work space."`
	Paths []string `arg:"" optional:"" name:"paths" help:"Only changes at or below these paths."`
}

func (c *workspaceDiffCmd) Run(ctx context.Context, sys *cli.System) error {
	if there, err := isClone(sys, c.Name); err != nil || there {
		return errors.Join(err, c.ofClone(ctx, sys))
	}
	v, err := openWorkspace(sys, c.Name)
	if err != nil {
		return err
	}
	defer v.Close()
	changes, err := changesOf(ctx, sys, v, c.Paths)
	if err != nil {
		return err
	}
	writes := make([]record.Write, len(changes))
	for i, one := range changes {
		writes[i] = one.Write()
	}
	return c.print(sys, writes)
}

func (c *workspaceDiffCmd) print(sys *cli.System, writes []record.Write) (err error) {
	lines := json.NewEncoder(sys.Records())
	for _, one := range writes {
		if c.JSON {
			err = lines.Encode(one)
		} else {
			err = sys.Printf("%s\n", writeLine(one))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changesOf returns the changes at or below paths, which are relative to the
// working directory.
func changesOf(ctx context.Context, sys *cli.System, v *view.View, paths []string) ([]view.Change, error) {
	changes, err := v.Changes(ctx)
	if err != nil {
		return nil, err
	}
	var named []string
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(sys.Dir, path)
		}
		named = append(named, filepath.Clean(path))
	}
	for _, path := range named {
		if len(view.Below(changes, []string{path})) == 0 {
			return nil, cli.Errorf(cli.Refused, "ethos-sandbox workspace diff "+v.Name+" lists the changes", "nothing at or below %s was changed", printable.Line(path))
		}
	}
	return view.Below(changes, named), nil
}

type workspaceApplyCmd struct {
	Name  string   `arg:"" name:"name" help:"The work space."`
	Paths []string `arg:"" optional:"" name:"paths" help:"Only changes at or below these paths."`
}

// Run applies the changes. Applied changes are no longer listed.
func (c *workspaceApplyCmd) Run(ctx context.Context, sys *cli.System) error {
	if there, err := isClone(sys, c.Name); err != nil || there {
		return errors.Join(err, cli.Errorf(cli.Refused, "commit in it, then ethos-sandbox workspace merge "+c.Name, "work space %s has a branch: merge it instead", c.Name))
	}
	v, err := openWorkspace(sys, c.Name)
	if err != nil {
		return err
	}
	defer v.Close()
	changes, err := changesOf(ctx, sys, v, c.Paths)
	if err != nil {
		return err
	}
	result := sandbox.ApplyView(context.WithoutCancel(ctx), v, sys.Getenv, changes)
	return errors.Join(told(sys, result), v.Save())
}

type workspaceRemoveCmd struct {
	Force bool   `help:"Remove it even if changes were not applied or merged; they are lost."`
	Name  string `arg:"" name:"name" help:"The work space."`
}

func (c *workspaceRemoveCmd) Run(ctx context.Context, sys *cli.System) error {
	if there, err := isClone(sys, c.Name); err != nil || there {
		return errors.Join(err, c.ofClone(sys))
	}
	v, err := openWorkspace(sys, c.Name)
	if err != nil {
		return err
	}
	if !c.Force {
		changes, err := v.Unhashed(ctx)
		if err == nil && len(changes) > 0 {
			err = cli.Errorf(cli.Refused, "ethos-sandbox workspace apply "+c.Name+" applies them; ethos-sandbox workspace remove --force "+c.Name+" loses them", "work space %s has changes that were not applied: %d", c.Name, len(changes))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = cli.Errorf(cli.Refused, "ethos-sandbox workspace remove --force "+c.Name, "work space %s: its original is gone: %w", c.Name, err)
		}
		if err != nil {
			return errors.Join(err, v.Close())
		}
	}
	return v.Remove()
}
