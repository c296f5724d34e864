package mutants

const (
	approvals  = "pkg/decide/approve.go"
	unbounded  = "pkg/decide/boundary.go"
	decisions  = "pkg/decide/decide.go"
	inForce    = "pkg/decide/library.go"
	proven     = "pkg/decide/proof.go"
	evaluation = "pkg/policy/decide.go"
	guarded    = "pkg/gitguard/guard.go"
	deciders   = "pkg/gitguard/decider.go"
	looks      = "pkg/gitguard/look.go"
	gits       = "pkg/gitguard/find.go"
	owners     = "pkg/gitguard/identity.go"
	injected   = "pkg/gitguard/planted.go"
	versions   = "pkg/gitguard/version.go"
	delegated  = "pkg/sandbox/kernel/cgroup/delegation.go"
	discovered = "pkg/sandbox/kernel/cgroup/discover.go"
	leaves     = "pkg/sandbox/kernel/cgroup/leaf.go"
	limited    = "pkg/sandbox/kernel/cgroup/limits.go"
	trees      = "pkg/sandbox/kernel/cgroup/tree.go"
	hierarchy  = "pkg/sandbox/kernel/cgroup/mounts.go"
	scopes     = "pkg/sandbox/kernel/cgroup/scope.go"
	hostFiles  = "pkg/sandbox/kernel/cgroup/host_linux.go"
)

var (
	deciding   = []Tests{{Package: "./pkg/decide"}}
	evaluating = []Tests{{Package: "./pkg/decide"}, {Package: "./pkg/policy"}, {Package: "./cmd/ethos-decide", Run: "^TestSubAgentsOnlyNarrow$"}}
	guarding   = []Tests{{Package: "./pkg/gitguard", Skip: "^(TestCases|TestWithinDecidesAlike|TestWithinStartsNothing)$"}, {Package: "./cmd/ethos-git", Run: "^(TestScripts|TestDubiousBare)$"}}
	grouped    = []Tests{{Package: "./pkg/sandbox/kernel/cgroup"}}
)

// decided lists the defences of decisions and approvals.
var decided = []Mutant{
	{Name: "decide: an approval that the record claims", Edits: []Edit{{decisions, `actor.AdminApproved = actor.AdminApproved && d.Recorded`, `_ = actor.AdminApproved`}}, Tests: deciding},
	{Name: "decide: a boundary that the record claims", Edits: []Edit{{decisions, `actor.Confined = actor.Confined && d.Recorded`, `_ = actor.Confined`}}, Tests: deciding},
	{Name: "decide: a sub-agent's mode is bounded", Edits: []Edit{{decisions, `actor = actor.Bounded()`, `_ = actor.Bounded()`}}, Tests: deciding},
	{Name: "decide: the pack of mode plan", Edits: []Edit{{decisions, `return []string{"trust"}`, `return nil`}}, Tests: deciding},
	{Name: "decide: the pack of mode verify", Edits: []Edit{{decisions, `return []string{"verify"}`, `return nil`}}, Tests: deciding},
	{Name: "decide: the subject", Edits: []Edit{{decisions, `v.Decision.Subject, err = l.Subject()`, `_, err = l.Subject()`}}, Tests: deciding},
	{Name: "decide: the subject is that of the approved record", Edits: []Edit{{decisions, "if out.facts != nil {\n\t\tif err := l.Set(\"facts\", out.facts)", "if out.facts != nil {\n\t\tdefer func() { _ = l.Set(\"facts\", out.facts) }()\n\t\tif err := error(nil)"}}, Tests: deciding},
	{Name: "decide: the seal", Edits: []Edit{{decisions, `if v.Decision, err = v.Decision.Sealed(); err != nil {`, `if err != nil {`}}, Tests: deciding},
	{Name: "decide: no boundary while nobody is asked", Edits: []Edit{{decisions, `if outside != nil && needBoundary(`, `if false && needBoundary(`}}, Tests: deciding},
	{Name: "decide: the administrator's boundary", Edits: []Edit{{decisions, `outside, d.NeedsBoundary()) {`, `outside, false) {`}}, Tests: deciding},
	{Name: "decide: no approval lets a call outside", Edits: []Edit{{decisions, `v.Passable, v.Never = false, true`, `_ = v`}}, Tests: deciding},
	{Name: "decide: the boundary of commands", Edits: []Edit{{unbounded, `in.Action.Kind == record.KindShell || in.Action.Kind == record.KindExec`, `in.Action.Kind == record.KindExec`}}, Tests: deciding},
	{Name: "approvals: once", Edits: []Edit{{"pkg/trust/approval.go", `switch err := os.Rename(filepath.Join(dir, approvalName(call, false)), taken); {`, `switch err := os.Link(filepath.Join(dir, approvalName(call, false)), taken); {`}}, Tests: deciding},
	{Name: "approvals: of the policies that a person saw", Edits: []Edit{{approvals, `case kept == nil || slices.ContainsFunc(standing, func(p string) bool { return !slices.Contains(kept.Policies, p) }):`, `case kept == nil:`}}, Tests: deciding},
	{Name: "approvals: of what none overrides", Edits: []Edit{{approvals, "\tif len(never) > 0 || a.memory == nil {\n\t\treturn nil", "\tif a.memory == nil {\n\t\treturn nil"}, {approvals, "\tif !Allows(d.Verdict) {\n\t\treturn first\n\t}\n", ""}}, Tests: deciding},
	{Name: "approvals: the policies that overrule one", Edits: []Edit{{approvals, "\tif !Allows(d.Verdict) {\n\t\treturn first\n\t}\n", ""}}, Tests: deciding},
	{Name: "approvals: a grant that means nothing", Edits: []Edit{{approvals, "a.failed = append(a.failed, err)\n\t\treturn first", "a.failed = append(a.failed, err)"}}, Tests: deciding},
	{Name: "approvals: by id, of each policy", Edits: []Edit{{approvals, `if !whole && slices.ContainsFunc(standing,`, `if false && !whole && slices.ContainsFunc(standing,`}}, Tests: deciding},
	{Name: "approvals: by id, of that record", Edits: []Edit{{approvals, `_, whole := a.options[id]`, `whole := len(a.options) > 0`}}, Tests: deciding},
	{Name: "approvals: what an agent wrote is not saved", Edits: []Edit{{approvals, "\taction.Input = nil\n", ""}}, Tests: deciding},
	{Name: "approvals: only what is saved is promised", Edits: []Edit{{approvals, `}, a.now()) == nil`, `}, a.now()) != nil || true`}}, Tests: deciding},
	{Name: "policies: a file that cannot be read", Edits: []Edit{{inForce, "\t\tcase errors.Is(err, fs.ErrNotExist):\n\t\tcase err != nil:", "\t\tcase err != nil || errors.Is(err, fs.ErrNotExist):\n\t\tcase false:"}}, Tests: deciding},
	{Name: "policies: a link out of the work space", Edits: []Edit{{inForce, `text, err := trust.ReadFile(path, filepath.Dir(path))`, `text, err := os.ReadFile(path)`}}, Tests: deciding},
	{Name: "policies: trust", Edits: []Edit{{inForce, `if source.Trusted = failed == nil && last.Digest == source.Digest; failed == nil`, `if source.Trusted = true; failed == nil`}}, Tests: deciding},
	{Name: "policies: trust of that content", Edits: []Edit{{inForce, `if source.Trusted = failed == nil && last.Digest == source.Digest; failed == nil`, `if source.Trusted = failed == nil; failed == nil`}}, Tests: deciding},
	{Name: "policies: those around the work space", Edits: []Edit{{inForce, `append([]string{filepath.Join(workspace, ConsumerFile)}, trust.Around(workspace, ConsumerFile)...)`, `[]string{filepath.Join(workspace, ConsumerFile)}`}}, Tests: deciding},
	{Name: "policies: those around it widen nothing", Edits: []Edit{{inForce, `l.consumer(path, i > 0)`, `l.consumer(path, false && i > 0)`}}, Tests: deciding},
	{Name: "policies: of that work space", Edits: []Edit{{inForce, `key := workspace + "\x00" + strings.Join(implied, "\x00")`, `key := strings.Join(implied, "\x00")`}}, Tests: deciding},
	{Name: "policies: of that mode", Edits: []Edit{{inForce, `key := workspace + "\x00" + strings.Join(implied, "\x00")`, `key := workspace`}}, Tests: deciding},
	{Name: "policies: of the administrator", Edits: []Edit{{inForce, `Text: f.Text, Ceiling: true}`, `Text: f.Text, Ceiling: false}`}}, Tests: deciding},
	{Name: "policies: the file of an option that is missing", Edits: []Edit{{inForce, "\t\tfound, err := readPolicies(path)\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n", "\t\tfound, _ := readPolicies(path)\n"}}, Tests: deciding},
	{Name: "policies: examples", Edits: []Edit{{inForce, `if err == nil && len(sources) > 0 && !l.options.Unproven {`, `if false {`}}, Tests: deciding},
	{Name: "policies: the note of other examples", Edits: []Edit{{proven, `fmt.Fprintf(h, "\x00%d\x00%s", len(s.Text), s.Text)`, `fmt.Fprintf(h, "%s", s.Name)`}}, Tests: deciding},
	{Name: "policies: the note leads nowhere", Edits: []Edit{{proven, `if f, err := root.OpenFile(name, `, `if f, err := os.OpenFile(note, `}}, Tests: deciding},
	{Name: "policies: accepted proofs stay", Edits: []Edit{{inForce, `Text: []byte("version: 1"), Last: last.Text}, nil`, `Text: []byte("version: 1")}, nil`}}, Tests: deciding},
	{Name: "policies: accepted proofs stay in a changed file", Edits: []Edit{{inForce, `source.Last = last.Text`, `source.Last = nil`}}, Tests: deciding},
	{Name: "evaluation: an error denies", Edits: []Edit{{evaluation, "Code: said.code, Message: message})\n\t\td.Verdict = record.VerdictDeny", "Code: said.code, Message: message})"}}, Tests: evaluating},
	{Name: "evaluation: an error is none", Edits: []Edit{{evaluation, `case said.code != "":`, `case false:`}, {evaluation, "\t\tmessage := said.message\n", "\t\tmessage := said.message + unreadable(in, codes)[:0]\n"}}, Tests: evaluating},
	{Name: "evaluation: the strictest effect", Edits: []Edit{{evaluation, `if Stricter(r.Effect, d.Verdict) {`, `if true {`}}, Tests: evaluating},
	{Name: "evaluation: the prefilter does not count what is unknown as absent", Edits: []Edit{{evaluation, `if len(hidden) == 0 && !r.need.met(seen) {`, `if !r.need.met(seen) {`}}, Tests: evaluating},
	{Name: "evaluation: the short way does not count it either", Edits: []Edit{{evaluation, `if len(hidden) == 0 && quick {`, `if quick {`}}, Tests: evaluating},
	{Name: "evaluation: the parent's mode", Edits: []Edit{{evaluation, "\tbounded := in.Actor.Bounded()\n", "\tbounded := *in.Actor\n"}}, Tests: evaluating},
}

// guards lists the defences of ethos-git.
var guards = []Mutant{
	{Name: "git: ask is not allow", Edits: []Edit{{guarded, "\tcase record.VerdictAsk:\n\t\treturn denied(d, \"needs a person's approval: \")\n", "\tcase record.VerdictAsk:\n"}}, Tests: guarding},
	{Name: "git: no other verdict is allow", Edits: []Edit{{guarded, "\tdefault:\n\t\treturn denied(d, \"\")\n", "\tcase record.VerdictDeny:\n\t\treturn denied(d, \"\")\n"}}, Tests: guarding},
	{Name: "git: a refusal", Edits: []Edit{{guarded, `if err := g.apply(decision); err != nil {`, `if err := g.apply(decision); false {`}}, Tests: guarding},
	{Name: "git: a decision for each part", Edits: []Edit{{guarded, `if err == nil && len(decisions) != len(lines) {`, `if err == nil && len(decisions) == 0 {`}}, Tests: guarding},
	{Name: "git: the error of a decider", Edits: []Edit{{guarded, "\tif err != nil {\n\t\thint := \"git runs only", "\tif err != nil && len(decisions) == 0 {\n\t\thint := \"git runs only"}}, Tests: guarding},
	{Name: "git: the strictest part", Edits: []Edit{{"pkg/gitguard/batch.go", `s > strictness(list[worst].Verdict) && strictness(list[worst].Verdict) >= 0 {`, `false {`}}, Tests: guarding},
	{Name: "git: the verdict of a part that nobody knows", Edits: []Edit{{"pkg/gitguard/batch.go", `if s := strictness(d.Verdict); s < 0 || `, `if s := strictness(d.Verdict); `}}, Tests: guarding},
	{Name: "git: all parts of a call", Edits: []Edit{{"pkg/gitguard/batch.go", "\t\tlist = append(list, &b)\n\t}\n\treturn list", "\t\tlist = append(list, &b)\n\t}\n\treturn list[:1]"}}, Tests: guarding},
	{Name: "git: the decision is about that record", Edits: []Edit{{deciders, `if decision.Subject != subject {`, `if false && decision.Subject != subject {`}}, Tests: guarding},
	{Name: "git: what is not decided here is asked about", Edits: []Edit{{deciders, "rest, err := w.Else.Decide(ctx, lines[i:]...)\n\t\t\treturn append(decisions, rest...), err", "rest, err := w.Else.Decide(ctx, lines[i:i]...)\n\t\t\tdecisions = append(append(decisions, rest...), record.Decision{Verdict: record.VerdictAllow})\n\t\t\tif err != nil {\n\t\t\t\treturn nil, err\n\t\t\t}\n\t\t\tcontinue"}}, Tests: guarding},
	{Name: "git: an approval that was used here is not used again", Edits: []Edit{{deciders, `w.Else.Decide(ctx, lines[i:]...)`, `w.Else.Decide(ctx, lines[i-i:]...)`}, {deciders, `return append(decisions, rest...), err`, `return rest, err`}}, Tests: guarding},
	{Name: "git: what fails here has changed nothing", Edits: []Edit{{deciders, "line, err := record.ParseLine(bytes.TrimSuffix(asked.AppendTo(nil), []byte(\"\\n\")))\n\tif err == nil {\n\t\terr = w", "line, err := asked, error(nil)\n\tif err == nil {\n\t\terr = w"}}, Tests: guarding},
	{Name: "git: the status of ethos-decide", Edits: []Edit{{deciders, `(!errors.As(err, &exit) || exit.ExitCode() != 1)`, `!errors.As(err, &exit)`}}, Tests: guarding},
	{Name: "git: the environment of ethos-decide", Edits: []Edit{{deciders, "\t\t\tout = append(out, entry)\n\t\t}\n\t}\n\treturn out", "\t\t\tout = append(out, entry)\n\t\tdefault:\n\t\t\tout = append(out, entry)\n\t\t}\n\t}\n\treturn out"}}, Tests: guarding},
	{Name: "git: a change is decided", Edits: []Edit{{looks, `return reads(g.Class) && l.actor`, `return l.actor`}}, Tests: guarding},
	{Name: "git: a mode other than safe is decided", Edits: []Edit{{looks, `l.actor.Mode == record.ModeSafe && l.repoErr`, `l.repoErr`}}, Tests: guarding},
	{Name: "git: a repository that cannot be read is decided", Edits: []Edit{{looks, `l.repoErr == nil && len(g.Dangers)`, `len(g.Dangers)`}}, Tests: guarding},
	{Name: "git: configuration is decided", Edits: []Edit{{looks, `len(g.Dangers) == 0 && len(g.Config) == 0 &&`, `len(g.Dangers) == 0 &&`}}, Tests: guarding},
	{Name: "git: a written file is decided", Edits: []Edit{{looks, `len(l.reading.Writes) == 0 && `, ``}}, Tests: guarding},
	{Name: "git: policies of the work space", Edits: []Edit{{looks, ` && !l.hasPolicies()`, ``}}, Tests: guarding},
	{Name: "git: policies around the work space", Edits: []Edit{{looks, `return !os.IsNotExist(err) || len(trust.Around(`, `return !os.IsNotExist(err) || false && len(trust.Around(`}}, Tests: guarding},
	{Name: "git: the environment that git reads", Edits: []Edit{{looks, `strings.HasPrefix(name, "GIT_") || `, ``}}, Tests: guarding},
	{Name: "git: a mode that nobody knows", Edits: []Edit{{injected, `if l.modeErr != nil {`, `if false {`}}, Tests: guarding},
	{Name: "git: injected hooks", Edits: []Edit{{injected, `l.planted = without(now, trusted)`, `l.planted = without(now, append(trusted, now...))`}}, Tests: guarding},
	{Name: "git: injected settings", Edits: []Edit{{injected, "\tlist := settings(r, place)\n", "\tlist := settings(r, place)[:0]\n"}}, Tests: guarding},
	{Name: "git: injected into a nested repository", Edits: []Edit{{injected, `for _, link := range nested(r) {`, `for _, link := range nested(r)[:0] {`}}, Tests: guarding},
	{Name: "git: a trust that cannot be read", Edits: []Edit{{injected, "trusted, err := g.Trusted.Load(home(l.repo))\n\tif err != nil {", "trusted, err := g.Trusted.Load(home(l.repo))\n\tif err != nil {\n\t\treturn nil\n\t}\n\tif err != nil {"}}, Tests: guarding},
	{Name: "find: a git in the work tree", Edits: []Edit{{gits, `if !filepath.IsAbs(dir) || within(s.Forbid, dir) {`, `if !filepath.IsAbs(dir) {`}}, Tests: guarding},
	{Name: "find: a relative entry of PATH", Edits: []Edit{{gits, `if !filepath.IsAbs(dir) || within(s.Forbid, dir) {`, `if within(s.Forbid, dir) {`}}, Tests: guarding},
	{Name: "find: who owns the git that is named", Edits: []Edit{{gits, `if reason := s.Self.Trusts(resolved); reason != "" {`, `if reason := s.Self.Trusts(resolved); false {`}}, Tests: guarding},
	{Name: "find: who may write it", Edits: []Edit{{owners, `case info.Mode().Perm()&0o022 != 0:`, `case false:`}}, Tests: guarding},
	{Name: "find: the directories above it", Edits: []Edit{{owners, "\t\tif path == filepath.Dir(path) {\n", "\t\tif true {\n"}}, Tests: guarding},
	{Name: "find: the git that is named is in the work tree", Edits: []Edit{{gits, `if within(s.Forbid, resolved) {`, `if false {`}}, Tests: guarding},
	{Name: "version: a git that enters what belongs to others", Edits: []Edit{{versions, `case older(version, since):`, `case false:`}}, Tests: guarding},
	{Name: "version: a git that does not say", Edits: []Edit{{versions, "\tcase err != nil:\n\t\treturn refuse(hint, \"%v\", err)", "\tcase err != nil:\n\t\treturn nil"}}, Tests: guarding},
	{Name: "version: bare repositories", Edits: []Edit{{versions, "\tif l.repo.Bare {\n", "\tif false {\n"}}, Tests: guarding},
}

// cgroups lists the defences of limits.
var cgroups = []Mutant{
	{Name: "cgroup: a limit is read back", Edits: []Edit{{limited, `got != s.readBack {`, `false && got != s.readBack {`}}, Tests: grouped},
	{Name: "cgroup: a limit that cannot be written", Edits: []Edit{{limited, "\tif err := files.WriteFile(path, s.value); err != nil {\n", "\tif err := files.WriteFile(path, s.value); err != nil && s.optional {\n"}}, Tests: grouped},
	{Name: "cgroup: a machine with swap", Edits: []Edit{{limited, "\t\t\treturn noSwap(files, path)\n", "\t\t\treturn nil\n"}}, Tests: grouped},
	{Name: "cgroup: swap", Edits: []Edit{{limited, `setting{file: "memory.swap.max", value: "0", readBack: "0", optional: true}`, `setting{file: "memory.swap.max", value: "max", readBack: "max", optional: true}`}}, Tests: grouped},
	{Name: "cgroup: memory.oom.group", Edits: []Edit{{delegated, `append([]setting{killTogether}, limits.settings(int64(os.Getpagesize()))...)`, `limits.settings(int64(os.Getpagesize()))`}}, Tests: grouped},
	{Name: "cgroup: a controller that is not given", Edits: []Edit{{delegated, "\tif len(lacking) > 0 {\n\t\treturn fmt.Errorf(\"%s does not hold", "\tif false {\n\t\treturn fmt.Errorf(\"%s does not hold"}}, Tests: grouped},
	{Name: "cgroup: no leaf is left if a limit fails", Edits: []Edit{{delegated, `return nil, errors.Join(err, closed, d.files.Rmdir(path))`, `return nil, errors.Join(err, closed)`}}, Tests: grouped},
	{Name: "cgroup: none is left if it cannot be opened", Edits: []Edit{{delegated, `return nil, errors.Join(fmt.Errorf("cgroup: open leaf: %w", err), d.files.Rmdir(path))`, `return nil, fmt.Errorf("cgroup: open leaf: %w", err)`}}, Tests: grouped},
	{Name: "cgroup: a leaf without all its limits", Edits: []Edit{{delegated, `return nil, errors.Join(err, closed, d.files.Rmdir(path))`, `return leaf, errors.Join(closed)`}}, Tests: grouped},
	{Name: "cgroup: a leaf that was swept while it was written", Edits: []Edit{{delegated, `if missing(err) && d.gone(path) {`, `if missing(err) {`}}, Tests: grouped},
	{Name: "cgroup: a leaf is locked", Edits: []Edit{{hostFiles, `unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)`, `unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB)`}}, Tests: grouped},
	{Name: "cgroup: what another program made is not swept", Edits: []Edit{{delegated, `if !strings.HasPrefix(name, prefix) {`, `if false {`}}, Tests: grouped},
	{Name: "cgroup: what a dead run left is swept", Edits: []Edit{{discovered, "\t\t\td.sweep()\n", ""}}, Tests: grouped},
	{Name: "cgroup: what lives in it is killed", Edits: []Edit{{delegated, "\t\t\t_ = d.files.WriteFile(path+\"/cgroup.kill\", \"1\")\n", ""}}, Tests: grouped},
	{Name: "cgroup: what is below it is swept", Edits: []Edit{{delegated, "\t\t\tremoveBelow(d.files, path)\n", ""}}, Tests: grouped},
	{Name: "cgroup: a kill", Edits: []Edit{{leaves, `err := l.files.WriteFile(l.Path+"/cgroup.kill", "1")`, `err := error(nil)`}}, Tests: grouped},
	{Name: "cgroup: a kill that reaches descendants", Edits: []Edit{{leaves, `pids = append(pids, below...)`, `_ = below`}}, Tests: grouped},
	{Name: "cgroup: a descendant that cannot be read", Edits: []Edit{{leaves, "\t\tif err != nil && !missing(err) {\n\t\t\treturn nil, err\n\t\t}\n\t\tpids", "\t\t_ = err\n\t\tpids"}}, Tests: grouped},
	{Name: "cgroup: process 0", Edits: []Edit{{hostFiles, `if err != nil || n <= 0 {`, `if err != nil || n < 0 {`}}, Tests: grouped},
	{Name: "cgroup: a leaf that is left is told", Edits: []Edit{{leaves, "\t\tcase <-ctx.Done():\n\t\t\treturn fmt.Errorf(\"cgroup: remove leaf: %w\", err)", "\t\tcase <-ctx.Done():\n\t\t\treturn nil"}}, Tests: grouped},
	{Name: "cgroup: a leaf that cannot be removed is told", Edits: []Edit{{leaves, "\t\tif !errors.Is(err, syscall.EBUSY) {\n\t\t\treturn fmt.Errorf(\"cgroup: remove leaf: %w\", err)", "\t\tif !errors.Is(err, syscall.EBUSY) {\n\t\t\treturn nil"}}, Tests: grouped},
	{Name: "cgroup: a busy leaf is tried again", Edits: []Edit{{leaves, `if !errors.Is(err, syscall.EBUSY) {`, `if true || !errors.Is(err, syscall.EBUSY) {`}}, Tests: grouped},
	{Name: "cgroup: the lock of what is left is released", Edits: []Edit{{leaves, `return errors.Join(err, l.dir.Close())`, `return err`}}, Tests: grouped},
	{Name: "cgroup: the first process is in its own child", Edits: []Edit{{trees, `if !strings.Contains("\n"+string(pids), fmt.Sprintf("\n%d\n", pid)) {`, `if false && !strings.Contains("\n"+string(pids), fmt.Sprintf("\n%d\n", pid)) {`}}, Tests: grouped},
	{Name: "cgroup: no command can leave its leaf", Edits: []Edit{{trees, "return fmt.Errorf(\"cgroup: %w\", err)\n\t}\n\treturn t.shut()", "return fmt.Errorf(\"cgroup: %w\", err)\n\t}\n\treturn nil"}}, Tests: grouped},
	{Name: "cgroup: a limit that a session cannot hold", Edits: []Edit{{trees, "\tif len(lacking) > 0 {\n", "\tif false {\n"}}, Tests: grouped},
	{Name: "cgroup: no session is left if it fails", Edits: []Edit{{trees, `whole.Path, err), t.Remove(context.Background()))`, `whole.Path, err))`}}, Tests: grouped},
	{Name: "cgroup: the leaves of a session are removed", Edits: []Edit{{trees, `err = errors.Join(err, child.rmdir(ctx))`, `_ = child`}}, Tests: grouped},
	{Name: "cgroup: the caller's own alone", Edits: []Edit{{discovered, `[]func(string) error{s.usable, s.delegated, s.alone}`, `[]func(string) error{s.usable, s.delegated}`}}, Tests: grouped},
	{Name: "cgroup: what systemd manages", Edits: []Edit{{discovered, `[]func(string) error{s.usable, s.delegated, s.alone}`, `[]func(string) error{s.usable, s.alone}`}}, Tests: grouped},
	{Name: "cgroup: what belongs to another", Edits: []Edit{{discovered, `if owner != s.caller.UID {`, `if false {`}}, Tests: grouped},
	{Name: "cgroup: what cannot be written", Edits: []Edit{{discovered, `if err := s.caller.Files.Writable(name); err != nil {`, `if err := s.caller.Files.Writable(name); false {`}}, Tests: grouped},
	{Name: "cgroup: a controller that is missing", Edits: []Edit{{discovered, `if !slices.Contains(have, controller) {`, `if false {`}}, Tests: grouped},
	{Name: "cgroup: controllers of version 1", Edits: []Edit{{discovered, `if slices.Contains(h.v1, controller) {`, `if false {`}}, Tests: grouped},
	{Name: "cgroup: a path out of the namespace", Edits: []Edit{{hierarchy, ` || strings.Contains(cgroup+"/", "/../") {`, ` {`}}, Tests: grouped},
	{Name: "cgroup: a path beside the mount", Edits: []Edit{{hierarchy, `!ok || rest != "" && rest[0] != '/' {`, `!ok {`}}, Tests: grouped},
	{Name: "cgroup: a manager that would start a program", Edits: []Edit{{scopes, `strings.HasPrefix(address, "unix:path=") || strings.HasPrefix(address, "unix:abstract=")`, `address != ""`}}, Tests: grouped},
	{Name: "cgroup: the process is in the scope", Edits: []Edit{{scopes, `if strings.HasSuffix(own, "/"+name) {`, `if true {`}}, Tests: grouped},
}
