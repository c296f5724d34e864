package quarantine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/shorttest"
)

// pointed makes a person's repositories, each with settings that name files by
// relative paths: a main one, a submodule, a linked work tree, a bare one, and
// one whose work tree leads to a git directory elsewhere.
const pointed = `
say() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\n%s\n' "$2" > "$1"; chmod 755 "$1"; }
good() { for h in pre-commit post-index-change reference-transaction; do say "$1/$h" "echo $1/$h >> '$OUT/good'"; done; say "$2" "echo $2 >> '$OUT/good'; cat"; }
own() { git config core.hooksPath .githooks; git config filter.z.clean tools/z; }
git config --global user.name a; git config --global user.email a@b; git config --global init.defaultBranch main; git config --global protocol.file.allow always; git config --global gc.auto 0
git init -q o; (cd o; echo x > f; good .githooks tools/z; echo '*.z filter=z' > .gitattributes; echo z > a.z; git add .; git commit -qm x)
git init -q .; echo x > f; good .githooks tools/z; echo '*.z filter=z' > .gitattributes; echo z > a.z; printf '/o\n/n\n/sep\n/store\n/b.git\n' > .git/info/exclude; git add .; git commit -qm x; own
git submodule --quiet add "$W/o" sub; git commit -q -n -m s; (cd sub; own); git worktree add -q "$W/wt" 2>/dev/null; mkdir node_modules; git worktree add -q node_modules/wt; git clone -q o n; (cd n; own)
git clone -q --separate-git-dir=store o sep; (cd sep; own); git clone -q --bare o b.git; (cd b.git; own)
mkdir -p .git/coding-ethos/cache .coding-ethos/quarantine
`

// marked are the functions of a plant: evil makes a program that leaves a mark,
// and armed a repository in which everything runs one.
const marked = `
evil() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\necho "%s: %s" >> "%s/fired"; cat 2>/dev/null\n' "$N" "$1" "$OUT" > "$1" 2>/dev/null && chmod 755 "$1"; }
armed() { mkdir -p "$1/objects" "$1/refs" "$1/hooks"; echo 'ref: refs/heads/main' > "$1/HEAD"; evil "$1/hooks/pre-commit"; evil "$1/hooks/reference-transaction"
	printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = "echo %s >> \\"%s/fired\\"; false"\n' "$N" "$OUT" > "$1/config"; }
files() { evil "$1/.githooks/$H"; evil "$1/tools/z"; [ -e "$1/.gitattributes" ] || echo '* filter=z' > "$1/.gitattributes"; echo "$N" > "$1/new.z"; echo x > "$1/f"; }
to() { case $L in abs) echo "$2";; hop) ln -sfn "$2" "$W/hop-$N"; echo "$W/hop-$N";; up) ln -sfn "$(dirname "$2")" "$W/up-$N"; echo "$W/up-$N/$(basename "$2")";; *) python3 -c 'import os,sys; print(os.path.relpath(sys.argv[2],sys.argv[1]))' "$1" "$2";; esac; }
`

// pick chooses one word.
func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

// plantPointer returns a script that leaves a pointer of some kind in some place
// to some git directory, with what would run if git followed it, and where a
// person is to use git.
func plantPointer(r *rand.Rand, n int) (script, at string) {
	at = pick(r, "t-$N", "node_modules/t-$N", "a/b/c/t-$N", "wt/t-$N", "sub/t-$N")
	link, hook := pick(r, "abs", "rel", "hop", "up"), pick(r, "pre-commit", "post-index-change", "reference-transaction", "post-commit")
	own := pick(r, ".git/coding-ethos/cache/shared-x/0/upper", ".coding-ethos/cache/shared-x/0/upper", ".coding-ethos/quarantine/T")
	target := pick(r, "$W/.git", "$W/.git/modules/sub", "$W/.git/worktrees/wt", "$W/n/.git", "$W/store", "$W/b.git", "$W/"+own+"/e-$N", "$W/new-$N", "$W/$T/inner.git")
	plant := pick(r,
		`mkdir -p "$T"; echo "gitdir: $(to "$T" "$G")" > "$T/.git"; files "$T"`,
		`mkdir -p "$T/.git"; cp "$G/HEAD" "$T/.git" 2>/dev/null; cp "$G/index" "$T/.git" 2>/dev/null; to "$T/.git" "$G" > "$T/.git/commondir"; files "$T"`,
		`mkdir -p "$T" "$W/.git/worktrees/t-$N"; d=$W/.git/worktrees/t-$N; echo 'ref: refs/heads/main' > "$d/HEAD"; to "$d" "$G" > "$d/commondir"; echo "$W/$T/.git" > "$d/gitdir"; echo "gitdir: $d" > "$T/.git"; files "$T"`,
		`git worktree add -q -f --detach "$T" 2>/dev/null; files "$T"`,
		`mkdir -p "$T"; ln -s "$(to "$T" "$G")" "$T/.git"; files "$T"`,
		`mkdir -p "$T"; git init -q "$T/r"; git --git-dir="$G" config core.worktree "$W/$T" 2>/dev/null; echo "gitdir: $(to "$T" "$G")" > "$T/.git"; files "$T"`,
		`git init -q "$T"; mkdir -p "$T/.git/objects/info"; to "$T/.git/objects" "$G/objects" > "$T/.git/objects/info/alternates"; rm -rf "$T/.git/hooks"; ln -s "$G/hooks" "$T/.git/hooks"; files "$T"`,
		`mkdir -p "$(dirname "$T")"; ln -s "$(to "$(dirname "$T")" "$G")" "$T"`,
		`git init -q "$T"; (cd "$T"; git remote add evil "$(to "$T" "$G")"; git commit -q --allow-empty -m x; git config push.default current); files "$T"`,
		`for d in wt sub n sep node_modules/wt b.git .; do files "$d" 2>/dev/null; done; T=wt`,
	)
	arm := ""
	if strings.Contains(target, "-$N") || strings.Contains(target, "inner") {
		arm = `armed "$G"; [ "` + pick(r, "0", "1") + `" = 0 ] || git config -f "$G/config" core.worktree "$W/$T"; `
		if strings.HasPrefix(target, "$W/"+own) && r.IntN(2) == 0 {
			arm = `git init -q "$G" && armed "$G/.git"; G=` + target + pick(r, "", "/.git") + `; `
		}
	}
	return fmt.Sprintf("N=%d; T=%s; H=%s; L=%s; G=%s; mkdir -p \"$(dirname \"$G\")\" 2>/dev/null\n%s%s", n, at, hook, link, target, arm, plant), strings.ReplaceAll(at, "$N", strconv.Itoa(n))
}

// pointedUse is what a person does where something was planted, and elsewhere.
const pointedUse = `set +e; git() { timeout 10 git "$@"; }
git status; git diff; echo "$$ $D" >> f; echo "$$" > v.z; git add f v.z; git diff HEAD; git commit -m x f; git commit --allow-empty -m y; git log -1; git push evil HEAD:refs/heads/p$$; git fetch evil; git stash; git submodule status; git worktree list; git update-index --refresh; git gc -q`

// pointedTrial plants, and returns what ran.
func (w *world) pointedTrial(r *rand.Rand, count int, defend bool) (fired string, found []Finding, scripts []string) {
	w.renew()
	s := Begin(w.t.Context(), w.Scope)
	defer s.Close()
	tops := []string{".", "wt", "sub", "n", "sep", "node_modules/wt", "b.git"}
	for n := range count {
		script, at := plantPointer(r, n+1)
		scripts, tops = append(scripts, script), append(tops, at, at+"/r")
		_, _ = w.command("set +e\n" + marked + script).CombinedOutput()
	}
	_, _ = w.command(`set +e; ` + honestPointers).CombinedOutput()
	if defend {
		found = s.Finish(w.t.Context())
	}
	_ = os.Remove(filepath.Join(w.base, "out/fired")) // what was honest ran hooks inside
	for _, top := range tops {
		_, _ = w.command("D='" + top + "'; cd \"$D\" 2>/dev/null || exit 0\n" + pointedUse).CombinedOutput()
	}
	text, _ := os.ReadFile(filepath.Join(w.base, "out/fired"))
	return string(text), found, scripts
}

// honestPointers is what a command does beside it, with none of which anything is
// wrong.
const honestPointers = `exec >/dev/null 2>&1
git worktree add -q honest/tree; git clone -q --shared o honest/shared; git clone -q --reference o "file://$W/o" honest/reference; git clone -q --recurse-submodules . honest/whole
git submodule deinit -f sub; git submodule update --init; git init -q --separate-git-dir=honest/store honest/sep; git -C honest/shared worktree add -q ../four`

// honestUse holds that what was honest works as before, with the person's hooks.
const honestUse = `rm -f "$OUT/good"; for d in honest/tree honest/shared honest/reference honest/whole honest/whole/sub honest/sep honest/four; do (cd $d; git status >/dev/null; git commit -q --allow-empty -m x; git rev-parse -q HEAD >/dev/null) || { echo "$d"; exit 1; }; done
grep -q .githooks/pre-commit "$OUT/good"; test "$(cat honest/tree/.githooks/pre-commit)" = "$(cat .githooks/pre-commit)"`

// TestPointerOracle plants pointers to git directories at random, and real git is
// the victim: nothing that was planted runs, and what was honest works.
// ETHOS_TEST_PLANTS says how many there are.
func TestPointerOracle(t *testing.T) {
	shorttest.Long(t)
	count := 4
	if n, err := strconv.Atoi(os.Getenv("ETHOS_TEST_PLANTS")); err == nil {
		count = max(n/perTrial, 1)
	} else if testing.Short() {
		count = 2
	}
	seed := uint64(20261129)
	if n, err := strconv.ParseUint(os.Getenv("ETHOS_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	w := pointedWorld(t)
	for trial := range count {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		fired, found, scripts := w.pointedTrial(r, perTrial, true)
		if fired != "" {
			t.Errorf("seed %d trial %d ran:\n%s\nplanted\n%s\nfound %s", seed, trial, fired, strings.Join(scripts, "\n"), told(found))
		}
		for _, f := range found {
			if f.Err != nil || strings.Contains(f.Path, "/honest/") {
				t.Errorf("seed %d trial %d: %s: %s %v", seed, trial, f.Path, f.What, f.Err)
			}
		}
	}
	w.renew()
	w.finds(w.after("set +e; " + honestPointers + "\ntrue"))
	if out, err := w.command(honestUse).CombinedOutput(); err != nil {
		t.Errorf("what was honest: %v\n%s", err, out)
	}
}

// TestPointerOracleBites: without the quarantine most trials do something.
func TestPointerOracleBites(t *testing.T) {
	shorttest.Long(t)
	w := pointedWorld(t)
	kinds, ran := 6, 0
	for trial := range kinds {
		r := rand.New(rand.NewPCG(20261129, uint64(trial)))
		if fired, _, _ := w.pointedTrial(r, perTrial, false); fired != "" {
			marks := map[string]bool{}
			for line := range strings.Lines(fired) {
				n, _, _ := strings.Cut(strings.TrimSpace(line), ":")
				marks[n] = true
			}
			ran += len(marks)
		}
	}
	if ran < kinds*perTrial/3 {
		t.Errorf("only %d of %d plants do something", ran, kinds*perTrial)
	}
	t.Logf("%d of %d plants do something", ran, kinds*perTrial)
}

// pointedWorld is a world with what pointed makes.
func pointedWorld(t *testing.T) *world {
	w := &world{workspace: newWorkspace(t)}
	w.sh("set +e\n" + pointed + "\ntrue")
	w.copy("w", "template")
	w.copy("home", "template-home")
	w.Writable = func(path string) bool {
		return !within(path, w.dir+"/.git/coding-ethos") && !within(path, w.dir+"/.coding-ethos")
	}
	return w
}
