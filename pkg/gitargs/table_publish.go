package gitargs

// publishing commands communicate with other repositories.
var publishing = [...]command{
	{name: "push", class: "remote", opts: "v,verbose q,quiet repo= all mirror d,delete tags n,dry-run porcelain f,force force-with-lease? " +
		"force-if-includes recurse-submodules= thin receive-pack= exec= u,set-upstream progress prune no-verify " +
		"follow-tags signed? atomic o,push-option= 4,ipv4 6,ipv6 all,branches force-with-lease?", read: readPush},
	{name: "send-pack", class: "remote", opts: "v,verbose q,quiet receive-pack= exec= remote= all n,dry-run mirror f,force signed? push-option= progress " +
		"thin atomic stateless-rpc stdin helper-status force-with-lease? force-if-includes", read: readPush},
	{name: "http-push", class: "remote", opts: "all dry-run force verbose d D", away: true, read: readPush},
	{name: "fetch", class: "refs remote", opts: "v,verbose q,quiet all set-upstream a,append atomic upload-pack= f,force m,multiple t,tags n j,jobs= " +
		"prefetch p,prune P,prune-tags recurse-submodules? dry-run write-fetch-head k,keep u,update-head-ok " +
		"progress depth= shallow-since= shallow-exclude= deepen= unshallow refetch update-shallow refmap= " +
		"o,server-option= 4,ipv4 6,ipv6 negotiation-tip= negotiate-only filter= auto-maintenance auto-gc " +
		"show-forced-updates write-commit-graph stdin submodule-prefix= recurse-submodules-default= porcelain " +
		"filter= negotiate-only", read: readFetch},
	{name: "fetch-pack", class: "remote", opts: "all stdin q,quiet k,keep thin include-tag upload-pack= exec= depth= shallow-since= shallow-exclude= deepen-relative refetch no-progress check-self-contained-and-connected v cloning update-shallow from-promisor diag-url filter=", read: readFetch},
	{name: "pull", class: "worktree index refs remote", opts: "v,verbose q,quiet progress recurse-submodules? r,rebase? n stat log? signoff? squash commit edit " +
		"cleanup= ff ff-only verify verify-signatures autostash s,strategy= X,strategy-option= S,gpg-sign? " +
		"allow-unrelated-histories all a,append upload-pack= f,force t,tags p,prune j,jobs? dry-run k,keep depth= " +
		"shallow-since= shallow-exclude= deepen= unshallow update-shallow refmap= o,server-option= 4,ipv4 6,ipv6 " +
		"negotiation-tip= show-forced-updates set-upstream summary porcelain n,no-stat compact-summary", read: readPull},
	{name: "clone", class: "worktree index refs config remote", opts: "v,verbose q,quiet progress reject-shallow n,no-checkout bare mirror l,local no-hardlinks s,shared " +
		"recurse-submodules? recursive? j,jobs= template= reference= reference-if-able= dissociate o,origin= " +
		"b,branch= u,upload-pack= depth= shallow-since= shallow-exclude= single-branch no-tags shallow-submodules " +
		"separate-git-dir= c,config= server-option= 4,ipv4 6,ipv6 filter= also-filter-submodules " +
		"remote-submodules sparse bundle-uri= naked revision= ref-format= tags", read: readClone},
	{name: "ls-remote", class: "read remote", opts: "q,quiet upload-pack= t,tags h,heads refs get-url sort= exit-code symref o,server-option= exec= branches", read: readFetch},
	{name: "remote", class: "read", opts: "v,verbose", subs: "list"},
	{name: "remote list", class: "read", opts: "v,verbose"},
	{name: "remote add", class: "config", opts: "f,fetch tags t,track= m,master= mirror?", read: readRemoteAdd},
	{name: "remote rename", class: "config refs", opts: "progress"},
	{name: "remote remove", class: "config refs"}, {name: "remote rm", class: "config refs"},
	{name: "remote set-head", class: "refs", opts: "a,auto d,delete"},
	{name: "remote set-branches", class: "config", opts: "add"},
	{name: "remote get-url", class: "read", opts: "push all"},
	{name: "remote set-url", class: "config", opts: "push add delete", read: readRemoteSetURL},
	{name: "remote show", class: "read remote", opts: "n"},
	{name: "remote prune", class: "refs remote", opts: "n,dry-run", read: readDryRun},
	{name: "remote update", class: "refs remote", opts: "p,prune"},
	{name: "submodule", class: "read", opts: "q,quiet cached", subs: "status", away: true},
	{name: "submodule status", class: "read", opts: "q,quiet cached recursive"},
	{name: "submodule summary", class: "read", opts: "cached files for-status n,summary-limit="},
	{name: "submodule add", class: "worktree index config remote", opts: "b,branch= f,force q,quiet progress reference= dissociate name= depth= ref-format=", read: readSubmodule},
	{name: "submodule update", class: "worktree refs remote", opts: "f,force init remote recursive N,no-fetch checkout m,merge r,rebase reference= dissociate depth= j,jobs= " +
		"recommend-shallow q,quiet progress require-init single-branch filter= recursive ref-format=", read: readSubmodule},
	{name: "submodule init", class: "config", opts: "q,quiet"},
	{name: "submodule sync", class: "config", opts: "q,quiet recursive"},
	{name: "submodule deinit", class: "worktree config", opts: "q,quiet f,force all", read: readSubmoduleDeinit},
	{name: "submodule set-branch", class: "worktree", opts: "q,quiet d,default b,branch="},
	{name: "submodule set-url", class: "worktree config", opts: "q,quiet"},
	{name: "submodule absorbgitdirs", class: "worktree"},
	{name: "submodule foreach", class: "exec", opts: "q,quiet recursive", stop: true, read: readForeach},
	{name: "bundle", class: "read", subs: "-"},
	{name: "bundle create", class: "worktree", opts: "q,quiet progress all-progress all-progress-implied version=" + " " + revOptions, stop: true, read: readBundleCreate},
	{name: "bundle verify", class: "read", opts: "q,quiet"}, {name: "bundle list-heads", class: "read"},
	{name: "bundle unbundle", class: "index", opts: "progress"},
	{name: "send-email", class: "remote", opts: "from= to= cc= bcc= subject= reply-to= in-reply-to= compose annotate 8bit-encoding= compose-encoding= transfer-encoding= xmailer sender= envelope-sender= smtp-encryption= smtp-domain= smtp-pass? smtp-server= smtp-server-option= smtp-server-port= smtp-ssl smtp-ssl-cert-path= smtp-user= smtp-auth= smtp-debug= batch-size= relogin-delay= sendmail-cmd= to-cmd= cc-cmd= header-cmd= identity= chain-reply-to suppress-cc= suppress-from signed-off-by-cc thread confirm= dry-run format-patch quiet validate force dump-aliases translate-aliases no-identity to-cover cc-cover " + revOptions, away: true, read: readSendEmail},
	{name: "imap-send", class: "remote", opts: "v,verbose q,quiet curl f,folder= list"},
	{name: "svn", opts: "*", class: "worktree index refs remote", away: true}, {name: "p4", opts: "*", class: "worktree index refs remote", away: true},
	{name: "cvsimport", opts: "*", class: "worktree index refs remote", away: true}, {name: "cvsexportcommit", opts: "*", class: "worktree remote", away: true}, {name: "archimport", opts: "*", class: "worktree refs remote", away: true},
	{name: "lfs", opts: "*", class: "worktree config remote", away: true, read: readLFS},
}
