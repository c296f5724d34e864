package gitargs

// tables holds every command of git 2.39, and later ones, grouped by purpose. They are arrays of
// constants, so that they cost nothing in a program that never reads a git command.
func tables() [5][]command {
	return [...][]command{inspecting[:], changing[:], publishing[:], keeping[:], plumbing[:]}
}

// diffOptions are those of git-diff(1), revOptions those of git-rev-list(1) and git-log(1) beyond them.
const (
	diffOptions = "creation-factor= no-dual-color notes? left-only right-only p,patch s,no-patch u U,unified? " +
		"W,function-context raw patch-with-raw patch-with-stat numstat shortstat X,dirstat? cumulative " +
		"dirstat-by-file? check summary name-only name-status stat? stat-width= stat-name-width= " +
		"stat-graph-width= stat-count= compact-summary binary full-index color? ws-error-highlight= z abbrev? " +
		"src-prefix= dst-prefix= line-prefix= no-prefix inter-hunk-context= output-indicator-new= " +
		"output-indicator-old= output-indicator-context= B,break-rewrites? M,find-renames? D,irreversible-delete " +
		"C,find-copies? find-copies-harder no-renames rename-empty follow l= minimal w,ignore-all-space " +
		"b,ignore-space-change ignore-space-at-eol ignore-cr-at-eol ignore-blank-lines I,ignore-matching-lines= " +
		"indent-heuristic patience histogram diff-algorithm= anchored= word-diff? word-diff-regex= color-words? " +
		"color-moved? color-moved-ws= relative? a,text R exit-code quiet ext-diff textconv ignore-submodules? " +
		"submodule? ita-invisible-in-index ita-visible-in-index S= G= pickaxe-all pickaxe-regex O= rotate-to= " +
		"skip-to= find-object= diff-filter= output= no-color-moved-ws c cc diff-merges= combined-all-paths " +
		"no-diff-merges remerge-diff dd m t base 1,base 2,ours 3,theirs 0 merge-base no-index cached staged " +
		"default-prefix max-depth="

	revOptions = "q,quiet source use-mailmap mailmap clear-decorations decorate-refs= decorate-refs-exclude= decorate? L= " +
		"n,max-count= skip= since= after= since-as-filter= until= before= max-age= min-age= author= committer= " +
		"grep-reflog= grep= all-match invert-grep i,regexp-ignore-case basic-regexp E,extended-regexp " +
		"F,fixed-strings P,perl-regexp remove-empty merges no-merges min-parents= max-parents= first-parent " +
		"exclude-first-parent-only not all branches? tags? remotes? glob= exclude= exclude-hidden= reflog " +
		"alternate-refs single-worktree ignore-missing stdin disk-usage? cherry-mark cherry-pick left-only " +
		"right-only cherry g,walk-reflogs merge boundary use-bitmap-index progress= simplify-by-decoration " +
		"show-pulls full-history dense sparse simplify-merges ancestry-path? bisect bisect-vars bisect-all " +
		"date-order author-date-order topo-order reverse objects in-commit-order objects-edge " +
		"objects-edge-aggressive indexed-objects unpacked object-names filter= filter-provided-objects " +
		"filter-print-omitted missing= exclude-promisor-objects no-walk? do-walk pretty? format= abbrev-commit " +
		"oneline encoding= expand-tabs? show-signature relative-date date= header commit-header parents children " +
		"timestamp left-right graph show-linear-break? count notes? show-notes? standard-notes maximal-only"
)
