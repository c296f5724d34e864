package quarantine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// victim is what a person, a prompt or an editor runs afterwards in a work tree.
// Each line is one thing to do.
const victim = `git status; git diff; git log -1 -p; git show --stat
git status --porcelain --ignored; git diff HEAD; git update-index --refresh
git diff other; git log -2 -p; git cat-file --textconv HEAD:f
git zz
git config user.name a
git rebase --continue
git am --continue; git am --retry; git am --skip
git cherry-pick --continue; git revert --continue; git merge --continue
git bisect log; git bisect visualize --oneline; git bisect skip; git bisect reset
git rerere; git rerere status
git add -A; git commit --allow-empty -m x --trailer X:1
echo more >> f; printf 'y\n' | git add -p
git commit --allow-empty -m x; git commit --allow-empty --amend --no-edit
git commit --allow-empty
git tag -a -m t t$$; git tag -a u$$
echo more >> f; git add f; git stash; git stash pop; git stash -u; git stash apply
git checkout -b b$$; git checkout -f main; git checkout -- .
git checkout-index -a -f; git restore .
git switch -c c$$; git switch main
git fetch --all; git pull --no-rebase
for r in ssh gitp ext zz up alt leg; do git fetch $r; git push $r HEAD:refs/heads/x$$; done
git push origin HEAD:refs/heads/y$$
git checkout -f main; git merge -m m other; git mergetool --no-prompt; git rerere; git add -A; git commit -m m
git reset --hard; git merge --no-ff -m m origin/clean; git merge -s ours -m n other; git cherry-pick other; git cherry-pick --abort
git reset --hard; git rebase -f HEAD~1; git rebase -i HEAD~1; git rebase --abort
git revert --no-edit HEAD
git reset --hard; git am "$P"; git am --abort; git apply --check "$P"
git difftool --no-prompt HEAD~1
git blame f; git grep e; git grep -O e
git describe --all; git archive HEAD >/dev/null; git archive --format=x HEAD >/dev/null
git notes add -m n; git notes append -m o; git notes edit; git branch --edit-description
printf 'protocol=https\nhost=example.org\nusername=u\npassword=p\n\n' | git credential approve; printf 'protocol=https\nhost=example.org\nusername=u\n\n' | git credential fill
git submodule status; git submodule update --init; git submodule foreach true; git submodule summary
git worktree list; git worktree repair; git worktree prune; git worktree add "$W/ww$$"
git sparse-checkout list; git sparse-checkout set f; git sparse-checkout disable
git format-patch -1
git imap-send < "$P"
git help -m status; git web--browse http://x
git gc --auto; git -c gc.auto=1 gc --auto; git gc
git repack -ad; git pack-refs --all; git commit-graph write --reachable; git update-server-info
git fsck --lost-found; git maintenance run --task=gc; git reflog expire --all --expire=now
git bundle create - HEAD >/dev/null; git rm -f --cached f; git reset; git clean -n; git init`

// doings makes a script of the lines; mark is the file by which a plant shows,
// where it is to end then.
func doings(lines []string, mark string) string {
	var b strings.Builder
	b.WriteString("git() { timeout 5 git \"$@\"; }\n")
	for _, line := range lines {
		b.WriteString("{ " + line + "\n} </dev/null\n")
		if mark != "" {
			b.WriteString("[ ! -s \"$OUT/fired\" ] && [ ! -e \"" + mark + "\" ] || exit 0\n")
		}
	}
	return b.String()
}

// world is a person's tree, home and what is outside. It is made anew for each
// trial, at the same place: paths in it are absolute.
type world struct {
	*workspace
	number int
}

// template makes repositories of all kinds.
const template = `
git config --global protocol.file.allow always; git config --global core.editor true; git config --global core.sshCommand "ssh -oBatchMode=yes -oConnectTimeout=1"; git config --global user.name a; git config --global user.email a@b; git config --global init.defaultBranch main; git config --global advice.detachedHead false; git config --global gc.autoDetach false; git config --global maintenance.autoDetach false
git init -q --object-format=$F seed; cd seed; echo one > f; echo g > g; git add .; git commit -qm 1; git checkout -qb other; echo two > f; git commit -qam 2; git checkout -q main; echo three > f; git commit -qam 3; echo 4 > h; git add h; git commit -qm 4; git checkout -qb clean HEAD~1; echo k > k; git add k; git commit -qm k; git checkout -q main; echo p > p; git add p; git commit -qm p; git format-patch -1 --stdout > "$OUT/patch"; git reset -q --hard HEAD~1; cd ..
git clone -q --bare seed upstream.git; rm -rf seed
git init -q --object-format=$F .; git remote add origin "$W/upstream.git"; git fetch -q; git checkout -q -b main origin/main; git branch -q other origin/other
git submodule --quiet add "$W/upstream.git" sub; git -C sub branch -q other origin/other; printf '/upstream.git\n/nested\n/sep\n/store\n' > .git/info/exclude; git commit -qm sub
git worktree add -q -b wt "$W/wt"; git clone -q upstream.git nested/a/b/c/d/repo; git -C nested/a/b/c/d/repo branch -q other origin/other
git clone -q --separate-git-dir=store upstream.git sep; git -C sep branch -q other origin/other
git -C nested/a/b/c/d/repo update-index --index-version 4 --split-index
`

func newWorld(t testing.TB, format string) *world {
	probetest.Need(t, "command:git", "command:python3", "command:perl")
	w := &world{workspace: newWorkspace(t)}
	cmd := w.command("F=" + format + template)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.copy("w", "template")
	w.copy("home", "template-home")
	return w
}

// renew makes the world as it was.
func (w *world) renew() {
	w.t.Helper()
	if out, err := exec.Command("sh", "-c", `cd "$0" && chmod -R u+rwX w 2>/dev/null; rm -rf w home; find out -mindepth 1 ! -name patch -delete`, w.base).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	w.copy("template", "w")
	w.copy("template-home", "home")
}

// planted is a plant at its place.
type planted struct {
	plant
	where ground
	n     int
}

func (p planted) String() string { return p.kind + " in " + p.where.kind }

// put carries a plant out, with plain file operations.
func (w *world) put(p planted) {
	w.number = p.n
	id := strconv.Itoa(p.n)
	prologue := "N=" + id + "; E=$W/evil-" + id + "; X=$HOME/x-" + id + "; H=$HOME\n" +
		"printf '#!/bin/sh\\necho %s >> \"%s/fired\"\\nexit 0\\n' " + id + " \"$OUT\" > \"$E\"; chmod 755 \"$E\"; printf ':silent !%s\\n' \"$E\" > \"$E.vim\"\n"
	cmd := w.command("set +e\n" + prologue + p.where.script + "\n" + p.script + "\n[ '" + p.where.kind + "' != closed ] || chmod 000 \"$W/c-$N\"")
	_, _ = cmd.CombinedOutput() // what does not fit together is left as far as it came
}

// use runs a script in the work trees of what was planted, on a terminal where
// there is one to be had.
func (w *world) use(list []planted, text string) {
	script := filepath.Join(w.base, "victim.sh")
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	done := map[string]bool{}
	for _, p := range list {
		out, err := w.command("set +e; N=" + strconv.Itoa(p.n) + "\nfresh() { :; }\n[ ! -d \"$W/c-$N\" ] || chmod 755 \"$W/c-$N\"\n" + treesOf[p.where.kind] + "\nprintf %s \"$T\"").Output()
		if err != nil || done[string(out)] {
			continue
		}
		done[string(out)] = true
		for _, dir := range []string{string(out), string(out) + "/mm"} {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				continue
			}
			cmd := w.command("exec sh '" + script + "' >/dev/null 2>&1")
			if _, err := exec.LookPath("script"); err == nil {
				cmd = w.command("exec script -qec 'sh " + script + "' /dev/null >/dev/null 2>&1 </dev/null")
			}
			cmd.Dir = dir
			cmd.Env = append(slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "GIT_EDITOR=") || strings.HasPrefix(v, "EDITOR=") }), "PAGER=cat", "P="+w.base+"/out/patch", "SHELL=/bin/sh", "TERM=dumb")
			cmd.WaitDelay = time.Second
			_ = cmd.Run() // much of it has nothing to do there
		}
	}
}

// outside is a digest of each file outside of the tree.
func (w *world) outside() map[string]string {
	all := map[string]string{}
	for _, dir := range []string{"home", "out"} {
		_ = filepath.WalkDir(filepath.Join(w.base, dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && d.Name() != "fired" && d.Name() != ".lesshst" && d.Name() != ".viminfo" {
				text, _ := os.ReadFile(path)
				sum := sha256.Sum256(text)
				all[strings.TrimPrefix(path, w.base)] = hex.EncodeToString(sum[:])
			}
			return nil
		})
	}
	return all
}

// trial plants, and says which of the plants did something when they were used.
func (w *world) trial(list []planted, defend bool, script string) (did []string, found []Finding) {
	w.renew()
	s := Begin(context.Background(), w.Scope)
	defer s.Close()
	for _, p := range list {
		w.put(p)
	}
	if defend {
		found = s.Finish(context.Background())
	}
	before := w.outside()
	w.use(list, script)
	fired, _ := os.ReadFile(filepath.Join(w.base, "out/fired"))
	lines := strings.Fields(string(fired))
	after := w.outside()
	for path, sum := range after {
		if before[path] != sum {
			lines = append(lines, "changed", path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			lines = append(lines, "removed", path)
		}
	}
	for _, p := range list {
		id := strconv.Itoa(p.n)
		if slices.ContainsFunc(lines, func(l string) bool {
			return l == id || strings.HasPrefix(l, "/home/x-"+id+"/") || strings.HasPrefix(l, "/home/x-"+id+".") || l == "/home/x-"+id
		}) {
			did = append(did, p.String())
		}
	}
	if len(did) == 0 && len(lines) > 0 {
		did = append(did, "something: "+strings.Join(lines, " "))
	}
	return did, found
}

func allPlants() []plant {
	return slices.Concat(settingPlants, hookPlants(), linkPlants(), statePlants)
}

// choose picks plants and their places by chance.
func choose(r *rand.Rand, count int) (list []planted) {
	plants := allPlants()
	grounds := slices.Concat(existing, places)
	for n := range count {
		list = append(list, planted{plants[r.IntN(len(plants))], grounds[r.IntN(len(grounds))], n + 1})
	}
	return list
}

// some is the first of the victim's lines, and a third of the others, in any
// order.
func some(r *rand.Rand) []string {
	lines := strings.Split(victim, "\n")
	rest := lines[1:]
	r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return append(lines[:1], rest[:len(rest)/3]...)
}

// perTrial is how many plants share a world.
const perTrial = 6

// TestOracle plants at random, and real git is the victim: nothing may run, and
// nothing outside of the tree may change. ETHOS_TEST_PLANTS says how many.
func TestOracle(t *testing.T) {
	shorttest.Long(t)
	count := 24
	if n, err := strconv.Atoi(os.Getenv("ETHOS_TEST_PLANTS")); err == nil {
		count = n
	} else if testing.Short() {
		count = 6
	}
	seed := uint64(20251122)
	if n, err := strconv.ParseUint(os.Getenv("ETHOS_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	var mu sync.Mutex
	done, findings := 0, 0
	workers := max(1, runtime.GOMAXPROCS(0))
	t.Run("workers", func(t *testing.T) {
		for worker := range workers {
			t.Run(strconv.Itoa(worker), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, []string{"sha1", "sha256"}[worker%2])
				for {
					mu.Lock()
					trial := done
					done += perTrial
					mu.Unlock()
					if trial >= count {
						return
					}
					r := rand.New(rand.NewPCG(seed, uint64(trial)))
					list := choose(r, perTrial)
					did, found := w.trial(list, true, doings(some(r), ""))
					if len(did) > 0 {
						t.Errorf("seed %d trial %d: survived: %s\nplanted %v\nfound %s", seed, trial, strings.Join(did, "; "), list, told(found))
					}
					mu.Lock()
					findings += len(found)
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%d plants, %d findings, seed %d", count, findings, seed)
}

func told(found []Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "\n  %s: %s %v", f.Path, f.What, f.Err)
	}
	return b.String()
}

// TestOracleBites: without the quarantine each kind of plant does something, so
// that one that survives would be seen.
func TestOracleBites(t *testing.T) {
	probetest.Whole(t)
	w := newWorld(t, "sha1")
	fired, every := 0, 17
	if os.Getenv("ETHOS_TEST_PLANTS") != "" {
		every = 1
	}
	for i, one := range allPlants() {
		kind := os.Getenv("ETHOS_TEST_KIND")
		if kind != "" && kind != one.kind || kind == "" && (one.quiet != "" || i%every != 0) {
			continue
		}
		p := planted{one, places[0], i + 1}
		started := time.Now()
		mark := fmt.Sprintf("$HOME/x-%d", p.n)
		if strings.HasPrefix(p.kind, "link ") {
			mark = "" // it is there before
		}
		did, _ := w.trial([]planted{p}, false, doings(strings.Split(victim, "\n"), mark))
		if t.Logf("%s: %q after %v", p.kind, did, time.Since(started)); len(did) == 0 {
			t.Errorf("%s: nothing is seen of it", p.kind)
		} else {
			fired++
		}
	}
	t.Logf("%d kinds of plants did something", fired)
}

// FuzzQuarantine is [TestOracle] with plants and places by the fuzzer's choice:
// two bytes each. Its seeds are each plant in each kind of place.
func FuzzQuarantine(f *testing.F) {
	shorttest.Long(f)
	plants, grounds := allPlants(), slices.Concat(existing, places)
	for i := 0; i < len(plants); i += 29 {
		f.Add([]byte{byte(i), byte(i % len(grounds)), byte(i + 1), byte((i + 7) % len(grounds))})
	}
	w := newWorld(f, "sha1")
	f.Fuzz(func(t *testing.T, data []byte) {
		w.t = t
		var list []planted
		for ; len(data) >= 2 && len(list) < perTrial; data = data[2:] {
			list = append(list, planted{plants[int(data[0])%len(plants)], grounds[int(data[1])%len(grounds)], len(list) + 1})
		}
		did, found := w.trial(list, true, doings(strings.Split(victim, "\n")[:8], ""))
		if len(did) > 0 {
			t.Errorf("survived: %s\nplanted %v\nfound %s", strings.Join(did, "; "), list, told(found))
		}
	})
}
