package quarantine

import (
	"path/filepath"
	"strings"

	"ethos/pkg/lazy"
)

// role is what git uses a part of a git directory for, by its name:
// gitrepository-layout(5), path.c, and GIT_PATH_FUNC in git's source.
type role int

const (
	unknown   role = iota // git does not create it
	data                  // a file that git neither runs nor reads as a path
	checked               // a file whose text must be what git writes: see checks
	settings              // a configuration file
	indexFile             // an index
	todoFile              // the todo list of a rebase, cherry-pick or revert
	pointer               // a file that names a git directory
	treeName              // a file that names the .git file of a work tree
	subtree               // a directory of directories and files with any names
	empty                 // a directory that may hold nothing that git would use
	hooksDir              // the hooks directory
	listed                // a directory in which every name is known
	modules               // a directory of git directories, at any depth
	worktrees             // a directory of git directories
)

// topLevel maps the names in a git directory to their roles.
var topLevel = lazy.Value[map[string]role]{Make: func() map[string]role {
	return map[string]role{
		"HEAD": checked, "config": settings, "config.worktree": settings, "index": indexFile, "commondir": pointer, "gitdir": treeName,
		"description": data, "packed-refs": data, "shallow": data, "gc.pid": data, "gc.log": data, "locked": data, "rebased-patches": data,
		"addp-hunk-edit.diff": data, "ADD_EDIT.patch": data, "gitk.cache": data, "git-daemon-export-ok": data,
		"MERGE_RR": checked, "BISECT_NAMES": checked, "BISECT_START": checked, "BISECT_TERMS": checked, "MERGE_AUTOSTASH": checked, "head-name": checked,
		"objects": subtree, "refs": subtree, "logs": subtree, "lost-found": subtree, "rr-cache": subtree, "NOTES_MERGE_WORKTREE": subtree,
		"lfs": subtree, "svn": subtree, "fsmonitor--daemon": subtree, "reftable": listed,
		"hooks": hooksDir, "info": listed, "rebase-merge": listed, "rebase-apply": listed, "sequencer": listed,
		"branches": empty, "remotes": empty, "modules": modules, "worktrees": worktrees,
		filepath.Base(keptInGit): listed, // a parallel run uses it as a placeholder; nothing may be in it
	}
}}

// inside maps the file names in directories in which every name is known.
var inside = lazy.Value[map[string]map[string]role]{Make: func() map[string]map[string]role {
	return map[string]map[string]role{
		"info":         with(roles(data, "exclude sparse-checkout refs grafts lefthook.checksum packs commit-graph"), map[string]role{"attributes": checked}),
		"objects/info": {"packs": data, "commit-graph": data, "commit-graphs": subtree, "alternates": checked},
		"sequencer":    {"todo": todoFile, "opts": checked, "head": checked, "abort-safety": checked},
		"rebase-merge": with(roles(data, `allow_rerere_autoupdate rerere-autoupdate cdate_is_adate current-fixups drop_redundant_commits dropped ignore_date interactive
		keep_redundant_commits message message-fixup message-squash no-reschedule-failed-exec patch quiet refs-to-delete reschedule-failed-exec rewritten-list
		rewritten-pending root-commit signoff squash-onto stopped-sha update-refs verbose`), map[string]role{
			"git-rebase-todo": todoFile, "git-rebase-todo.backup": todoFile, "done": todoFile, "strategy": checked, "strategy_opts": checked, "gpg_sign_opt": checked,
			"author-script": checked, "autostash": checked, "onto": checked, "orig-head": checked, "amend": checked,
			"head-name": checked, "msgnum": checked, "end": checked,
		}),
		"rebase-apply": with(roles(data, `abort-safety allow_rerere_autoupdate applying dirtyindex final-commit head info keep messageid msg msg-clean no-verify no_inbody_headers
		patch patch-merge-index quiet quoted-cr rebasing rerere-autoupdate rewritten scissors sign signoff threeway utf8 verbose`), map[string]role{
			"apply-opt": checked, "author-script": checked, "autostash": checked, "onto": checked, "orig-head": checked, "original-commit": checked, "stopped-sha": checked,
			"strategy": checked, "strategy_opts": checked, "gpg_sign_opt": checked,
			"head-name": checked, "next": checked, "last": checked,
		}),
		"reftable": {"tables.list": checked},
	}
}}

// checks holds the checks for files whose text must be what git writes.
var checks = lazy.Value[map[string]check]{Make: func() map[string]check {
	return map[string]check{
		"HEAD": head, "MERGE_RR": mergeRR, "BISECT_NAMES": quotedWords.check, "BISECT_START": noOption.check, "BISECT_TERMS": terms.check, "MERGE_AUTOSTASH": objectName.check,
		"sequencer/opts": sequencerOptions, "sequencer/head": objectName.check, "sequencer/abort-safety": objectName.check,
		"rebase-merge/strategy": strategy, "rebase-merge/strategy_opts": strategyWords.check, "rebase-merge/gpg_sign_opt": signOption.check, "rebase-merge/author-script": authorScript.check,
		"rebase-merge/autostash": objectName.check, "rebase-merge/onto": objectName.check, "rebase-merge/orig-head": objectName.check, "rebase-merge/amend": objectName.check,
		"rebase-apply/apply-opt": applyOptions.check, "rebase-apply/author-script": authorScript.check, "rebase-apply/autostash": objectName.check, "rebase-apply/onto": objectName.check,
		"rebase-apply/orig-head": objectName.check, "rebase-apply/original-commit": objectName.check, "rebase-apply/stopped-sha": objectName.check,
		"rebase-apply/strategy": strategy, "rebase-apply/strategy_opts": strategyWords.check, "rebase-apply/gpg_sign_opt": signOption.check,
		"reftable/tables.list": tables.check, "info/attributes": nothing,
		"head-name": headName.check, "rebase-merge/head-name": headName.check, "rebase-apply/head-name": headName.check,
		"rebase-merge/msgnum": counter.check, "rebase-merge/end": counter.check, "rebase-apply/next": counter.check, "rebase-apply/last": counter.check,
	}
}}

func roles(r role, names string) map[string]role {
	all := map[string]role{}
	for name := range strings.FieldsSeq(names) {
		all[name] = r
	}
	return all
}

func with(all, more map[string]role) map[string]role {
	for name, r := range more {
		all[name] = r
	}
	return all
}

// roleOf returns the role of a name in a part of a git directory; part is ""
// for the top.
func roleOf(part, name string) role {
	if part != "" {
		if r, ok := inside.Get()[part][name]; ok {
			return r
		}
		return numbered(part, name)
	}
	if r, ok := topLevel.Get()[name]; ok {
		return r
	}
	if r, ok := topLevel.Get()[strings.ToLower(name)]; ok { // the same file on a case-insensitive file system
		return r
	}
	switch {
	case strings.HasSuffix(name, ".lock"), temporary(name), capitals(name):
		return data
	case strings.HasPrefix(name, "index."), strings.HasPrefix(name, "sharedindex."):
		return indexFile
	}
	return unknown
}

// numbered returns the role of names with a number in a listed directory: mails
// of git am, and tables.
func numbered(part, name string) role {
	switch {
	case strings.HasSuffix(name, ".lock"):
		return data
	case part == "rebase-apply" && strings.Trim(name, "0123456789") == "":
		return data
	case part == "reftable" && (tables.check(name+"\n") == "" || strings.HasPrefix(name, "tables.list.")):
		return data
	case part == "objects/info" && strings.HasPrefix(name, "tmp_"), part == "rebase-merge" && strings.HasPrefix(name, "rewritten"):
		return data
	}
	return unknown
}

// temporary reports names that git creates for a short time and leaves behind
// when it is killed: index.c, shallow.c, fast-import.c.
func temporary(name string) bool {
	for _, prefix := range []string{"shallow_", "sharedindex_", "fast_import_crash_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// capitals reports the names of pseudo-refs and message files, such as
// FETCH_HEAD: refs.c, is_pseudoref_syntax.
func capitals(name string) bool {
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-0123456789") == "" && name[0] >= 'A' && name[0] <= 'Z'
}
