package gitargs

import (
	"cmp"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// readPush determines what a push would move; git-push(1), builtin/push.c, remote.c.
func readPush(c *call) {
	if c.on("dry-run") {
		c.out.class("read", "remote")
		c.transport()
		c.pushRemote()
		return
	}
	c.does()
	c.transport()
	c.hooks()
	refs := c.pushRemote()
	p := push{call: c, force: c.on("force", "force-with-lease"), delete: c.on("delete", "d", "D")}
	if p.force {
		c.out.danger("force_push")
	}
	if c.on("prune") {
		c.out.danger("delete_remote_ref")
	}
	p.run(refs)
	p.judge()
}

// pushRemote finds the repository to push to, and returns the refspec words.
func (c *call) pushRemote() []*string {
	args := c.args
	switch repo, given := c.last("repo"); {
	case len(args) > 0:
		c.out.Git.Remote = text(args[0])
		args = args[1:]
	case given:
		c.out.Git.Remote = repo
	default:
		c.out.Git.Remote = c.defaultPushRemote()
	}
	if c.remoteRuns(c.out.Git.Remote, "pushurl") {
		c.out.danger("upload_pack_exec")
	}
	return args
}

// defaultPushRemote follows pushremote_for_branch of remote.c.
func (c *call) defaultPushRemote() string {
	branch := c.ctx.Repo.Branch
	for _, key := range [...]string{"branch." + branch + ".pushremote", "remote.pushdefault", "branch." + branch + ".remote"} {
		if v, ok := c.lookupConfig(key); ok && v != "" {
			return v
		}
	}
	if remote, _, ok := c.upstream(); ok {
		return remote
	}
	return "origin"
}

// push is the resolution of one push.
type push struct {
	*call
	force  bool
	delete bool
	tagged bool // the previous word was "tag"
}

// run resolves the refspec words, or their default.
func (p *push) run(refs []*string) {
	switch {
	case p.on("mirror"), p.mirrorRemote():
		p.mirror()
	case p.on("all", "branches"):
		p.matching(p.force)
	case len(refs) == 0 && p.delete: // git: --delete doesn't make sense without any refs
	case p.on("tags"): // added to the refspecs given, and replaces the default
		p.add(record.Refspec{Src: "refs/tags/*", Dst: "refs/tags/*", Force: p.force})
	case p.on("stdin"): // send-pack reads refspecs from standard input
	case len(refs) == 0 && p.cmd.name != "push": // plumbing has no default other than the matching branches
		p.matching(p.force)
	case len(refs) == 0:
		p.bare()
	}
	for _, w := range refs {
		p.word(w)
	}
	if p.on("stdin", "stateless-rpc") {
		p.anything()
	}
}

// anything records that standard input says what is pushed, and may force each ref.
func (c *call) anything() {
	c.out.incomplete(record.IncompleteGitTarget)
	c.out.danger("force_push", "force_push_protected")
}

// readRemoteHelper handles the programs for https:// and similar addresses. Git starts them itself;
// if started by hand, they push what their input says: gitremote-helpers(7).
func readRemoteHelper(c *call) {
	c.does()
	c.anything()
}

func (p *push) mirror() {
	p.out.danger("mirror_push", "force_push", "delete_remote_ref")
	p.add(record.Refspec{Src: "refs/*", Dst: "refs/*", Force: true}, "*")
}

func (p *push) mirrorRemote() bool {
	v, _ := p.lookupConfig("remote." + p.out.Git.Remote + ".mirror")
	return isTrue(v)
}

func (p *push) word(w *string) {
	if w == nil {
		p.out.incomplete(record.IncompleteGitTarget)
		return
	}
	if *w == "tag" && !p.tagged { // push.c: "tag NAME" is refs/tags/NAME
		p.tagged = true
		return
	}
	spec, colon := parseRefspec(*w)
	switch {
	case p.tagged:
		p.tagged = false
		p.addRef(record.Refspec{Src: "refs/tags/" + *w, Dst: "refs/tags/" + *w, Delete: p.delete})
	case strings.HasPrefix(*w, "^"): // negative refspec: it only excludes refs
	case p.delete:
		p.addRef(record.Refspec{Dst: spec.Src, Delete: true})
	case colon && spec.Src == "" && spec.Dst == "":
		p.matching(p.force || spec.Force)
	case colon && spec.Dst != "":
		p.addRef(spec)
	default:
		p.mapped(spec)
	}
}

// mapped resolves a refspec without a destination: by remote.<name>.push, by the upstream if
// push.default says so, or else to the same name (builtin/push.c, refspec_append_mapped).
func (p *push) mapped(spec record.Refspec) {
	name := spec.Src
	if name == "HEAD" {
		p.head(spec)
		return
	}
	if !strings.Contains(name, "*") {
		if dst, ok := p.configured(branchName(name)); ok {
			spec.Force = spec.Force || dst.Force
			spec.Dst = dst.Dst
			p.addRef(spec)
			return
		}
	}
	if _, merge, ok := p.upstreamOf(branchName(name)); ok && p.pushDefault() == "upstream" {
		spec.Dst = merge
		p.addRef(spec)
		return
	}
	spec.Dst = spec.Src
	if p.isTag(name) {
		p.add(spec)
		return
	}
	p.addRef(spec)
}

// isTag reports whether a name is known to be a tag and not a branch.
func (p *push) isTag(name string) bool {
	refs := p.ctx.Refs
	return refs != nil && slices.Contains(refs.Tags, name) && !slices.Contains(refs.Branches, name)
}

// head resolves HEAD to the current branch.
func (p *push) head(spec record.Refspec) {
	branch := p.ctx.Repo.Branch
	if branch == "" {
		if !p.ctx.Repo.Detached { // detached: git refuses a source that is not a ref
			p.out.incomplete(record.IncompleteGitTarget)
		}
		p.out.Git.Refspecs = append(p.out.Git.Refspecs, spec)
		return
	}
	spec.Dst = heads + branch
	p.addRef(spec)
}

// configured maps a local branch by remote.<name>.push.
func (p *push) configured(branch string) (record.Refspec, bool) {
	for _, line := range p.allConfig("remote." + p.out.Git.Remote + ".push") {
		spec, _ := parseRefspec(line)
		if dst, ok := mapGlob(spec, heads+branch); ok && branch != "" {
			return record.Refspec{Src: branch, Dst: dst, Force: spec.Force}, true
		}
	}
	return record.Refspec{}, false
}

// bare resolves a push without refspecs: by remote.<name>.push, or else push.default.
func (p *push) bare() {
	if lines := p.allConfig("remote." + p.out.Git.Remote + ".push"); len(lines) > 0 {
		for _, line := range lines {
			p.configuredLine(line)
		}
		return
	}
	p.byDefault()
}

// configuredLine resolves one remote.<name>.push entry of a push without refspecs.
func (p *push) configuredLine(line string) {
	spec, colon := parseRefspec(line)
	switch {
	case colon && spec.Src == "" && spec.Dst == "":
		p.matching(p.force || spec.Force)
	case spec.Src == "HEAD" && spec.Dst == "":
		p.head(spec)
	default:
		spec.Dst = cmp.Or(spec.Dst, spec.Src)
		p.addRef(spec)
	}
}

// byDefault resolves by push.default; git-config(1).
func (p *push) byDefault() {
	branch := p.ctx.Repo.Branch
	mode := p.pushDefault()
	switch {
	case mode == "nothing": // git refuses
	case mode == "matching":
		p.matching(p.force)
	case branch == "" && p.ctx.Repo.Detached: // git refuses
	case branch == "":
		p.out.incomplete(record.IncompleteGitTarget)
	case mode == "upstream" || mode == "tracking":
		if _, merge, ok := p.upstreamOf(branch); ok {
			p.addRef(record.Refspec{Src: heads + branch, Dst: merge})
		}
	default: // simple and current move the branch of the same name
		p.addRef(record.Refspec{Src: heads + branch, Dst: heads + branch})
	}
}

func (p *push) pushDefault() string {
	if v, ok := p.lookupConfig("push.default"); ok {
		return v
	}
	if p.ctx.Repo.PushDefault != "" {
		return p.ctx.Repo.PushDefault
	}
	return "simple"
}

// matching moves every local branch, or every one that the remote also has.
func (p *push) matching(force bool) {
	spec := record.Refspec{Src: heads + "*", Dst: heads + "*", Force: force}
	p.addRef(spec)
}

// addRef adds a resolved refspec and the branches that it moves.
func (p *push) addRef(spec record.Refspec) {
	spec.Force = spec.Force || p.force
	if spec.Delete && strings.HasPrefix(spec.Dst, "refs/tags/") {
		p.out.danger("tag_delete")
	}
	if strings.Contains(spec.Src, "*") {
		p.add(spec, p.expanded(spec)...)
		return
	}
	if branch := branchName(spec.Dst); branch != "" {
		p.add(spec, branch)
		return
	}
	p.add(spec)
}

// expanded lists the remote branches that match a pattern. The list is exact if the local branches
// are known.
func (p *push) expanded(spec record.Refspec) []string {
	if p.ctx.Refs == nil {
		return nonEmpty(branchName(spec.Dst))
	}
	var out []string
	for _, b := range p.ctx.Refs.Branches {
		if dst, ok := mapGlob(spec, heads+b); ok {
			out = append(out, nonEmpty(branchName(dst))...)
		}
	}
	return out
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func (p *push) add(spec record.Refspec, targets ...string) {
	p.out.Git.Refspecs = append(p.out.Git.Refspecs, spec)
	p.out.Git.BranchTargets = append(p.out.Git.BranchTargets, targets...)
	protected := false
	for _, t := range targets {
		protected = protected || p.isProtected(t)
	}
	if protected {
		p.out.danger("push_protected_branch")
	}
	if spec.Delete {
		p.out.danger("delete_remote_ref")
	} else if spec.Force {
		p.out.danger("force_push")
		if protected {
			p.out.danger("force_push_protected")
		}
	}
}

// judge adds what only the whole push shows: a forced push with an unknown target may be to a
// protected branch.
func (p *push) judge() {
	if p.force && slices.Contains(p.out.Incomplete, record.IncompleteGitTarget) {
		p.out.danger("force_push_protected")
	}
}

func (c *call) upstream() (remote, merge string, ok bool) { return c.upstreamOf(c.ctx.Repo.Branch) }

// upstreamOf returns a branch's remote and the full name of the ref that it follows there.
func (c *call) upstreamOf(branch string) (remote, merge string, ok bool) {
	if branch == "" {
		return "", "", false
	}
	remote, hasRemote := c.lookupConfig("branch." + branch + ".remote")
	if merges := c.allConfig("branch." + branch + ".merge"); hasRemote && len(merges) == 1 { // push accepts no upstream with several refs
		return remote, merges[0], true
	}
	if c.ctx.Config == nil && branch == c.ctx.Repo.Branch {
		remote, short, found := c.splitUpstream()
		return remote, heads + short, found
	}
	return remote, "", false
}

// splitUpstream splits the remote/branch of the record, in which either part may contain slashes.
func (c *call) splitUpstream() (remote, branch string, ok bool) {
	for _, r := range c.ctx.Repo.Remotes {
		if rest, found := strings.CutPrefix(c.ctx.Repo.Upstream, r+"/"); found {
			return r, rest, true
		}
	}
	return strings.Cut(c.ctx.Repo.Upstream, "/")
}
