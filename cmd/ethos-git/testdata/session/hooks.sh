# Hooks, signing with ssh keys, large pushes, what git says on its error stream.
test -f ../key || ssh-keygen -q -t ed25519 -N '' -C key -f ../key
git init -q repo; cd repo
git config gpg.format ssh; git config user.signingKey ../../key.pub
printf 'a@example.org %s\n' "$(cat ../../key.pub)" >../signers; git config gpg.ssh.allowedSignersFile ../signers
printf '#!/bin/sh\necho "pre-commit $0 $*"; exit ${HOOK_FAILS:-0}\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
printf '#!/bin/sh\nsed -i s/bad/good/ "$1"\n' >.git/hooks/commit-msg; chmod +x .git/hooks/commit-msg
printf '#!/bin/sh\nsed s/^/pre-push:\\ / | cut -c1-30; echo "to $2"\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push; test -z "$TRUST" || $TRUST >/dev/null
git commit -S --allow-empty -m 'bad message' >/dev/null 2>&1; git log --format='%s %G?'; git verify-commit HEAD 2>&1 | cut -c1-40
HOOK_FAILS=1 git commit --allow-empty -m no; echo "status $?"; git tag -s -m signed v1 >/dev/null 2>&1; git tag -v v1 2>&1 | head -1 | cut -c1-30
head -c 3000000 /dev/zero | tr '\0' 'x' >big; for i in $(seq 400); do echo $i >f$i; done; git add .; git commit -qm big; git count-objects | cut -d' ' -f2
git init -q --bare ../remote.git; git remote add origin ../remote.git; git push -q origin main; git ls-remote origin | cut -f2; git push origin main
printf '#!/bin/sh\necho refused >&2; exit 1\n' >../remote.git/hooks/pre-receive; chmod +x ../remote.git/hooks/pre-receive; git commit -q --allow-empty -m more; git push origin main; echo "status $?"
git -c color.ui=always diff HEAD~1 --stat; git commit -F - --allow-empty <<'M'
from standard input
M
git log -1 --format=%B; printf 'f1\0f2\0' | git update-index -z --stdin; git ls-files -z f1 f2 | od -c | head; git add "$(printf 'n\303\251\nl')" 2>&1; printf x >"$(printf 'n\351\nl')"; git add .; git status --porcelain; git commit -qm 'odd names'; git ls-files | tail -1
