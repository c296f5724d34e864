package gitargs

// inspecting commands only read, but with some options write a file or run a program.
var inspecting = [...]command{
	{name: "", class: "read"},
	{name: "help", class: "read", opts: "a,all external-commands aliases m,man w,web i,info v,verbose g,guides user-interfaces " +
		"developer-interfaces c,config exclude-guides config-for-completion config-sections-for-completion"},
	{name: "version", class: "read", opts: "build-options"},
	{name: "status", class: "read", opts: "v,verbose s,short b,branch show-stash ahead-behind porcelain? long z,null u,untracked-files? ignored? " +
		"ignore-submodules? column? no-renames M,find-renames?"},
	{name: "log", class: "read", opts: revOptions + " " + diffOptions, read: readOutput},
	{name: "show", class: "read", opts: revOptions + " " + diffOptions, read: readOutput},
	{name: "whatchanged", class: "read", opts: revOptions + " " + diffOptions + " i-still-use-this", away: true, read: readOutput},
	{name: "diff", class: "read", opts: diffOptions, read: readOutput},
	{name: "diff-files", class: "read", opts: diffOptions, read: readOutput},
	{name: "diff-index", class: "read", opts: diffOptions, read: readOutput},
	{name: "diff-tree", class: "read", opts: revOptions + " " + diffOptions, read: readOutput},
	{name: "diff-pairs", class: "read", opts: diffOptions, read: readOutput},
	{name: "range-diff", class: "read", opts: diffOptions + " creation-factor= no-dual-color notes? left-only right-only", read: readOutput},
	{name: "rev-list", class: "read", opts: revOptions + " " + diffOptions, read: readOutput},
	{name: "shortlog", class: "read", opts: revOptions + " c,committer n,numbered s,summary e,email w? group=", read: readOutput},
	{name: "format-patch", class: "worktree", opts: "n,numbered N,no-numbered s,signoff stdout cover-letter numbered-files suffix= start-number= " +
		"v,reroll-count= filename-max-length= rfc cover-from-description= subject-prefix= o,output-directory= " +
		"k,keep-subject no-binary zero-commit ignore-if-in-upstream p,no-stat add-header= to= cc= from? " +
		"in-reply-to= attach? inline? thread? signature= base= signature-file= q,quiet progress interdiff= " +
		"range-diff= creation-factor= force-in-body-from" + " " + revOptions + " " + diffOptions, read: readFormatPatch},
	{name: "blame", class: "read", opts: "incremental b root show-stats progress score-debug f,show-name n,show-number p,porcelain line-porcelain " +
		"c t l s e,show-email w ignore-rev= ignore-revs-file= color-lines color-by-age minimal S= contents= C? M? " +
		"L= abbrev?" + " " + revOptions + " " + diffOptions, read: readOutput},
	{name: "annotate", class: "read", opts: "incremental b root show-stats progress score-debug f,show-name n,show-number p,porcelain line-porcelain " +
		"c t l s e,show-email w ignore-rev= ignore-revs-file= color-lines color-by-age minimal S= contents= C? M? " +
		"L= abbrev? patch unified function-context raw patch-with-raw patch-with-stat numstat shortstat dirstat " +
		"cumulative dirstat-by-file check summary name-only name-status stat stat-width= stat-name-width= " +
		"stat-graph-width= stat-count= compact-summary binary full-index color ws-error-highlight= src-prefix= " +
		"dst-prefix= line-prefix= inter-hunk-context= output-indicator-new= output-indicator-old= " +
		"output-indicator-context= break-rewrites find-renames irreversible-delete find-copies find-copies-harder " +
		"rename-empty follow ignore-all-space ignore-space-change ignore-space-at-eol ignore-cr-at-eol " +
		"ignore-blank-lines ignore-matching-lines= indent-heuristic patience histogram diff-algorithm= anchored= " +
		"word-diff word-diff-regex= color-words color-moved color-moved-ws= relative text exit-code quiet " +
		"ext-diff textconv ignore-submodules submodule ita-invisible-in-index ita-visible-in-index pickaxe-all " +
		"pickaxe-regex rotate-to= skip-to= find-object= diff-filter= output=" + " " + revOptions + " " + diffOptions, read: readOutput},
	{name: "pickaxe", class: "read", opts: "incremental b root show-stats progress score-debug f,show-name n,show-number p,porcelain line-porcelain " +
		"c t l s e,show-email w ignore-rev= ignore-revs-file= color-lines color-by-age minimal S= contents= C? M? " +
		"L= abbrev?" + " " + revOptions + " " + diffOptions, read: readOutput},
	{name: "grep", class: "read", opts: "cached no-index untracked exclude-standard recurse-submodules v,invert-match i,ignore-case w,word-regexp " +
		"a,text I textconv r,recursive max-depth= E,extended-regexp G,basic-regexp F,fixed-strings P,perl-regexp " +
		"n,line-number column h H full-name l,files-with-matches name-only L,files-without-match z,null " +
		"o,only-matching c,count color? break heading C,context= B,before-context= A,after-context= threads= N= " +
		"p,show-function W,function-context f= e= and or not q,quiet all-match O,open-files-in-pager? ext-grep " +
		"m,max-count=", read: readGrep},
	{name: "describe", class: "read", opts: "contains debug all tags long first-parent abbrev? exact-match candidates= match= exclude= always dirty? " +
		"broken?"},
	{name: "name-rev", class: "read", opts: "name-only tags refs= exclude= all stdin annotate-stdin undefined always peel-tag"},
	{name: "ls-files", class: "read", opts: "z t v f c,cached d,deleted m,modified o,others i,ignored s,stage k,killed directory eol empty-directory " +
		"u,unmerged resolve-undo x,exclude= X,exclude-from= exclude-per-directory= exclude-standard full-name " +
		"recurse-submodules error-unmatch with-tree= abbrev? debug deduplicate sparse format="},
	{name: "ls-tree", class: "read", opts: "d r t z l,long name-only name-status object-only full-name full-tree format= abbrev?"},
	{name: "cat-file", class: "read", opts: "e p t s allow-unknown-type use-mailmap mailmap batch? batch-check? z batch-command? batch-all-objects " +
		"buffer follow-symlinks unordered textconv filters path="},
	{name: "rev-parse", opts: "*", class: "read", stop: true},
	{name: "show-ref", class: "read", opts: "tags heads verify head d,dereference s,hash? abbrev? q,quiet exclude-existing? branches exists"},
	{name: "show-branch", class: "read", opts: "a,all r,remotes color? more? list no-name current sha1-name merge-base independent topo-order topics " +
		"sparse date-order g,reflog?"},
	{name: "for-each-ref", class: "read", opts: "s,shell p,perl python tcl count= format= color? sort= points-at= merged= no-merged= contains= " +
		"no-contains= ignore-case stdin exclude= omit-empty include-root-refs start-after="},
	{name: "merge-base", class: "read", opts: "a,all octopus independent is-ancestor fork-point"},
	{name: "merge-tree", class: "read", opts: "write-tree trivial-merge messages z name-only allow-unrelated-histories stdin merge-base= " +
		"X,strategy-option= quiet"},
	{name: "cherry", class: "read", opts: "abbrev? v,verbose"},
	{name: "check-attr", class: "read", opts: "a,all cached stdin z source="},
	{name: "check-ignore", class: "read", opts: "q,quiet v,verbose stdin z n,non-matching no-index"},
	{name: "check-mailmap", class: "read", opts: "stdin"},
	{name: "check-ref-format", class: "read", opts: "normalize branch allow-onelevel print refspec-pattern"},
	{name: "count-objects", class: "read", opts: "v,verbose H,human-readable"},
	{name: "fsck", class: "read", opts: "v,verbose unreachable dangling tags root cache reflogs full connectivity-only strict lost-found progress " +
		"name-objects references", read: readFsck},
	{name: "fsck-objects", class: "read", opts: "v,verbose unreachable dangling tags root cache reflogs full connectivity-only strict lost-found progress " +
		"name-objects", read: readFsck},
	{name: "verify-commit", class: "read", opts: "v,verbose raw"},
	{name: "verify-pack", class: "read", opts: "v,verbose s,stat-only object-format="},
	{name: "verify-tag", class: "read", opts: "v,verbose raw format="},
	{name: "var", class: "read", opts: "l"},
	{name: "column", class: "read", opts: "command= mode? raw-mode= width= indent= nl= padding="},
	{name: "stripspace", class: "read", opts: "s,strip-comments c,comment-lines"},
	{name: "patch-id", class: "read", opts: "unstable stable verbatim"},
	{name: "fmt-merge-msg", class: "read", opts: "log? m,message= into-name= F,file= summary"},
	{name: "get-tar-commit-id", class: "read"},
	{name: "show-index", class: "read", opts: "object-format="},
	{name: "request-pull", class: "read", opts: "p", away: true},
	{name: "last-modified", class: "read", opts: "r,recursive t,show-trees max-depth= z " + revOptions},
	{name: "repo", class: "read", subs: "-"},
	{name: "repo info", class: "read", opts: "format= z all keys"},
	{name: "repo structure", class: "read", opts: "format= progress"},
	{name: "bugreport", class: "worktree", opts: "diagnose? o,output-directory= s,suffix=", read: readReport},
	{name: "diagnose", class: "worktree", opts: "o,output-directory= s,suffix= mode=", read: readReport},
	{name: "archive", class: "read", opts: "format= prefix= add-file= add-virtual-file= o,output= worktree-attributes v,verbose N= l,list remote= " +
		"exec= 0 1 2 3 4 5 6 7 8 9 mtime=", read: readArchive},
	{name: "difftool", class: "exec", opts: "g,gui d,dir-diff y,no-prompt symlinks t,tool= tool-help trust-exit-code x,extcmd= no-index" + " " + diffOptions, read: readDifftool},
	{name: "interpret-trailers", class: "read", opts: "in-place trim-empty where= if-exists= if-missing= only-trailers only-input unfold parse no-divider " +
		"trailer=", read: readTrailers},
	{name: "web--browse", class: "exec", opts: "b,browser= t,tool= c,config=", away: true},
	{name: "instaweb", class: "exec", opts: "l,local p,port= d,httpd= b,browser= m,module-path= stop start restart restart)", away: true, read: readInstaweb},
	{name: "gui", opts: "*", class: "exec", away: true}, {name: "gitk", opts: "*", class: "exec", away: true}, {name: "citool", opts: "*", class: "exec", away: true}, {name: "gitweb", opts: "*", class: "exec", away: true},
}
