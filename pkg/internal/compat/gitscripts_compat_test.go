//go:build compat

package compat

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// scripts are of git's own tests: a fourth of the short ones, in every area, and
// those of the commands that agents use most.
const scripts = `
	t0001-init t0002-gitfile t0007-git-var t0012-help t0016-oidmap t0023-crlf-am t0028-working-tree-encoding
	t0061-run-command t0065-strcmp-offset t0069-oidtree
	t0091-bugreport t0101-at-syntax t0202-gettext-perl t0212-trace2-event t1004-read-tree-m-u-wf
	t1009-read-tree-new-index t1021-rerere-in-workdir t1060-object-corruption t1300-config
	t1302-repo-version t1307-config-blob t1350-config-hooks-path t1405-main-ref-store t1409-avoid-packing-refs
	t1414-reflog-walk t1418-reflog-exists t1504-ceiling-dirs t1508-at-combinations t1514-rev-parse-push
	t1701-racy-split-index t2003-checkout-cache-mkdir t2007-checkout-symlink t2012-checkout-last t2016-checkout-patch
	t2020-checkout-detach t2022-checkout-paths t2027-checkout-track t2070-restore
	t2102-update-index-symlinks t2106-update-index-assume-unchanged t2201-add-update-typechange t2205-add-worktree-config
	t2403-worktree-move t2407-worktree-heads t3001-ls-files-others-exclude t3005-ls-files-relative
	t3009-ls-files-others-nonsubmodule t3013-ls-files-format t3060-ls-files-with-tree t3103-ls-tree-misc t3200-branch
	t3202-show-branch t3210-pack-refs t3303-notes-subtrees t3307-notes-man t3403-rebase-skip t3408-rebase-multi-line
	t3416-rebase-onto-threedots t3423-rebase-reword t3427-rebase-subtree t3432-rebase-fast-forward
	t3437-rebase-fixup-options t3502-cherry-pick-merge t3506-cherry-pick-ff t3600-rm
	t3702-add-edit t3900-i18n-commit t3903-stash t3906-stash-submodule t4003-diff-rename-1
	t4007-rename-3 t4011-diff-symlink t4018-diff-funcname t4022-diff-rewrite t4026-color t4030-diff-textconv
	t4035-diff-quiet t4040-whitespace-status t4045-diff-relative t4050-diff-histogram t4055-diff-context
	t4059-diff-submodule-not-initialized t4065-diff-anchored t4069-remerge-diff t4103-apply-binary
	t4107-apply-ignore-whitespace t4111-apply-subdir t4115-apply-symlink t4119-apply-config t4123-apply-shrink
	t4128-apply-root t4132-apply-removal t4136-apply-check t4140-apply-ita t4153-am-resume-override-opts
	t4208-log-magic-pathspec t4213-log-tabexpand t4254-am-corrupt t4258-am-quoted-cr
	t5301-sliding-window t5307-pack-missing-commit t5313-pack-bounds-checks t5320-delta-islands
	t5328-commit-graph-64bit-time t5401-update-hooks t5405-send-pack-rewind t5409-colorize-remote-messages
	t5502-quickfetch t5509-fetch-push-namespaces t5515-fetch-merge-logic t5521-pull-options t5525-fetch-tagopt
	t5530-upload-pack-error t5537-fetch-shallow t5545-push-options t5552-skipping-fetch-negotiator
	t5600-clone-fail-cleanup t5606-clone-options t5610-clone-detached t5614-clone-submodules-shallow
	t5705-session-id-in-capabilities t5900-repo-selection t6004-rev-list-path-optim t6009-rev-list-parent
	t6013-rev-list-reverse-parents t6019-rev-list-ancestry-path t6060-merge-index t6110-rev-list-sparse
	t6130-pathspec-noglob t6135-pathspec-with-attrs t6401-merge-criss-cross t6407-merge-binary t6412-merge-large-rename
	t6417-merge-ours-theirs t6425-merge-rename-delete t6432-merge-recursive-space-options
	t7001-mv t7102-reset t7103-reset-bare t7107-reset-pathspec-file
	t7113-post-index-change-hook t7300-clean t7409-submodule-detached-work-tree t7414-submodule-mistakes
	t7419-submodule-set-branch t7423-submodule-symlinks t7507-commit-verbose t7515-status-symlinks
	t7520-ignored-hook-warning t7526-commit-pathspec-file t7600-merge t7605-merge-resolve t7609-mergetool--lib
	t7701-repack-unpack-unreachable t7810-grep t7812-grep-icase-non-ascii t7817-grep-sparse-checkout`

// TestManagedGit runs git's own tests with git, and with ethos-git in its place:
// no difference is a bug.
func TestManagedGit(t *testing.T) {
	dir := filepath.Join(prepared(), "git/t")
	probetest.Need(t, "command:git", "file:"+filepath.Join(dir, "test-lib.sh"), "file:"+filepath.Join(dir, "helper/test-tool"))
	bin := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-o", bin+"/", "ethos/cmd/ethos-git", "ethos/cmd/ethos-decide")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	asGit := t.TempDir()
	for _, name := range []string{"git", "git-upload-pack", "git-receive-pack"} {
		if err := os.Symlink(filepath.Join(bin, "ethos-git"), filepath.Join(asGit, name)); err != nil {
			t.Fatal(err)
		}
	}
	installed, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range strings.Fields(scripts) {
		t.Run(script, func(t *testing.T) {
			outside := suite(t, dir, script, filepath.Dir(installed), t.TempDir())
			if len(outside) == 0 {
				t.Fatal("it has no tests")
			}
			store := t.TempDir()
			under := suite(t, dir, script, asGit, store)
			stored, err := Stored(store)
			if err != nil {
				t.Fatal(err)
			}
			if len(under) != len(outside) && len(stored) == 0 { // a script whose set-up is refused ends
				t.Errorf("%d tests outside, %d under ethos", len(outside), len(under))
			}
			for _, d := range Refusals(outside, under, stored) {
				if d.Kind == Bug {
					t.Errorf("%s\n%s", d.Name, d.Output)
				} else {
					t.Logf("%s: %s %s", d.Name, d.Kind, d.Policy)
				}
			}
		})
	}
}

// suite runs one script with the git of a directory.
func suite(t *testing.T, dir, script, bin, store string) []Case {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "./"+script+".sh", "--verbose", "--root="+t.TempDir())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_TEST_INSTALLED="+bin, "ETHOS_STORE="+store)
	out, _ := cmd.CombinedOutput() // the tests tell
	cases, err := ParseGit(out)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// gitUnits are the same scripts with plain git. Their work space is the source,
// whose tools they use.
func gitUnits(t *testing.T, data string) (units []Unit) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range strings.Fields(scripts) {
		units = append(units, Unit{
			Name: script, Dir: filepath.Join(data, "git/t"), Parse: ParseGit,
			// What a script leaves when a test fails goes in the same run: the next side is
			// not to meet repositories that were there before. Perl's order is fixed, which
			// numbers tests.
			Argv: []string{
				"env", "GIT_TEST_INSTALLED=" + filepath.Dir(git), "PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0",
				"sh", "-c", `sh "./$1.sh" --verbose; rm -rf "trash directory.$1"`, "sh", script,
			},
		})
	}
	return units
}
