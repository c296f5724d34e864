# From init to rebase, by way of branches, tags, conflicts and a remote.
git init repo && cd repo
printf 'one\n' >a; git add a; git status; git commit -m one
printf 'two\n' >>a; git diff; git commit -am 'two' -m 'a body
over lines'
git log --oneline; git show --stat
git checkout -b topic; printf 'topic\n' >b; git add -A; git commit -m topic
git checkout main; printf 'main\n' >b; git add b; git commit -m main
git merge topic; echo "status $?"; git status --short; git diff
git checkout --theirs b; git add b; git commit --no-edit; git log --graph --oneline --all
git reset --hard HEAD~1; git rebase topic; echo "status $?"; git rebase --abort; echo "status $?"
git rebase -X theirs topic; git log --format='%h %s'
git tag -a v1 -m 'version one'; git describe; git tag -n
git cherry-pick --no-commit topic; git status --short; git reset; git stash list
git revert --no-edit HEAD; git commit --amend -m 'amended'; git reflog
git mv a c; git rm -f b; git commit -m 'moved'; git blame c; git grep -n one
git format-patch -2 --stdout | git apply --check -R; echo "status $?"
git init --bare ../remote.git; git remote add origin ../remote.git; git remote -v
git push -u origin main; git push origin topic v1; git push --tags; git fetch --all; git pull; git branch -vva
git push origin main; echo "status $?"; git push nowhere main; echo "status $?"
git clone ../remote.git ../clone; cd ../clone; git log --oneline; git switch topic; git switch -c mine; git branch -D mine; git branch
git nonsense; echo "status $?"; git commit; echo "status $?"; git branch -d topic; echo "status $?"
