package quarantine

import (
	"os/exec"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// used is what people do in a repository; $R is one that is new.
const used = `for r in old $R; do
	echo $R >> $r/f; git -C $r add f; git -C $r commit -q -m x; git -C $r branch b-$R; git -C $r tag -a -m t t-$R; git -C $r worktree add -q ../wt-$r-$R b-$R
	git -C wt-$r-$R commit -q --allow-empty -m y; git -C $r merge -q b-$R; git -C $r rebase -q HEAD~1; git -C $r stash list; git -C $r pack-refs --all; git -C $r gc -q
	git -C $r reflog expire --all --expire=now; git -C $r status
done
git clone -q old c-$R; git clone -q --bare old c-$R.git; git -C c-$R fetch -q --all; git -C c-$R remote prune origin`

// TestFormats: repositories of every format are left as they are when git alone has written to them, and what is
// planted there is found.
func TestFormats(t *testing.T) {
	for name, flags := range map[string]string{
		"SHA-1": "--object-format=sha1", "SHA-256": "--object-format=sha256",
		"reftable": "--ref-format=reftable", "reftable and SHA-256": "--ref-format=reftable --object-format=sha256",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			if strings.Contains(flags, "reftable") {
				probetest.NeedFunc(t, "reftable", func() string {
					out, err := exec.Command("git", "init", "-q", "--ref-format=reftable", w.base+"/reftable").CombinedOutput()
					return map[bool]string{true: "git does not know it: " + string(out)}[err != nil]
				})
			}
			w.sh(strings.ReplaceAll("git init -q FLAGS -b main old; git -C old commit -q --allow-empty -m 0", "FLAGS", flags))
			w.finds(w.after("R=new\ngit init -q " + flags + " -b main new; git -C new commit -q --allow-empty -m 0\n" + used))
			w.sh(`for r in old new; do git -C $r fsck --strict; git -C $r status --porcelain; done`)
			w.finds(w.after(`git -C new config core.fsmonitor ./evil; ln -s "$OUT" new/.git/objects/ab; echo ./x > old/.git/odd; printf '\120\0' > new/.git/index
				mkdir -p wt-new-new/x; git init -q `+flags+` wt-new-new/x; cp -r wt-new-new/x/.git wt-new-new/x/bare; git -C wt-new-new/x/bare config core.sshCommand ./evil`),
				"new/.git/config", "new/.git/objects/ab", "old/.git/odd", "new/.git/index", "wt-new-new/x/bare/config")
		})
	}
}

// TestReftable: the files of a reftable, which this git may not know, are those that it writes
// (Documentation/technical/reftable.txt of git), and no others.
func TestReftable(t *testing.T) {
	const made = `git init -q $R; cd $R/.git; rm -r refs; mkdir -p refs reftable; echo 'this repository uses the reftable format' > refs/heads; echo 'ref: refs/heads/.invalid' > HEAD
		printf '[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\trefstorage = reftable\n' > config
		printf 'REFT' | tee reftable/0x000000000001-0x000000000002-8c58d3a1.ref > reftable/0x000000000003-0x000000000003-0d9e0f2b.ref
		printf '0x000000000001-0x000000000002-8c58d3a1.ref\n0x000000000003-0x000000000003-0d9e0f2b.ref\n' > reftable/tables.list; : > reftable/tables.list.lock; cd ../..
		`
	w := newWorkspace(t)
	w.finds(w.after("R=new\n" + made))
	w.finds(w.after("R=other\n"+made+`cd other/.git/reftable; ln -s "$OUT/x" 0x000000000004-0x000000000004-0d9e0f2b.ref; echo ../../../x >> tables.list; mkdir hooks; echo x > program`),
		"other/.git/reftable/0x000000000004-0x000000000004-0d9e0f2b.ref", "other/.git/reftable/tables.list", "other/.git/reftable/hooks", "other/.git/reftable/program")
}
