package quarantine

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/shorttest"
)

// honest is what people and agents have git do. None of it is a finding.
const honest = `git init -q $R; git -C $R commit -q --allow-empty -m x
git init -q --bare $R.git
git init -q --shared $R
git init -q --object-format=sha256 $R; echo a > $R/a; git -C $R add .; git -C $R commit -qm a
git init -q --separate-git-dir=$R.store $R; git -C $R commit -q --allow-empty -m x
git clone -q upstream.git $R; git -C $R checkout -q -b new; git -C $R push -q -u origin new
git clone -q --bare upstream.git $R.git
git clone -q --mirror upstream.git $R.git
git clone -q --shared upstream.git $R; echo x >> $R/f; git -C $R commit -qam x
git clone -q --reference upstream.git file://$PWD/upstream.git $R
git clone -q --depth 1 file://$PWD/upstream.git $R; git -C $R fetch -q --unshallow
git clone -q --recurse-submodules . $R
git clone -q --sparse upstream.git $R; git -C $R sparse-checkout set --sparse-index d; git -C $R status
git submodule --quiet add "$PWD/upstream.git" $R; git commit -qm sub
git submodule --quiet update --init --recursive; git submodule --quiet foreach true; git submodule --quiet sync
git submodule --quiet deinit -f sub
git -c submodule.alternateLocation=superproject submodule --quiet update --init --reference upstream.git sub
git worktree add -q -b $R $R; git worktree list; git -C $R commit -q --allow-empty -m x
git worktree add -q --detach $R; git worktree lock $R; git worktree unlock $R; git worktree move $R $R-moved; git worktree remove $R-moved; git worktree prune
git worktree add -q --no-checkout -b $R $R; git -C $R sparse-checkout set g; git -C $R checkout -q
git config extensions.worktreeConfig true; git config --worktree user.name b
GIT_SEQUENCE_EDITOR='sed -i 1s/^pick/edit/' git rebase -q -i HEAD~2
git rebase -q other
git rebase -q -s recursive -X theirs other
git rebase -q --apply other
git rebase -q --rebase-merges --autosquash HEAD~2
git am -q conflict.patch
git am -q -3 --whitespace=fix --exclude=x conflict.patch
git am -q -S conflict.patch
git cherry-pick other
git cherry-pick -x -m 1 -X ours --strategy=ort HEAD~1 other
git cherry-pick HEAD~1..other
git revert --no-edit HEAD~1 HEAD
git config rerere.enabled true; git merge other; echo both > f; git add f; git commit -qm m; git rerere
git config rerere.enabled true; git config rerere.autoUpdate true; git merge other
git merge --no-commit --no-ff other; git merge --abort; git merge --squash other
git merge --autostash other
echo x >> g; git stash -q; git stash list; git stash pop -q
echo x >> g; git stash -q -u --keep-index; git stash branch $R
git bisect start -- f g; git bisect bad; git bisect good HEAD~2
git bisect start --term-old=fine --term-new=broken HEAD HEAD~2
git notes add -m n; git notes --ref=x add -m y HEAD~1; git notes merge x
git notes --ref=y add -f -m 1; git notes --ref=z add -f -m 2; git notes --ref=y merge z
git sparse-checkout init --cone; git sparse-checkout set d; git sparse-checkout disable
git update-index --index-version 4; git update-index --split-index; echo x > new; git add new; git status
git update-index --untracked-cache; git status; git config core.untrackedCache true
git -c index.threads=4 -c index.recordEndOfIndexEntries=true -c index.recordOffsetTable=true add -A
for i in $(seq 200); do echo $i > many-$i; done; git add -A; git -c index.threads=4 -c index.recordEndOfIndexEntries=true -c index.recordOffsetTable=true -c index.version=4 commit -qm many
git gc -q; git fsck; git repack -qad; git prune; git count-objects; git pack-refs --all
git gc -q --prune=now --aggressive; git reflog expire --all --expire=now
git commit-graph write --reachable --split; git multi-pack-index write; git multi-pack-index write --bitmap
git maintenance run --task=gc --task=commit-graph --task=loose-objects --task=incremental-repack --task=pack-refs
git config maintenance.auto false; git config maintenance.strategy incremental; git maintenance run --auto
git update-server-info; git bundle create $R.bundle --all; git fetch -q $R.bundle
git fetch -q --all --prune --tags; git pull -q --no-rebase; git remote update
git remote add $R https://example.org/$R.git; git remote set-url --push $R git@example.org:$R.git; git remote set-head $R main; git remote rename $R $R-2; git remote prune origin
git branch -q -u origin/main; git branch -q $R; git branch -m $R $R-2; git branch -D $R-2; git branch -c main $R-3
git config branch.main.description 'a "b" c'; git config push.default current; git config pull.rebase true; git config core.autocrlf false; git config --add remote.origin.fetch '+refs/pull/*:refs/remotes/pr/*'
git tag -a -m t $R; git tag -d $R; git tag $R-2
git checkout -q --orphan $R; git commit -qm o; git checkout -q -f main
git switch -q -c $R; git switch -q -; git restore --source=HEAD~1 f; git reset -q --hard
git replace HEAD HEAD~1; git replace -d HEAD
git fast-export --all > $R.export; git init -q $R; git -C $R fast-import --quiet < $R.export
git read-tree HEAD; git write-tree; git checkout-index -a -f; git update-ref refs/x/y HEAD; git symbolic-ref X_HEAD refs/heads/main
git format-patch -q -2; git diff > d.patch; git apply --reverse --check d.patch
git rm -q --cached g; git mv f f2; git commit -qm moved
git add --intent-to-add new2; git add -A; git commit -qm all; git commit -q --amend --no-edit; git commit -q --fixup HEAD
git archive HEAD > a.tar; git clean -fdq; git describe --all; git shortlog; git blame g
mkdir -p $R; cp -r nested/a/b/c/d/repo/f $R; git -C nested/a/b/c/d/repo commit -q --allow-empty -m x
rm -rf sub; git -C .git/modules/sub config --unset core.worktree; rm -rf .git/modules/sub
ln -s f link; mkfifo pipe; git add link; git commit -qm link
git push -q origin main:refs/heads/$R; git push -q --tags origin; git push -q origin --delete $R
git filter-branch -f --msg-filter 'cat' HEAD~1..HEAD
git lfs-like; mkdir -p .git/lfs/objects; : > .git/lfs/objects/x
git replace --graft HEAD; git var GIT_AUTHOR_IDENT; git rev-list --all | git name-rev --stdin`

// owned are what a person has, and no run of a command disturbs.
const owned = `
git config filter.lfs.clean 'git-lfs clean -- %f'; git config filter.lfs.required true; git config core.editor ./my-editor; git config alias.x '!./x'; git config include.path ../.gitconfig-shared; printf '[alias]\n\ty = !z\n' > .gitconfig-shared
mkdir -p .git/hooks; printf '#!/bin/sh\n:\n' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit; printf '#!/bin/sh\n:\n' > .git/hooks/post-checkout; chmod 755 .git/hooks/post-checkout
n=nested/a/b/c/d/repo; mkdir -p $n/.husky/_; printf '#!/bin/sh\n. "$(dirname "$0")/h"\n' > $n/.husky/_/pre-commit; printf ':\n' > $n/.husky/_/h; chmod 755 $n/.husky/_/*; printf ':\n' > $n/.husky/pre-commit; git -C $n config core.hooksPath .husky/_
s=sep; printf '#!/bin/sh\nexec true # lefthook\n' > store/hooks/pre-push; chmod 755 store/hooks/pre-push; echo 'pre-push:' > sep/lefthook.yml; echo 1 > store/info/lefthook.checksum
printf '#!/usr/bin/env bash\n# pre-commit\nexit 0\n' > wt/hook; mkdir -p sub/.claude; echo '{}' > sub/.claude/settings.json; echo '{}' > nested/.mcp.json
mkdir -p d; echo d > d/x; git add d; git commit -qm d
git checkout -q other; git format-patch -q --stdout -1 > conflict.patch; git checkout -q main
`

// TestHonest: after honest commands in any order nothing is found, and what a
// person had is as it was.
func TestHonest(t *testing.T) {
	shorttest.Long(t)
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("ETHOS_TEST_HONEST")); err == nil {
		rounds = n
	}
	if testing.Short() {
		rounds = 1
	}
	w := newWorld(t, "sha1")
	w.sh("set +e\n" + owned + "exit 0\n")
	w.renewTemplate()
	lines := strings.Split(honest, "\n")
	for _, some := range shorttest.Sample(slices.Collect(slices.Chunk(lines, 8)), 4) {
		w.honest(t, some)
	}
	for round := range rounds {
		r := rand.New(rand.NewPCG(20251122, uint64(round)))
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		w.honest(t, lines[:12])
	}
}

// renewTemplate makes the world as it is the one that every trial begins with.
func (w *world) renewTemplate() {
	w.sh("rm -rf ../template ../template-home")
	w.copy("w", "template")
	w.copy("home", "template-home")
}

func (w *world) honest(t *testing.T, lines []string) {
	t.Helper()
	w.renew()
	var b strings.Builder
	b.WriteString("set +e\n")
	for i, line := range lines {
		b.WriteString("R=r" + strconv.Itoa(i) + "\n{ " + line + "\n} >/dev/null 2>&1 </dev/null\n")
	}
	b.WriteString("exit 0\n")
	if found := w.after(b.String()); len(found) > 0 {
		if t.Errorf("%s\nfound %s", strings.Join(lines, "\n"), told(found)); len(lines) > 1 {
			for _, line := range lines {
				w.honest(t, []string{line})
			}
		}
	}
}
