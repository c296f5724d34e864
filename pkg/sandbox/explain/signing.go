package explain

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
)

// signatures lists what git prints when signing failed: commit.c,
// builtin/tag.c, gpg-interface.c.
var signatures = []string{"gpg failed to sign the data", "unable to sign the tag", "failed to sign the push certificate", "fatal: failed to write commit object"}

func (x *Explainer) signing(f Failed) []record.Denial {
	if x.plan.GitSigning != "" { // the signer reports its refusals itself
		return nil
	}
	told := slices.ContainsFunc(signatures, func(text string) bool { return strings.Contains(f.Output, text) })
	if !told && (f.Read || f.Output != "" || !x.signs(f.Argv)) {
		return nil
	}
	return []record.Denial{{
		Layer: "mount", What: "the key that git signs with", Kind: record.KindHidden, Certainty: record.Inferred,
		Reason: "keys are not inside, and no declaration shows them: with --git-signing own, or git_signing: own below sandbox in a trusted repo_config.yaml, your commits and tags are signed outside; " +
			"or commit with --no-gpg-sign, and sign later: git rebase --force-rebase --gpg-sign main",
	}}
}

// signs reports whether a command line runs git to make a commit or a tag that
// the user's or the workspace's configuration requires to be signed.
func (x *Explainer) signs(argv []string) bool {
	makes := func(word string) bool {
		return slices.Contains([]string{"commit", "tag", "merge", "rebase", "cherry-pick", "revert", "am", "pull"}, word)
	}
	if filepath.Base(first(argv)) != "git" || !slices.ContainsFunc(argv, makes) || slices.Contains(argv, "--no-gpg-sign") {
		return false
	}
	wanted := slices.Contains(argv, "-S") || slices.Contains(argv, "--gpg-sign")
	for _, file := range []string{filepath.Join(x.plan.Home, ".config/git/config"), filepath.Join(x.plan.Home, ".gitconfig"), filepath.Join(x.plan.Workspace, ".git/config")} {
		text, err := x.files.ReadFile(file)
		if err != nil {
			continue
		}
		_ = gitrepo.ParseConfig(file, text, func(e gitrepo.Entry) error {
			if e.Key == "commit.gpgsign" || e.Key == "tag.gpgsign" && slices.Contains(argv, "tag") {
				wanted = slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(e.Value))
			}
			return nil
		})
	}
	return wanted
}
