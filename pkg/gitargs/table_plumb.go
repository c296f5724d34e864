package gitargs

// plumbing commands write objects, refs and index entries directly, or serve other repositories.
var plumbing = [...]command{
	{name: "update-ref", class: "refs history", opts: "m= d no-deref z stdin create-reflog batch-updates", read: readUpdateRef},
	{name: "symbolic-ref", class: "refs", opts: "q,quiet d,delete short recurse m=", read: readSymbolicRef},
	{name: "update-index", class: "index", opts: "q ignore-submodules add replace remove unmerged refresh really-refresh cacheinfo= chmod= " +
		"assume-unchanged no-assume-unchanged skip-worktree no-skip-worktree ignore-skip-worktree-entries " +
		"info-only force-remove z stdin index-info unresolve g,again ignore-missing verbose clear-resolve-undo " +
		"index-version= split-index untracked-cache test-untracked-cache force-untracked-cache force-write-index " +
		"fsmonitor fsmonitor-valid no-fsmonitor-valid show-index-version again"},
	{name: "read-tree", class: "index", opts: "index-output= empty v,verbose m trivial aggressive reset prefix= u exclude-per-directory= i n,dry-run " +
		"no-sparse-checkout debug-unpack recurse-submodules? q,quiet", read: readReadTree},
	{name: "checkout-index", class: "worktree", opts: "a,all ignore-skip-worktree-bits f,force q,quiet n,no-create u,index z stdin temp prefix= stage=", read: readCheckoutIndex},
	{name: "checkout--worker", class: "worktree", opts: "prefix="},
	{name: "merge-file", class: "worktree", opts: "p,stdout diff3 zdiff3 ours theirs union marker-size= q,quiet L= diff-algorithm= object-id", read: readMergeFile},
	{name: "merge-index", class: "worktree index exec", opts: "a o q", stop: true, read: readMergeIndex},
	{name: "merge-one-file", opts: "*", class: "worktree index", away: true},
	{name: "merge-ours", opts: "*", class: "index"}, {name: "merge-recursive", opts: "*", class: "worktree index"}, {name: "merge-recursive-ours", opts: "*", class: "worktree index"},
	{name: "merge-recursive-theirs", opts: "*", class: "worktree index"}, {name: "merge-subtree", opts: "*", class: "worktree index"}, {name: "merge-octopus", opts: "*", class: "worktree index", away: true}, {name: "merge-resolve", opts: "*", class: "worktree index", away: true},
	{name: "commit-tree", class: "index", opts: "p= m= F= S,gpg-sign? no-gpg-sign", read: readCommitTree},
	{name: "write-tree", class: "index", opts: "missing-ok prefix= ignore-cache-tree"},
	{name: "mktree", class: "index", opts: "z missing batch"}, {name: "mktag", class: "index", opts: "strict"},
	{name: "hash-object", class: "read", opts: "t= w stdin stdin-paths no-filters literally path=", read: readHashObject},
	{name: "unpack-file", class: "worktree"}, {name: "unpack-objects", class: "index", opts: "n q r strict max-input-size="},
	{name: "index-pack", class: "index", opts: "v o= stdin fix-thin keep? strict fsck-objects threads= index-version= max-input-size= object-format= promisor? rev-index verify verify-stat progress-title= check-self-contained-and-connected", read: readNamed},
	{name: "pack-objects", class: "index", opts: "q,quiet progress all-progress all-progress-implied index-version= max-pack-size= local incremental " +
		"window= window-memory= depth= reuse-delta reuse-object delta-base-offset threads= non-empty revs " +
		"unpacked all reflog indexed-objects stdin-packs stdout include-tag keep-unreachable " +
		"pack-loose-unreachable unpack-unreachable? cruft cruft-expiration? sparse thin shallow honor-pack-keep " +
		"keep-pack= compression= keep-true-parents use-bitmap-index write-bitmap-index filter= missing= " +
		"exclude-promisor-objects delta-islands uri-protocol= write-bitmap-index-quiet"}, {name: "pack-redundant", class: "read", opts: "all alt-odb verbose i-still-use-this", away: true},
	{name: "fast-import", class: "refs index history", opts: "force quiet stats allow-unsafe-features cat-blob-fd= date-format= done export-marks= import-marks= import-marks-if-exists= relative-marks rewrite-submodules-from= rewrite-submodules-to= active-branches= big-file-threshold= depth= export-pack-edges= max-pack-size= signed-commits= signed-tags=", read: readFastImport},
	{name: "fast-export", class: "read", opts: "progress= signed-tags= tag-of-filtered-object= reencode= export-marks= import-marks= " +
		"import-marks-if-exists= fake-missing-tagger full-tree use-done-feature no-data refspec= anonymize " +
		"anonymize-map= reference-excluded-parents show-original-ids mark-tags signed-commits=" + " " + revOptions, read: readFastExport},
	{name: "mailinfo", class: "worktree", opts: "k b m,message-id u n encoding= scissors quoted-cr= inbody-headers", read: readMailinfo}, {name: "mailsplit", class: "worktree", opts: "d= f= b keep-cr mboxrd o=", read: readNamed},
	{name: "submodule--helper", opts: "*", class: "exec", subs: "-"}, {name: "submodule--helper foreach", class: "exec", opts: "q,quiet recursive", stop: true, read: readForeach}, {name: "bisect--helper", opts: "*", class: "exec", stop: true}, {name: "difftool--helper", opts: "*", class: "exec", stop: true, away: true},
	{name: "add--interactive", opts: "*", class: "worktree index exec", away: true}, {name: "sh-i18n--envsubst", opts: "*", class: "read", away: true},
	{name: "mergetool--lib", opts: "*", class: "exec", away: true}, {name: "sh-setup", opts: "*", class: "read", away: true}, {name: "sh-i18n", opts: "*", class: "read", away: true},
	{name: "env--helper", opts: "*", class: "read", stop: true}, {name: "remote-ext", opts: "*", class: "exec remote", stop: true, read: readRemoteExt},
	{name: "remote-fd", opts: "*", class: "remote", read: readRemoteHelper}, {name: "remote-http", opts: "*", class: "remote", away: true, read: readRemoteHelper}, {name: "remote-https", opts: "*", class: "remote", away: true, read: readRemoteHelper}, {name: "remote-ftp", opts: "*", class: "remote", away: true, read: readRemoteHelper}, {name: "remote-ftps", opts: "*", class: "remote", away: true, read: readRemoteHelper}, {name: "http-fetch", opts: "*", class: "refs remote", away: true},
	{name: "receive-pack", class: "refs", opts: "q,quiet stateless-rpc http-backend-info-refs advertise-refs reject-thin-pack-for-testing"},
	{name: "upload-pack", class: "read", opts: "stateless-rpc strict timeout= http-backend-info-refs advertise-refs"}, {name: "upload-archive", opts: "*", class: "read"}, {name: "upload-archive--writer", opts: "*", class: "read"},
}
