package quarantine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ownCache makes what a command can have in a cache of its own: the upper layer
// of the cache lies in a directory of ethos, which no search enters. $C is a
// repository there that runs something, as bare one and with a work tree.
const ownCache = `O=${O:-.git/coding-ethos}; C=$W/$O/cache/shared-x/0/upper/e; mkdir -p "$C/objects" "$C/refs" "$C/hooks" "${C%e}t"; echo 'ref: refs/heads/main' > "$C/HEAD"
printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = "touch \\"%s/fired\\"; false"\n' "$OUT" > "$C/config"; printf '#!/bin/sh\ntouch "%s/fired"\n' "$OUT" > "$C/hooks/pre-commit"; chmod 755 "$C/hooks/pre-commit"
cp -r "$C" "${C%e}t/.git"
`

// attack is what a command leaves, and what is to be found of it.
type attack struct {
	setup, script string
	want          []string
	use           string // run outside afterwards; ":" where nothing shows what it would do
}

// holds holds that nothing planted runs, that it would without the search, and that a second run
// finds nothing.
func (a attack) holds(t *testing.T) {
	t.Helper()
	w := newWorkspace(t)
	fired := func() bool { _, err := os.Stat(w.base + "/out/fired"); return err == nil }
	const act = "set +e; hook() { mkdir -p \"$(dirname \"$1\")\"; printf '#!/bin/sh\\ntouch \"%s/fired\"\\n' \"$OUT\" > \"$1\"; chmod 755 \"$1\"; }\n"
	use := a.use
	if use == "" {
		use = "cd sub && git status && git commit --allow-empty -m x"
	}
	w.sh(a.setup)
	w.copy("w", "before")
	w.Writable = func(path string) bool { // as the plan hides them
		return !within(path, w.dir+"/.git/coding-ethos") && !within(path, w.dir+"/.coding-ethos") && !within(path, w.dir+"/n/.git/coding-ethos")
	}
	w.sh(act + a.script + "\ntrue")
	_, _ = w.command(use).CombinedOutput()
	if len(a.want) > 0 && a.use != ":" && !fired() {
		t.Error("it does nothing without the search")
	}
	w.sh(`rm -rf "$OUT/fired"; find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +; cp -a ../before/. .`)
	found := w.after(act + a.script + "\ntrue")
	w.finds(found, a.want...)
	out, err := w.command(use).CombinedOutput()
	if fired() {
		t.Errorf("it ran:\n%s", out)
	}
	if len(a.want) == 0 && err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	_ = os.Remove(w.base + "/out/fired")
	w.finds(w.after(`:`))
}

func (w *workspace) copy(from, to string) {
	w.t.Helper()
	if out, err := exec.Command("cp", "-a", filepath.Join(w.base, from), filepath.Join(w.base, to)).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}

// TestIntoOwn: nothing leads git, or who follows a link, into a directory of
// ethos, where commands have caches that no search enters.
func TestIntoOwn(t *testing.T) {
	const init, run = `git init -q .; mkdir sub; `, ownCache
	for name, a := range map[string]attack{
		"gitfile":              {init, run + `git config -f "$C/config" core.worktree "$W/sub"; echo "gitdir: ../.git/coding-ethos/cache/shared-x/0/upper/e" > sub/.git`, []string{"sub/.git"}, ""},
		"absolute":             {init, run + `git config -f "$C/config" core.worktree "$W/sub"; echo "gitdir: $C" > sub/.git`, []string{"sub/.git"}, ""},
		"by a link":            {init, run + `ln -s .git l; git config -f "$C/config" core.worktree "$W/sub"; echo "gitdir: ../l/coding-ethos/cache/shared-x/0/upper/e" > sub/.git`, []string{"sub/.git"}, ""},
		"by a link to it":      {init, run + `ln -s "$C" l; echo "gitdir: ../l" > sub/.git; git config -f "$C/config" core.worktree "$W/sub"`, []string{"l"}, `cd l; git status`},
		"commondir":            {init, run + `mkdir sub/.git; cp "$C/HEAD" sub/.git; echo "$C" > sub/.git/commondir`, []string{"sub/.git/commondir"}, ""},
		"relative":             {init, run + `mkdir sub/.git; cp "$C/HEAD" sub/.git; echo ../../.git/coding-ethos/cache/shared-x/0/upper/e > sub/.git/commondir`, []string{"sub/.git/commondir"}, ""},
		"worktree":             {init, run + `mkdir -p .git/worktrees/x; cp "$C/HEAD" .git/worktrees/x; echo "$C" > .git/worktrees/x/commondir; echo "$W/sub/.git" > .git/worktrees/x/gitdir; echo "gitdir: $W/.git/worktrees/x" > sub/.git`, []string{".git/worktrees/x/commondir"}, ""},
		"link":                 {init, run + `ln -s .git/coding-ethos/cache/shared-x/0/upper/t src`, []string{"src"}, `cd src && git status`},
		"link over two":        {init, run + `ln -s .git/coding-ethos l; ln -s l/cache/shared-x/0/upper/t src`, []string{"l"}, `cd src && git status`},
		"link past traces":     {init, run + `mkdir .git/coding-ethos/traces; ln -s .git/coding-ethos/traces l; ln -s l/../cache/shared-x/0/upper/t src`, []string{"src"}, `cd src && git status`},
		"link by outside":      {init + `ln -s "$W/.git" "$OUT/l"`, run + `ln -s "$OUT/l/coding-ethos/cache/shared-x/0/upper/t" src; ln -s "$OUT/l" out`, []string{"src"}, `cd src && git status`},
		"link named otherwise": {init + `mkdir .git/coding-ethos; ln -s "$W/.git/coding-ethos" "$OUT/l"`, run + `ln -s "$OUT/l/cache/shared-x/0/upper/t" src`, []string{"src"}, `cd src && git status`},
		"link not yet":         {init, `ln -s .git/coding-ethos/cache/shared-x/0/upper/t src; ` + run, []string{"src"}, `cd src && git status`},
		"git link":             {init, run + `ln -s "$C" sub/.git; git config -f "$C/config" core.worktree "$W/sub"`, []string{"sub/.git"}, ""},
		"git link there":       {init + `ln -s ../l sub/.git; ln -s nowhere l`, run + `rm l; ln -s .git/coding-ethos/cache/shared-x/0/upper/e l; git config -f "$C/config" core.worktree "$W/sub"`, []string{"l"}, ""},
		"git link to file":     {init + `git init -q n; echo "gitdir: ../n/.git" > f; ln -s ../f sub/.git`, run + `echo "gitdir: $C" > f; git config -f "$C/config" core.worktree "$W/sub"`, []string{"f"}, ""},
		"directory of top":     {init, `O=.coding-ethos; ` + run + `git config -f "$C/config" core.worktree "$W/sub"; echo "gitdir: ../.coding-ethos/cache/shared-x/0/upper/e" > sub/.git`, []string{"sub/.git"}, ""},
		"nested work space":    {init + `git init -q n`, `O=n/.git/coding-ethos; ` + run + `git config -f "$C/config" core.worktree "$W/sub"; echo "gitdir: ../$O/cache/shared-x/0/upper/e" > sub/.git`, []string{"sub/.git"}, ""},
		"there already":        {init + run + `git config -f "$C/config" core.worktree "$W/sub"; echo "gitdir: $C" > sub/.git`, `:`, []string{"sub/.git"}, ""},
		"quarantine":           {init, `O=.coding-ethos; ` + run + `mkdir -p .coding-ethos/quarantine/T; mv "$C" .coding-ethos/quarantine/T/e.quarantined; C=$W/.coding-ethos/quarantine/T/e.quarantined; git config -f "$C/config" core.worktree "$W/sub"; echo "gitdir: $C" > sub/.git`, []string{"sub/.git"}, ""},
		"alternates":           {init + `git init -q n; git -C n commit -q --allow-empty -m x`, run + `mkdir -p n/.git/objects/info; echo "$C/objects" > n/.git/objects/info/alternates`, []string{"n/.git/objects/info/alternates"}, ":"},
		"quoted alternates":    {init + `git init -q n`, `mkdir -p n/.git/objects/info; printf '"../../../\\056git/coding-ethos/cache/o"\n' > n/.git/objects/info/alternates`, []string{"n/.git/objects/info/alternates"}, ":"},

		"a link to traces":         {init, `mkdir -p .coding-ethos/traces; ln -s .coding-ethos/traces t`, nil, "cd t"},
		"links up":                 {init, `mkdir -p a/b c; ln -s ../../c a/b/l; ln -s a/../c m`, nil, "cd a/b/l && git status && cd ../../../m && git status"},
		"a directory of that name": {init, `git init -q coding-ethos; echo "gitdir: ../coding-ethos/.git" > sub/.git; ln -s coding-ethos l`, nil, "cd sub && git status && cd ../l && git status"},
	} {
		t.Run(name, func(t *testing.T) {
			a.holds(t)
		})
	}
}

// TestWorkTreesOfOthers: a setting with a relative path applies in each work tree
// that leads to its git directory.
func TestWorkTreesOfOthers(t *testing.T) {
	const (
		main   = `git init -q .; mkdir -p .githooks tools; printf '#!/bin/sh\n' | tee .githooks/pre-commit > tools/z; chmod 755 .githooks/pre-commit tools/z; git add .; git commit -q -m x; git config core.hooksPath .githooks; `
		filter = main + `git config filter.z.clean tools/z; `
		sub    = `git init -q o; git -C o commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule --quiet add "$PWD/o" sub; git commit -q -n -m s; `
	)
	for name, a := range map[string]attack{
		"gitfile":           {main, `mkdir sub; echo "gitdir: ../.git" > sub/.git; hook sub/.githooks/pre-commit`, []string{"sub/.git"}, ""},
		"commondir":         {main, `mkdir -p sub/.git; cp .git/HEAD .git/index sub/.git; echo ../../.git > sub/.git/commondir; hook sub/.githooks/pre-commit`, []string{"sub/.git/commondir"}, ""},
		"of a work tree":    {main + `git worktree add -q wt`, `mkdir sub; cp wt/.git sub/.git; hook sub/.githooks/pre-commit`, []string{"sub/.git"}, ""},
		"of a submodule":    {main + sub + `git -C sub config core.hooksPath .githooks; mv sub sub2`, `mkdir sub; cp sub2/.git sub/.git; git config -f .git/modules/sub/config core.worktree ../../../sub; hook sub/.githooks/pre-commit`, []string{"sub/.githooks/pre-commit"}, ""},
		"worktree add":      {main, `git worktree add -q sub; hook sub/.githooks/pre-commit`, []string{"sub/.githooks/pre-commit"}, ""},
		"more in it":        {main, `git worktree add -q sub; hook sub/.githooks/post-commit`, []string{"sub/.githooks/post-commit"}, ""},
		"linked":            {main + `git worktree add -q sub`, `hook sub/.githooks/pre-commit`, []string{"sub/.githooks/pre-commit"}, ""},
		"executable":        {main + `hook() { printf '#!/bin/sh\ntouch "%s/fired"\n' "$OUT" > "$1"; }; hook .githooks/post-commit; git worktree add -q sub; cp .githooks/post-commit sub/.githooks`, `chmod 755 sub/.githooks/post-commit`, []string{"sub/.githooks/post-commit"}, ""},
		"linked, below":     {main + `mkdir .githooks/d; cp tools/z .githooks/d/z; printf '#!/bin/sh\nfor f in "${0%%/*}"/d/*; do $f; done\n' > .githooks/pre-commit; git add .; git commit -q -m d; git worktree add -q sub`, `hook sub/.githooks/d/z`, []string{"sub/.githooks/d/z"}, ""},
		"added, below":      {main + `mkdir .githooks/d; cp tools/z .githooks/d/z; printf '#!/bin/sh\nfor f in "${0%%/*}"/d/*; do $f; done\n' > .githooks/pre-commit; git add .; git commit -q -m d; git worktree add -q sub`, `hook sub/.githooks/d/y`, []string{"sub/.githooks/d/y"}, ""},
		"submodule":         {main + sub + `git -C sub config core.hooksPath .githooks`, `hook sub/.githooks/pre-commit`, []string{"sub/.githooks/pre-commit"}, ""},
		"husky":             {main + `mkdir -p .husky/_; printf '#!/bin/sh\nsh "${0%%_/*}${0##*/}"\n' > .husky/_/pre-commit; chmod 755 .husky/_/*; git config core.hooksPath .husky/_; git worktree add -q sub`, `mkdir -p sub/.husky; cp -r .husky/_ sub/.husky; hook sub/.husky/pre-commit`, []string{"sub/.husky/pre-commit"}, ""},
		"filter":            {filter, `mkdir sub; echo "gitdir: ../.git" > sub/.git; hook sub/tools/z; cd sub; echo '* filter=z' > .gitattributes; git reset -q; printf 2 >> tools/z`, []string{"sub/.git"}, `cd sub; git diff`},
		"filter, added":     {filter, `git worktree add -q sub; cd sub; hook tools/z; echo '* filter=z' > .gitattributes`, []string{"sub/tools/z"}, `cd sub; git add .`},
		"included":          {main + `git config --unset core.hooksPath; printf '[core]\n\thooksPath = .githooks\n' > "$OUT/more"; git config include.path "$OUT/more"; git worktree add -q sub`, `hook sub/.githooks/pre-commit`, []string{"sub/.githooks/pre-commit"}, ""},
		"of this work tree": {main + `git config --unset core.hooksPath; git config extensions.worktreeConfig true; git worktree add -q sub; git -C sub config --worktree core.hooksPath .githooks`, `hook sub/.githooks/pre-commit`, []string{"sub/.githooks/pre-commit"}, ""},
		"elsewhere":         {`cd "$OUT"; git init -q r; cd r; git commit -q --allow-empty -m x; git config core.hooksPath .githooks; git worktree add -q "$W/sub"`, `hook sub/.githooks/pre-commit`, []string{"sub/.githooks/pre-commit"}, ""},
		"elsewhere, listed": {`cd "$OUT"; git init -q r; cd r; git commit -q --allow-empty -m x; printf '[core]\n\thooksPath = .githooks\n' > "$OUT/more"; git config include.path "$OUT/more"; git worktree add -q "$W/sub"`, `hook sub/.githooks/pre-commit`, []string{"sub/.githooks/pre-commit"}, ""},
		"bare":              {`git init -q --bare b; git -C b config core.hooksPath .githooks`, `hook b/.githooks/reference-transaction`, []string{"b/.githooks/reference-transaction"}, `cd b; git update-ref refs/x $(git hash-object -w --stdin </dev/null)`},
		"core.worktree":     {main + `git init -q --bare b; mkdir sub; cd b; git config core.bare false; git config core.worktree ../sub; git config core.hooksPath .githooks`, `hook sub/.githooks/pre-commit`, []string{"sub/.githooks/pre-commit"}, `cd b; git commit --allow-empty -m x`},
		"link to a link":    {main + `ln -s ../tools/z .githooks/post-commit; git add .; git commit -q -m l`, `git worktree add -q sub; hook sub/tools/z`, []string{"sub/.githooks/post-commit"}, ""},

		"an honest work tree":    {main + `ln -s ../tools/z .githooks/post-commit; mkdir .githooks/d; cp tools/z .githooks/d; git add .; git commit -q -m l`, `git worktree add -q sub; git worktree add -q sub2; git worktree move sub2 sub3`, nil, ""},
		"an honest submodule":    {main + sub + `git -C sub config core.hooksPath .githooks`, `git submodule deinit -q -f sub; git -c protocol.file.allow=always submodule --quiet update --init; git -C sub commit -q --allow-empty -m y`, nil, ""},
		"a submodule that moves": {main + sub, `git mv sub sub2; git -C sub2 status; mkdir sub`, nil, "cd sub2 && git status && git commit --allow-empty -m x"},
		"honest clones":          {main, `git clone -q --shared . sub; git clone -q --reference . "file://$PWD" two; git init -q --separate-git-dir=store three; git -C sub worktree add -q ../four`, nil, ""},
		"an honest edit":         {filter + `git worktree add -q sub`, `echo y > sub/tools/other; echo y > sub/f; git -C sub add f; git -C sub commit -q -m y`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) { a.holds(t) })
	}
}

// TestHooksOfHooks: a hook that runs what is in a directory beside it is as good
// as that.
func TestHooksOfHooks(t *testing.T) {
	const d = `git init -q n; mkdir -p n/.git/hooks/pre-commit.d/e; printf '#!/bin/sh\nfor f in "${0%%/*}"/pre-commit.d/e/*; do "$f"; done\n' > n/.git/hooks/pre-commit; printf ':\n' > n/.git/hooks/pre-commit.d/e/x; chmod 755 n/.git/hooks/pre-commit n/.git/hooks/pre-commit.d/e/x; `
	const use = `cd n; git commit --allow-empty -m x`
	for name, a := range map[string]attack{
		"changed":      {d, `hook n/.git/hooks/pre-commit.d/e/x`, []string{"n/.git/hooks/pre-commit.d/e/x"}, use},
		"added":        {d, `hook n/.git/hooks/pre-commit.d/e/y`, []string{"n/.git/hooks/pre-commit.d/e/y"}, use},
		"link":         {d, `hook evil; ln -s ../../../../../evil n/.git/hooks/pre-commit.d/e/z`, []string{"n/.git/hooks/pre-commit.d/e/z"}, use},
		"directory":    {d + `rm -r n/.git/hooks/pre-commit.d`, `hook n/.git/hooks/pre-commit.d/e/x`, []string{"n/.git/hooks/pre-commit.d"}, use},
		"touched":      {d, `touch n/.git/hooks/pre-commit.d/e/x; cat n/.git/hooks/pre-commit.d/e/x`, nil, use},
		"many, large":  {d + `for i in 1 2 3 4 5; do truncate -s 7M n/.git/hooks/pre-commit.d/$i; done`, `hook n/.git/hooks/pre-commit.d/e/x; echo 1 >> n/.git/hooks/pre-commit.d/5`, []string{"n/.git/hooks/pre-commit.d/5", "n/.git/hooks/pre-commit.d/e/x"}, use},
		"large, there": {d + `for i in 1 2 3 4 5; do truncate -s 7M n/.git/hooks/pre-commit.d/$i; done`, `:`, nil, use},
	} {
		t.Run(name, func(t *testing.T) { a.holds(t) })
	}
}

// TestStuckTarget: where what is in effect in a git directory cannot be moved, a
// file that leads there is.
func TestStuckTarget(t *testing.T) {
	w := newWorkspace(t)
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`git init -q n; mv n/.git g; rm -r g/hooks; mkdir sub; echo "gitdir: ../g" > sub/.git`)
	g := &gitDir{Session: s, tree: s.trees[0], path: w.dir + "/g"}
	s.pass = &pass{seen: map[identifier]bool{}, names: newNames()}
	g.told(Finding{Path: w.dir + "/g/config", What: "it", Err: os.ErrPermission})
	in := &gitDir{Session: s, tree: s.trees[0], path: w.dir + "/sub/.git"}
	in.gitFile(s.dirAt(w.dir+"/sub"), w.dir+"/sub/.git")
	if len(s.found) != 2 || s.found[1].Path != w.dir+"/sub/.git" || s.found[1].Err != nil || !strings.Contains(s.found[1].What, "in effect") {
		t.Errorf("%+v", s.found)
	}
	w.sh(`test ! -e sub/.git`)
}
