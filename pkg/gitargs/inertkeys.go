package gitargs

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"ethos/pkg/lazy"
)

// Inert reports whether a setting of a repository's own configuration only changes how git's own
// code behaves inside that repository: it starts no program, names no file to read or write, and
// leads to no other configuration. It is an allow-list of what git itself writes (init, clone,
// remote, branch, submodule, worktree, sparse-checkout, maintenance, push -u) and of frequent
// harmless settings. Every other key, known or not, is not inert. key is canonical.
//
// core.worktree and include.path are not inert: only a caller that can examine the file system can
// tell whether they lead elsewhere.
func Inert(key, value string) bool {
	if strings.ContainsAny(value, "\x00\r\n") {
		return false
	}
	if check, ok := inertKeys.Get()[key]; ok {
		return check(value)
	}
	section, rest, _ := strings.Cut(key, ".")
	last := strings.LastIndexByte(rest, '.')
	variable := rest[last+1:]
	if last < 0 {
		return inertSection(section, value)
	}
	if strings.ContainsAny(rest[:last], "\x00\r\n") {
		return false
	}
	switch section {
	case "url":
		_, local := localPath(rest[:last]) // what it begins could lead anywhere
		return (variable == "insteadof" || variable == "pushinsteadof") && plainURL(rest[:last]) && !local
	case "filter":
		return plainLFS(key, value) || key == "filter.lfs.required" && boolean(value)
	}
	check, ok := inertKeys.Get()[section+".*."+variable]
	return ok && check(value)
}

// inertSection reports whether a section is one in which all variables without a subsection have
// one kind of value, and whether this is of that kind: git-config(1), advice.* and column.*.
func inertSection(section, value string) bool {
	switch section {
	case "advice":
		return boolean(value)
	case "column", "color":
		return word(value)
	case "alias":
		return gitWord(value)
	}
	return false
}

// inertKeys maps settings to the check of their values. A "*" stands for a subsection.
var inertKeys = lazy.Value[map[string]func(string) bool]{Make: func() map[string]func(string) bool {
	return map[string]func(string) bool{
		"core.repositoryformatversion": number, "core.filemode": boolean, "core.bare": boolean, "core.logallrefupdates": word, "core.symlinks": boolean,
		"core.ignorecase": boolean, "core.precomposeunicode": boolean, "core.hidedotfiles": word, "core.autocrlf": word, "core.eol": word, "core.safecrlf": word,
		"core.sparsecheckout": boolean, "core.sparsecheckoutcone": boolean, "core.quotepath": boolean, "core.untrackedcache": word, "core.fsmonitor": boolean,
		"core.splitindex": boolean, "core.preloadindex": boolean, "core.multipackindex": boolean, "core.commitgraph": boolean, "core.longpaths": boolean,
		"core.fscache": boolean, "core.compression": number, "core.loosecompression": number, "core.bigfilethreshold": word, "core.abbrev": word,
		"core.trustctime": boolean, "core.checkstat": word, "core.whitespace": word, "core.commentchar": word,
		// Anyone else who can write to a repository can make its owner run something.
		"core.sharedrepository": oneOf("0", "1", "false", "true", "umask", "group"),

		"extensions.objectformat": oneOf("sha1", "sha256"), "extensions.refstorage": oneOf("files", "reftable"), "extensions.worktreeconfig": boolean,
		"extensions.partialclone": word, "extensions.noop": anyText, "extensions.noop-v1": anyText, "extensions.preciousobjects": boolean,
		"extensions.compatobjectformat": oneOf("sha1", "sha256"), "extensions.relativeworktrees": boolean, "extensions.submodulepathconfig": boolean,

		"user.name": anyText, "user.email": anyText, "user.signingkey": anyText, "user.useconfigonly": boolean,
		"author.name": anyText, "author.email": anyText, "committer.name": anyText, "committer.email": anyText,
		"commit.gpgsign": isFalse, "commit.status": boolean, "commit.verbose": word, "commit.cleanup": word,
		"tag.gpgsign": isFalse, "tag.forcesignannotated": isFalse, "tag.sort": word, "gpg.format": oneOf("openpgp", "x509", "ssh"),

		"remote.*.url": plainURL, "remote.*.pushurl": plainURL, "remote.*.fetch": anyText, "remote.*.push": anyText, "remote.*.tagopt": oneOf("--tags", "--no-tags"),
		"remote.*.prune": boolean, "remote.*.prunetags": boolean, "remote.*.mirror": boolean, "remote.*.promisor": boolean, "remote.*.partialclonefilter": filterSpec,
		"remote.*.skipfetchall": boolean, "remote.*.skipdefaultupdate": boolean, "remote.*.followremotehead": word, "remote.*.gh-resolved": word,
		"remote.pushdefault": plainURL,

		"branch.*.remote": plainURL, "branch.*.merge": anyText, "branch.*.rebase": word, "branch.*.pushremote": plainURL, "branch.*.description": anyText,
		"branch.*.vscode-merge-base": anyText, "branch.*.gh-merge-base": anyText, "branch.*.github-pr-owner-number": anyText,
		"branch.autosetupmerge": word, "branch.autosetuprebase": word, "branch.sort": word,

		"submodule.*.url": plainURL, "submodule.*.active": boolean, "submodule.*.update": oneOf("checkout", "rebase", "merge", "none"), "submodule.*.branch": anyText,
		"submodule.*.ignore": word, "submodule.*.fetchrecursesubmodules": word, "submodule.active": anyText, "submodule.recurse": boolean,
		"submodule.fetchjobs": number, "submodule.propagatebranches": boolean, "submodule.alternatelocation": oneOf("no", "superproject"), "submodule.alternateerrorstrategy": word,

		"pull.rebase": word, "pull.ff": word, "push.default": word, "push.autosetupremote": boolean, "push.followtags": boolean, "push.recursesubmodules": word,
		"push.useforceifincludes": boolean, "fetch.prune": boolean, "fetch.prunetags": boolean, "fetch.parallel": number, "fetch.recursesubmodules": word,
		"fetch.writecommitgraph": boolean, "fetch.unpacklimit": number, "fetch.showforcedupdates": boolean, "fetch.fsckobjects": boolean, "transfer.fsckobjects": boolean,
		"transfer.unpacklimit": number, "merge.ff": word, "merge.conflictstyle": word, "merge.log": word, "merge.stat": word, "merge.renames": word, "merge.renamelimit": number,
		"merge.autostash": boolean, "rebase.autostash": boolean, "rebase.autosquash": boolean, "rebase.updaterefs": boolean, "rebase.stat": boolean,
		"rerere.enabled": boolean, "rerere.autoupdate": boolean, "checkout.defaultremote": word, "checkout.guess": boolean, "checkout.workers": number,
		"clone.defaultremotename": word, "init.defaultbranch": anyText, "am.keepcr": boolean, "am.threeway": boolean,

		"status.aheadbehind": boolean, "status.branch": boolean, "status.short": boolean, "status.showstash": boolean, "status.showuntrackedfiles": word, "status.submodulesummary": word,
		"log.date": anyText, "log.abbrevcommit": boolean, "log.decorate": word, "log.follow": boolean, "log.excludedecoration": anyText,
		"diff.renames": word, "diff.renamelimit": number, "diff.algorithm": word, "diff.colormoved": word, "diff.context": number, "diff.mnemonicprefix": boolean,
		"diff.noprefix": boolean, "diff.indentheuristic": boolean, "diff.submodule": word, "diff.ignoresubmodules": word, "grep.linenumber": boolean,

		"index.version": number, "index.threads": word, "index.sparse": boolean, "index.skiphash": boolean, "index.recordendofindexentries": boolean, "index.recordoffsettable": boolean,
		"feature.manyfiles": boolean, "feature.experimental": boolean, "pack.usebitmaps": boolean, "pack.usesparse": boolean, "pack.threads": number, "pack.writereverseindex": boolean,
		"commitgraph.generationversion": number, "commitgraph.maxnewfilters": number, "gui.gcwarning": boolean,
		"gc.auto": number, "gc.autodetach": boolean, "gc.autopacklimit": number, "gc.pruneexpire": word, "gc.worktreepruneexpire": word, "gc.reflogexpire": word,
		"gc.reflogexpireunreachable": word, "gc.writecommitgraph": boolean, "gc.cruftpacks": boolean,
		"maintenance.auto": boolean, "maintenance.strategy": word, "maintenance.*.enabled": boolean, "maintenance.*.schedule": word, "maintenance.*.auto": number,
		"receive.autogc": boolean, "receive.denycurrentbranch": word, "receive.denynonfastforwards": boolean, "receive.denydeletes": boolean,
		"receive.fsckobjects": boolean, "receive.shallowupdate": boolean, "uploadpack.allowfilter": boolean, "uploadpack.allowanysha1inwant": boolean, "uploadpack.allowreachablesha1inwant": boolean,
		"http.postbuffer": number, "http.version": word, "http.lowspeedlimit": number, "http.lowspeedtime": number, "http.*.extraheader": anyText,
		"credential.usehttppath": boolean, "credential.*.usehttppath": boolean, "credential.username": anyText, "credential.*.username": anyText, "credential.validate": boolean,
		"i18n.commitencoding": word, "i18n.logoutputencoding": word, "worktree.guessremote": boolean, "worktree.userelativepaths": boolean,
		"lfs.repositoryformatversion": number, "lfs.*.access": word, "lfs.*.locksverify": boolean,
		"protocol.version": number, "protocol.allow": oneOf("never"), "protocol.*.allow": oneOf("never"),
		"credential.helper": oneOf(""), "credential.*.helper": oneOf(""),
	}
}}

func anyText(string) bool { return true }

// boolean reports whether git_parse_maybe_bool of parse.c accepts a value.
func boolean(value string) bool { return isTrue(value) || isFalse(value) || number(value) }

// number reports whether a value is an integer with an optional unit.
func number(value string) bool {
	value = strings.TrimPrefix(value, "-")
	return value != "" && strings.Trim(value[:len(value)-1], "0123456789") == "" && strings.ContainsAny(value[len(value)-1:], "0123456789kKmMgG")
}

// word reports whether a value can be neither a path nor a command line.
func word(value string) bool {
	return !strings.HasPrefix(value, "-") && strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,._:@#;-") == ""
}

// filterSpec reports whether a value is the filter of a partial clone:
// list-objects-filter-options.c.
func filterSpec(value string) bool {
	return strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789:=+%ABCDEF") == "" && !strings.HasPrefix(value, "-")
}

func oneOf(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, value) }
}

// gitWord reports whether a value is an alias for a git command that only works on the repository,
// without options.
func gitWord(value string) bool {
	return slices.Contains(strings.Fields("add am branch checkout cherry-pick commit diff fetch log merge pull push rebase remote reset restore revert shortlog show stash status switch tag worktree"), value)
}

// plainURL reports whether git reaches an address by a transport of its own, or whether it is the
// name of a remote. The host and the path must not be options: connect.c, CVE-2017-1000117.
func plainURL(value string) bool {
	if value == "" || strings.HasPrefix(value, "-") || helper(value) {
		return false
	}
	if at, local := localPath(value); local && keptByEthos(at) {
		return false
	}
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok { // a path, a name, or host:path
		host, path, _ := strings.Cut(value, ":")
		return !optionHost(host) && !strings.HasPrefix(path, "-")
	}
	host, path, _ := strings.Cut(rest, "/")
	return slices.Contains([]string{"https", "http", "ssh", "git", "file", "git+ssh", "ssh+git"}, scheme) && !optionHost(host) && !strings.HasPrefix(path, "-")
}

// localPath returns the path of an address on this machine: connect.c, url_is_local_not_ssh, and
// url.c, which decodes it.
func localPath(value string) (at string, local bool) {
	if rest, ok := strings.CutPrefix(strings.ToLower(value), "file://"); ok {
		if plain, err := url.PathUnescape(rest); err == nil {
			rest = plain
		}
		return rest, true
	}
	if strings.Contains(value, "://") {
		return "", false
	}
	before, _, remote := strings.Cut(value, ":")
	return value, !remote || strings.Contains(before, "/")
}

// keptByEthos reports whether a path leads into what a command has written to a directory of ethos:
// its caches, and what was put aside. No search enters them, and git push runs the hooks there.
func keptByEthos(at string) bool {
	above := ""
	for name := range strings.SplitSeq(strings.ToLower(path.Clean(at)), "/") {
		if (above == "coding-ethos" || above == ".coding-ethos") && (name == "cache" || name == "quarantine") {
			return true
		}
		above = name
	}
	return false
}

// helper reports whether an address names a program git-remote-NAME: NAME::rest.
func helper(value string) bool {
	name, _, ok := strings.Cut(value, "::")
	return ok && !strings.ContainsAny(name, "/:@[")
}

// optionHost reports whether a part of user@host begins like an option.
func optionHost(host string) bool {
	for part := range strings.SplitSeq(host, "@") {
		if strings.HasPrefix(part, "-") {
			return true
		}
	}
	return false
}
