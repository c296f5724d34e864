# Worktrees, submodules, bisect, stash, sparse checkout, notes, bundles, archives.
git init -q lib; git -C lib commit -q --allow-empty -m lib
git init -q repo; cd repo
for i in 1 2 3 4 5; do mkdir -p d$i; echo $i >d$i/f; echo $i >n; git add .; git commit -qm "commit $i"; done
git worktree add ../tree -b tree; git worktree list | sed 's/ .*\[/ [/'; cd ../tree; echo x >x; git add x; git commit -m x; cd ../repo; git worktree remove ../tree; git worktree prune -v
git submodule add ../lib sub; git submodule status; git commit -qm sub; git submodule foreach 'echo $name'; git submodule update --init; git clone -q . ../again; git -C ../again submodule update --init; git -C ../again submodule status
git bisect start HEAD HEAD~4; git bisect run sh -c 'test $(cat n) -lt 3'; git bisect log; git bisect reset
echo dirty >n; git stash; git stash list; git stash show -p; git stash pop; git stash push -m named n; git stash apply; git checkout -- n; git stash drop; git stash clear
git sparse-checkout set d1 d2; ls; git sparse-checkout list; git sparse-checkout disable; ls
git notes add -m 'a note' HEAD; git notes show; git log -1
git bundle create ../b.bundle main; git bundle verify ../b.bundle; git clone -q ../b.bundle ../frombundle; git -C ../frombundle log --oneline | wc -l
git archive --format=tar HEAD | tar t; git shortlog -sn HEAD; git count-objects
git rev-list --count HEAD; git cat-file -p HEAD^{tree}; git ls-tree -r HEAD | head -3; echo HEAD | git cat-file --batch-check='%(objecttype)'
git clean -nd; touch junk; git clean -fd; git check-ignore -v junk; echo "status $?"
git config user.name; git config alias.st 'status -sb'; git st; git config --get nothing; echo "status $?"
git maintenance run --task=commit-graph; git gc -q; git fsck; git pack-refs --all; git prune -n
