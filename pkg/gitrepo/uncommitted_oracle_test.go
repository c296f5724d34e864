package gitrepo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/shorttest"
)

// TestUncommittedOracle compares with what `git status` says after changes by chance. ETHOS_TEST_SEED repeats one of them.
func TestUncommittedOracle(t *testing.T) {
	seeds := []uint64{}
	if seed, err := strconv.ParseUint(os.Getenv("ETHOS_TEST_SEED"), 10, 64); err == nil {
		seeds = append(seeds, seed)
	}
	for len(seeds) == 0 || len(seeds) < 20 && os.Getenv("ETHOS_TEST_SEED") == "" {
		seeds = append(seeds, rand.Uint64())
	}
	for _, seed := range shorttest.Sample(seeds, 6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := newSandbox(t)
			worked(s)
			history := byChance(s, rand.New(rand.NewPCG(seed, 0)))
			status := s.git("r", "status", "--porcelain", "--no-renames", "-uall")
			repo := s.open("r")
			for kind, ask := range map[string]Question{
				WorkModified: {Modified: true}, WorkStaged: {Staged: true}, WorkUntracked: {Untracked: true, Dirs: true},
			} {
				ask.Dir = s.path("r")
				got, err := repo.Uncommitted(ask, s.options())
				if want := told(status, kind); err != nil || slices.Contains(got, kind) != want || len(got) > 1 {
					t.Errorf("%s: %q, %v; want %v\n%s\ngit status:\n%s", kind, got, err, want, strings.Join(history, "\n"), status)
				}
			}
		})
	}
}

// byChance changes a repository, and returns how. No content comes twice, so that nothing is a rename.
func byChance(s sandbox, rng *rand.Rand) (history []string) {
	names := []string{"a.txt", "dir/b.txt", "dir/deep/c.txt", "new", "dir/new", "dir/deep/new", "other/x/y", "other/x/new", "x.log", "out/z", "dir/out/z", "keep.log", "dir/ö\ttab"}
	ignores := []string{"*.log", "/new", "new", "dir/*", "!dir/new", "other/", "**/y", "x/", "dir/deep", "#comment", "\\!x", "[a-c].txt", "k?ep.log", "out", "!*.log", "other/x/", "/dir/**/c.txt", "ö*"}
	for i := range 3 + rng.IntN(8) {
		name := names[rng.IntN(len(names))]
		did := ""
		switch rng.IntN(9) {
		case 0, 1, 2:
			did = "write " + name
			s.write("r/"+name, fmt.Sprintf("content %d\n", i))
		case 3:
			did = "remove " + name
			_ = os.Remove(s.path("r/" + name)) // it may not be there
		case 4:
			did = "add " + name
			_, _ = s.try("r", "add", "-f", "--", name)
		case 5:
			did = "add all"
			s.git("r", "add", ".")
		case 6:
			did = "unstage " + name
			_, _ = s.try("r", "rm", "-q", "--cached", "--", name)
		case 7:
			did = "commit"
			_, _ = s.try("r", "commit", "-qm", "by chance")
		case 8:
			line := ignores[rng.IntN(len(ignores))]
			file := []string{".gitignore", "dir/.gitignore", ".git/info/exclude"}[rng.IntN(3)]
			did = "ignore " + line + " in " + file
			s.write("r/"+file, line+"\n"+ignores[rng.IntN(len(ignores))]+"\n")
		}
		history = append(history, did)
	}
	return history
}

// told reports whether the status has a kind of work: git-status(1), "Short Format".
func told(status, kind string) bool {
	for line := range strings.Lines(status) {
		index, tree := line[0], line[1]
		switch kind {
		case WorkModified:
			if tree == 'M' || tree == 'T' {
				return true
			}
		case WorkStaged:
			if strings.IndexByte("MAT", index) >= 0 {
				return true
			}
		case WorkUntracked:
			if index == '?' {
				return true
			}
		}
	}
	return false
}
