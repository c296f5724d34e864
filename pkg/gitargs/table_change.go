package gitargs

// changing commands work on the work tree, the index, branches and commits.
var changing = [...]command{
	{name: "add", class: "index", opts: "n,dry-run v,verbose i,interactive p,patch e,edit f,force u,update renormalize N,intent-to-add A,all " +
		"ignore-removal refresh ignore-errors ignore-missing sparse chmod= pathspec-from-file= pathspec-file-nul " +
		"warn-embedded-repo U,unified= inter-hunk-context=", read: readAdd},
	{name: "stage", class: "index", opts: "n,dry-run v,verbose i,interactive p,patch e,edit f,force u,update renormalize N,intent-to-add A,all " +
		"ignore-removal refresh ignore-errors ignore-missing sparse chmod= pathspec-from-file= pathspec-file-nul " +
		"warn-embedded-repo U,unified= inter-hunk-context=", read: readAdd},
	{name: "rm", class: "worktree index", opts: "n,dry-run q,quiet cached f,force r ignore-unmatch sparse pathspec-from-file= pathspec-file-nul", read: readRm},
	{name: "mv", class: "worktree index", opts: "v,verbose n,dry-run f,force k sparse", read: readMv},
	{name: "commit", class: "index refs", opts: "q,quiet v,verbose F,file= author= date= m,message= c,reedit-message= C,reuse-message= fixup= squash= " +
		"reset-author trailer= s,signoff t,template= e,edit cleanup= status S,gpg-sign? a,all i,include " +
		"interactive p,patch o,only n,no-verify dry-run short branch ahead-behind porcelain long z,null amend " +
		"no-post-rewrite u,untracked-files? pathspec-from-file= pathspec-file-nul allow-empty allow-empty-message " +
		"U,unified= inter-hunk-context= allow-empty allow-empty-message", read: readCommit},
	{name: "checkout", class: "worktree index refs", opts: "b= B= l guess overlay q,quiet recurse-submodules? progress m,merge conflict= d,detach t,track? f,force " +
		"orphan= overwrite-ignore ignore-other-worktrees 2,ours 3,theirs p,patch ignore-skip-worktree-bits " +
		"pathspec-from-file= pathspec-file-nul U,unified= inter-hunk-context=", read: readCheckout},
	{name: "switch", class: "worktree index refs", opts: "c,create= C,force-create= guess discard-changes q,quiet recurse-submodules? progress m,merge conflict= " +
		"d,detach t,track? f,force orphan= overwrite-ignore ignore-other-worktrees", read: readSwitch},
	{name: "restore", class: "worktree", opts: "s,source= S,staged W,worktree ignore-unmerged overlay q,quiet recurse-submodules? progress m,merge " +
		"conflict= 2,ours 3,theirs p,patch ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul " +
		"U,unified= inter-hunk-context=", read: readRestore},
	{name: "reset", class: "index", opts: "q,quiet no-refresh mixed soft hard merge keep recurse-submodules? p,patch N,intent-to-add " +
		"pathspec-from-file= pathspec-file-nul U,unified= inter-hunk-context= refresh z stdin", read: readReset},
	{name: "clean", class: "worktree", opts: "q,quiet n,dry-run f,force i,interactive d e,exclude= x X", read: readClean},
	{name: "apply", class: "worktree", opts: "exclude= include= p= no-add stat numstat summary check index N,intent-to-add cached unsafe-paths apply " +
		"3,3way build-fake-ancestor= z C= whitespace= ignore-space-change ignore-whitespace R,reverse " +
		"unidiff-zero reject allow-overlap v,verbose q,quiet inaccurate-eof recount directory= allow-empty " +
		"allow-binary-replacement binary ours theirs union", read: readApply},
	{name: "am", class: "worktree index refs", opts: "i,interactive 3,3way q,quiet s,signoff u,utf8 k,keep keep-non-patch m,message-id keep-cr no-keep-cr " +
		"c,scissors quoted-cr= whitespace= ignore-space-change ignore-whitespace directory= exclude= include= C= " +
		"p= patch-format= reject resolvemsg= continue r,resolved skip abort quit show-current-patch? allow-empty " +
		"committer-date-is-author-date ignore-date rerere-autoupdate S,gpg-sign? empty= binary rebasing " +
		"n,no-verify abort continue retry quit", read: readAm},
	{name: "merge", class: "worktree index refs", opts: "n stat summary log? squash commit e,edit cleanup= ff ff-only rerere-autoupdate verify-signatures " +
		"s,strategy= X,strategy-option= m,message= F,file= into-name= v,verbose q,quiet abort quit continue " +
		"allow-unrelated-histories progress S,gpg-sign? autostash overwrite-ignore signoff no-verify " +
		"compact-summary", read: readMerge},
	{name: "rebase", class: "worktree index refs history", opts: "onto= keep-base no-verify q,quiet v,verbose n,no-stat signoff committer-date-is-author-date " +
		"reset-author-date C= ignore-whitespace whitespace= f,force-rebase no-ff continue skip abort quit " +
		"edit-todo show-current-patch apply m,merge i,interactive rerere-autoupdate empty= autosquash update-refs " +
		"S,gpg-sign? autostash x,exec= r,rebase-merges? fork-point s,strategy= X,strategy-option= root " +
		"reschedule-failed-exec reapply-cherry-picks ignore-date preserve-merges keep-empty allow-empty-message " +
		"trailer=", read: readRebase},
	{name: "cherry-pick", class: "worktree index refs", opts: "quit continue abort skip cleanup= n,no-commit e,edit s,signoff m,mainline= rerere-autoupdate strategy= " +
		"X,strategy-option= S,gpg-sign? x ff allow-empty allow-empty-message keep-redundant-commits empty=", read: readPick},
	{name: "revert", class: "worktree index refs", opts: "quit continue abort skip cleanup= n,no-commit e,edit s,signoff m,mainline= rerere-autoupdate strategy= " +
		"X,strategy-option= S,gpg-sign? reference", read: readPick},
	{name: "branch", class: "refs", opts: "v,verbose q,quiet t,track? u,set-upstream-to= unset-upstream color? r,remotes contains= no-contains= " +
		"abbrev? a,all d,delete D m,move M c,copy C l,list show-current create-reflog edit-description f,force " +
		"merged= no-merged= column? sort= points-at= i,ignore-case recurse-submodules format= set-upstream with " +
		"without omit-empty f,force", read: readBranch},
	{name: "tag", class: "refs", opts: "l,list n? d,delete v,verify a,annotate m,message= F,file= e,edit s,sign cleanup= u,local-user= f,force " +
		"create-reflog column? contains= no-contains= merged= no-merged= sort= points-at= format= color? " +
		"i,ignore-case with without trailer= omit-empty", read: readTag},
	{name: "stash", class: "worktree index refs", subs: "push"},
	{name: "stash list", class: "read", opts: revOptions + " " + diffOptions, read: readOutput},
	{name: "stash show", class: "read", opts: "u,include-untracked only-untracked " + revOptions + " " + diffOptions, read: readOutput},
	{name: "stash drop", class: "refs history", opts: "q,quiet", read: readStashDrop},
	{name: "stash clear", class: "refs history", read: readStashDrop},
	{name: "stash pop", class: "worktree index refs", opts: "q,quiet index label-ours= label-theirs= label-base="},
	{name: "stash apply", class: "worktree index", opts: "q,quiet index label-ours= label-theirs= label-base="},
	{name: "stash branch", class: "worktree index refs"},
	{name: "stash push", class: "worktree index refs", opts: "k,keep-index S,staged p,patch q,quiet u,include-untracked a,all m,message= pathspec-from-file= " +
		"pathspec-file-nul U,unified= inter-hunk-context=", read: readStashPush},
	{name: "stash save", class: "worktree index refs", opts: "k,keep-index S,staged p,patch q,quiet u,include-untracked a,all m,message="},
	{name: "stash create", class: "index"},
	{name: "stash store", class: "refs", opts: "q,quiet m,message="},
	{name: "stash export", class: "refs", opts: "print to-ref="},
	{name: "stash import", class: "refs"},
	{name: "worktree", class: "read", subs: "-"},
	{name: "worktree add", class: "worktree refs", opts: "f,force b= B= d,detach checkout lock reason= q,quiet track guess-remote orphan relative-paths", read: readWorktreeAdd},
	{name: "worktree list", class: "read", opts: "porcelain v,verbose expire= z"},
	{name: "worktree lock", class: "worktree", opts: "reason="},
	{name: "worktree unlock", class: "worktree"},
	{name: "worktree move", class: "worktree", opts: "f,force relative-paths", read: readWorktreeMove},
	{name: "worktree prune", class: "worktree", opts: "n,dry-run v,verbose expire=", read: readDryRun},
	{name: "worktree remove", class: "worktree", opts: "f,force", read: readWorktreeRemove},
	{name: "worktree repair", class: "worktree", opts: "relative-paths"},
	{name: "sparse-checkout", class: "worktree index", subs: "-"},
	{name: "sparse-checkout list", class: "read"},
	{name: "sparse-checkout check-rules", class: "read", opts: "z cone rules-file="},
	{name: "sparse-checkout init", class: "worktree index config", opts: "cone sparse-index"},
	{name: "sparse-checkout set", class: "worktree index config", opts: "cone sparse-index skip-checks stdin end-of-options"},
	{name: "sparse-checkout add", class: "worktree index", opts: "skip-checks stdin"},
	{name: "sparse-checkout reapply", class: "worktree index", opts: "cone sparse-index"},
	{name: "sparse-checkout clean", class: "worktree", opts: "n,dry-run f,force v,verbose", read: readClean},
	{name: "sparse-checkout disable", class: "worktree index config"},
	{name: "bisect", class: "worktree index refs", subs: "-"},
	{name: "bisect start", class: "worktree index refs", opts: "term-new= term-bad= term-old= term-good= no-checkout first-parent"},
	{name: "bisect bad", class: "worktree index refs"}, {name: "bisect new", class: "worktree index refs"},
	{name: "bisect good", class: "worktree index refs"}, {name: "bisect old", class: "worktree index refs"},
	{name: "bisect skip", class: "worktree index refs"}, {name: "bisect next", class: "worktree index refs"},
	{name: "bisect reset", class: "worktree index refs"}, {name: "bisect replay", class: "worktree index refs"},
	{name: "bisect terms", class: "read"}, {name: "bisect log", class: "read"}, {name: "bisect help", class: "read"},
	{name: "bisect visualize", class: "exec"}, {name: "bisect view", class: "exec"},
	{name: "bisect run", class: "worktree index refs exec", stop: true, read: readBisectRun},
	{name: "notes", class: "refs", opts: "ref=", subs: "list"},
	{name: "notes list", class: "read"}, {name: "notes show", class: "read"}, {name: "notes get-ref", class: "read"},
	{name: "notes add", class: "refs", opts: "m,message= F,file= c,reedit-message= C,reuse-message= allow-empty f,force separator= stripspace e,edit"},
	{name: "notes append", class: "refs", opts: "m,message= F,file= c,reedit-message= C,reuse-message= allow-empty separator= stripspace e,edit"},
	{name: "notes edit", class: "refs", opts: "m,message= F,file= c,reedit-message= C,reuse-message= allow-empty"},
	{name: "notes copy", class: "refs", opts: "f,force stdin for-rewrite="},
	{name: "notes merge", class: "refs", opts: "v,verbose q,quiet s,strategy= commit abort"},
	{name: "notes remove", class: "refs", opts: "ignore-missing stdin"},
	{name: "notes prune", class: "refs", opts: "n,dry-run v,verbose", read: readDryRun},
	{name: "rerere", class: "index", opts: "rerere-autoupdate"},
	{name: "mergetool", class: "worktree index exec", opts: "t,tool= tool-help y,no-prompt prompt g,gui no-gui O=", away: true, read: readMergetool},
	{name: "history", class: "refs history", subs: "-"},
	{name: "history reword", class: "refs history", opts: "dry-run update-refs="},
	{name: "history split", class: "refs history", opts: "dry-run update-refs="},
	{name: "history fixup", class: "refs history", opts: "dry-run update-refs="},
	{name: "filter-branch", class: "worktree refs history exec", opts: "setup= subdirectory-filter= env-filter= tree-filter= index-filter= parent-filter= msg-filter= commit-filter= tag-name-filter= original= d= f,force state-branch= prune-empty remap-to-ancestor " + revOptions, away: true, read: readFilterBranch},
	{name: "filter-repo", class: "worktree refs history exec", opts: "force analyze path= invert-paths path-glob= path-regex= use-base-name path-rename= paths-from-file= subdirectory-filter= to-subdirectory-filter= replace-text= strip-blobs-bigger-than= strip-blobs-with-ids= tag-rename= replace-message= mailmap= use-mailmap replace-refs= prune-empty= prune-degenerate= no-ff preserve-commit-hashes preserve-commit-encoding filename-callback= file-info-callback= message-callback= name-callback= email-callback= refname-callback= blob-callback= commit-callback= tag-callback= reset-callback= source= target= partial refs= dry-run debug stdin quiet sensitive-data-removal", away: true, read: readFilterBranch},
	{name: "replay", class: "refs history", opts: "advance= onto= contained ref-action=", read: readReplay},
	{name: "quiltimport", class: "worktree index refs", opts: "n,dry-run author= patches= series= keep-non-patch", away: true, read: readDryRun},
	{name: "subtree", class: "worktree index refs", opts: "h,help q d P,prefix= annotate= b,branch= ignore-joins onto= rejoin squash m,message= prefix= S,gpg-sign?", away: true, read: readSubtree},
}
