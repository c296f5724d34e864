package gitargs

// keeping commands set up, configure and maintain a repository.
var keeping = [...]command{
	{name: "init", class: "worktree config", opts: "template= bare shared? q,quiet separate-git-dir= b,initial-branch= object-format= ref-format=", read: readInit},
	{name: "init-db", class: "worktree config", opts: "template= bare shared? q,quiet separate-git-dir= b,initial-branch= object-format= ref-format=", read: readInit},
	{name: "config", class: "config", opts: "global system local worktree f,file= blob= get get-all get-regexp get-urlmatch replace-all add unset " +
		"unset-all rename-section remove-section l,list fixed-value e,edit get-color get-colorbool t,type= bool " +
		"int bool-or-int bool-or-str path expiry-date z,null name-only includes show-origin show-scope default= " +
		"comment= all regexp= value= show-names url= append", stop: true, read: readConfig},
	{name: "gc", class: "history", opts: "q,quiet prune? cruft aggressive auto force keep-largest-pack max-cruft-size= detach expire-to=", read: readGC},
	{name: "prune", class: "history", opts: "n,dry-run v,verbose progress expire= exclude-promisor-objects", read: readPrune},
	{name: "prune-packed", class: "index", opts: "n,dry-run q,quiet", read: readDryRun},
	{name: "repack", class: "history", opts: "a A cruft cruft-expiration= d f F n q,quiet l,local b,write-bitmap-index i,delta-islands " +
		"unpack-unreachable= k,keep-unreachable window= window-memory= depth= threads= max-pack-size= " +
		"pack-kept-objects keep-pack= g,geometric= m,write-midx expire-to= max-cruft-size= filter= filter-to= " +
		"path-walk name-hash-version= combine-cruft-below-size=", read: readRepack},
	{name: "reflog", class: "read", subs: "show"},
	{name: "reflog show", class: "read", opts: revOptions + " " + diffOptions, read: readOutput},
	{name: "reflog list", class: "read"}, {name: "reflog exists", class: "read"},
	{name: "reflog expire", class: "refs history", opts: "dry-run rewrite updateref verbose expire= expire-unreachable= stale-fix all n,dry-run " +
		"single-worktree all", read: readReflog},
	{name: "reflog delete", class: "refs history", opts: "dry-run rewrite updateref verbose n,dry-run", read: readReflog},
	{name: "reflog drop", class: "refs history", opts: "all single-worktree", read: readReflog},
	{name: "reflog write", class: "refs"},
	{name: "maintenance", class: "read", subs: "-"},
	{name: "maintenance run", class: "history", opts: "auto schedule= quiet task= detach"},
	{name: "maintenance start", class: "config exec", opts: "scheduler="},
	{name: "maintenance stop", class: "config exec"},
	{name: "maintenance register", class: "config", opts: "config-file="}, {name: "maintenance unregister", class: "config", opts: "config-file= f,force"},
	{name: "maintenance is-needed", class: "read", opts: "auto task="},
	{name: "commit-graph", class: "read", opts: "object-dir=", subs: "-"},
	{name: "commit-graph verify", class: "read", opts: "object-dir= shallow progress"},
	{name: "commit-graph write", class: "index", opts: "object-dir= reachable stdin-packs stdin-commits append changed-paths split? max-commits= size-multiple= " +
		"expire-time= max-new-filters= progress"},
	{name: "multi-pack-index", class: "read", opts: "object-dir=", subs: "-"},
	{name: "multi-pack-index verify", class: "read", opts: "object-dir= progress"},
	{name: "multi-pack-index write", class: "index", opts: "object-dir= preferred-pack= bitmap progress stdin-packs refs-snapshot="},
	{name: "multi-pack-index expire", class: "index", opts: "object-dir= progress"},
	{name: "multi-pack-index repack", class: "index", opts: "object-dir= batch-size= progress"},
	{name: "pack-refs", class: "refs", opts: "all prune auto include= exclude="},
	{name: "refs", class: "read", subs: "-"},
	{name: "refs verify", class: "read", opts: "verbose strict"}, {name: "refs list", class: "read"}, {name: "refs exists", class: "read"},
	{name: "refs migrate", class: "refs", opts: "ref-format= dry-run no-reflog", read: readDryRun},
	{name: "refs optimize", class: "refs", opts: "all prune auto include= exclude="},
	{name: "update-server-info", class: "refs", opts: "f,force"},
	{name: "replace", class: "refs", opts: "l,list d,delete e,edit g,graft convert-graft-file f,force raw format=", read: readReplace},
	{name: "backfill", class: "index remote", opts: "min-batch-size= sparse"},
	{name: "fsmonitor--daemon", opts: "*", class: "exec"},
	{name: "hook", class: "exec", subs: "-"},
	{name: "hook run", class: "exec", opts: "ignore-missing to-stdin=", stop: true}, {name: "hook list", class: "read"},
	{name: "for-each-repo", class: "exec", opts: "config= keep-going", stop: true, read: readForEachRepo},
	{name: "credential", class: "exec", subs: "-"},
	{name: "credential fill", class: "exec", read: readCredential}, {name: "credential approve", class: "exec"}, {name: "credential reject", class: "exec"}, {name: "credential capability", class: "read"},
	{name: "credential-store", class: "exec", opts: "file=", read: readCredential},
	{name: "credential-cache", class: "exec", opts: "timeout= socket=", read: readCredential},
	{name: "credential-cache--daemon", class: "exec", opts: "debug"},
	{name: "daemon", opts: "*", class: "exec", away: true, read: readDaemon}, {name: "http-backend", opts: "*", class: "exec", away: true}, {name: "shell", opts: "*", class: "exec", stop: true, away: true},
}
