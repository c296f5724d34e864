package mutants

import "slices"

// The tests for what a command leaves behind.
var (
	judged = []Tests{
		{Package: "./pkg/sandbox/quarantine", Run: "^(TestTable|TestNothingLeadsOut|TestSettingsAreLeftOut|TestOwnHooksStay|TestOwnExecLinesStay|TestAnotherRoot|TestFilesOfOtherKinds|" +
			"TestRecover|TestRecoverLeavesTheLiving|TestRecoverAnotherRoot|TestRecoverWhatTheCommandCouldNotWrite|TestRunsTogether|TestReftable|TestIndexModes|TestStoreLeadsNowhere|TestKeptIsHarmless|TestWorkTreeOfAnother|TestBesideAMount)$"},
		{Package: "./pkg/internal/escapes", Run: "^TestEscapes$/^(root|user)$/^(git-|nested-)"},
	}
	led          = []Tests{{Package: "./pkg/sandbox/quarantine", Run: "^(TestIntoOwn|TestWorkTreesOfOthers|TestHooksOfHooks|TestStuckTarget|TestKeptStaysHarmless)$"}}
	envFiles     = []Tests{{Package: "./pkg/sandbox/quarantine", Run: "^(TestEnvironmentFiles|TestLinksNamedLikeEnvironmentFiles)$"}}
	placeOfStore = []Tests{{Package: "./pkg/sandbox/quarantine", Run: "^(TestInThePlaceOfTheStore|TestStoreOfSomebodyElse)$"}}
	afterwards   = []Tests{{Package: "./pkg/internal/boundary", Run: "^(TestDisk|TestKilled|TestTwoRuns)$"}}
	ownDir       = []Tests{{Package: "./pkg/sandbox", Run: "^(TestHostileOwn|TestPlaceholders|TestPlaceholdersStale|TestPlaceholdersLeaveTheOwners|TestPoolInUse|TestPoolSpoiled)$"}}
	ownNames     = []Tests{{Package: "./pkg/internal/escapes", Run: "^TestEscapes$/^(root|user)$/^ethos-dir"}}
)

const (
	gitDirs     = "pkg/sandbox/quarantine/gitdir_linux.go"
	stores      = "pkg/sandbox/quarantine/store_linux.go"
	beneath     = "pkg/sandbox/quarantine/beneath_linux.go"
	sessions    = "pkg/sandbox/quarantine/session_linux.go"
	journals    = "pkg/sandbox/quarantine/journal_linux.go"
	pointers    = "pkg/sandbox/quarantine/pointers_linux.go"
	follows     = "pkg/sandbox/quarantine/follow_linux.go"
	environment = "pkg/sandbox/quarantine/environment_linux.go"
	kept        = "pkg/sandbox/quarantine/kept_linux.go"
)

// leftBehind lists the defences against what a command leaves behind.
var leftBehind = []Mutant{
	{Name: "left: names that git does not make", Edits: []Edit{{gitDirs, "g.odd(path, kindOf(typ)+\" that git does not make\")", "_ = kindOf(typ)"}}, Tests: judged},
	{Name: "left: links in a git directory", Edits: []Edit{{gitDirs, `if !same || !g.allowed("link to", path, end.path) ||`, `if same && !same ||`}}, Tests: judged},
	{Name: "left: set-group-ID files", Edits: []Edit{{gitDirs, `st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0`, `st.Mode&unix.S_ISUID != 0`}}, Tests: judged},
	{Name: "left: modes of index entries", Edits: []Edit{{"pkg/sandbox/quarantine/index.go", `return fmt.Errorf("%q has the mode %o", name, mode)`, ``}}, Tests: judged},
	{Name: "left: exec lines", Edits: []Edit{{"pkg/sandbox/quarantine/state.go", `(comment || slices.Contains(todoWords, word)) || keep(bare)`, `(comment || word != "") || keep(bare)`}}, Tests: judged},
	{Name: "left: directories that nobody may search", Edits: []Edit{{sessions, "\t\ts.open(t, scan)\n", ""}}, Tests: slices.Concat(judged, afterwards)},
	{Name: "left: links on the way lead nowhere", Edits: []Edit{{beneath, `unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS`, `0`}}, Tests: judged},
	{Name: "left: another directory in the place of a root", Edits: []Edit{{sessions, "\tfor i, t := range s.trees {\n", "\tfor i, t := range s.trees {\n\t\tif again, err := openTree(t.path); err == nil {\n\t\t\tt.fd = again.fd\n\t\t}\n"}}, Tests: judged},
	{Name: "left: what is kept cannot run", Edits: []Edit{{"pkg/sandbox/quarantine/disarm_linux.go", `err := os.Chmod(self, fs.FileMode(st.Mode&0o666))`, `err := error(nil)`}}, Tests: judged},
	{Name: "left: pointers into directories of ethos", Edits: []Edit{{pointers, `case g.owned(to.path) && !g.owned(l.path):`, `case false:`}}, Tests: led},
	{Name: "left: links into directories of ethos", Edits: []Edit{{"pkg/sandbox/quarantine/owned_linux.go", `owned && !within(part, ownTraces) {`, `owned && part == "?" {`}}, Tests: led},
	{Name: "left: links through links", Edits: []Edit{{"pkg/sandbox/quarantine/owned_linux.go", `if stays(text) && within(filepath.Join(path, text), t.path) && `, `if `}}, Tests: led},
	{Name: "left: a work tree that a git directory does not know", Edits: []Edit{{pointers, `case !same && g.knew(to.path) && !g.expects(l, to.path):`, `case false:`}}, Tests: led},
	{Name: "left: what leads to what could not be moved", Edits: []Edit{{pointers, `case g.stuck[identify(to.path)]:`, `case false:`}}, Tests: led},
	{Name: "left: settings in each work tree", Edits: []Edit{{follows, `s.followAt(u.at.Path(), u.gitDir.Path())`, `_ = u`}}, Tests: led},
	{Name: "left: copies in another work tree are compared", Edits: []Edit{{follows, `same = other.allowed("named", f.common, f.word, rel, id)`, `same = true`}}, Tests: led},
	{Name: "left: directories of hooks", Edits: []Edit{{follows, `if typ != fs.ModeDir || strings.Count(rel, "/") > maxDisarm {`, `if typ != fs.ModeDir || rel != "" {`}}, Tests: led},
	{Name: "left: names that are taken in what is kept", Edits: []Edit{{"pkg/sandbox/quarantine/disarm_linux.go", `as = short + "." + randomName() + suffix`, `return name, nil`}}, Tests: led},
	{Name: "left: the depth of what is kept", Edits: []Edit{{"pkg/sandbox/quarantine/disarm_linux.go", `if depth > maxDisarm && d.up(dir, name, path) {`, `if depth > maxDisarm {`}}, Tests: led},
	{Name: "left: named by git's configuration below a root", Edits: []Edit{{"pkg/sandbox/plan/nested.go", `n.configured(s.at.Path())`, `_ = n`}}, Tests: []Tests{{Package: "./pkg/internal/escapes", Run: "^TestEscapes$/^(root|user)$/^git-(linked|submodule)-hooks$"}}},
	{Name: "left: beside another run", Edits: []Edit{{sessions, "!s.doubtful(id, parts[1])", "true"}}, Tests: judged},
	{Name: "left: environment files beyond a number", Edits: []Edit{{environment, "if len(left) == 0 || len(beyond(known, left)) == 0 {", "if true {"}}, Tests: envFiles},
	{Name: "left: links with the name of an environment file", Edits: []Edit{{environment, "f.Link && file.leadsAstray()", "false"}}, Tests: envFiles},
	{Name: "left: what was in the place of the store stays", Edits: []Edit{{kept, "at == t.fd && s.hadKept(t)", "false"}}, Tests: placeOfStore},
	{Name: "left: what the command put in the place of the store", Edits: []Edit{{kept, "if was == \"\" {", "if true {"}}, Tests: placeOfStore},
	{Name: "left: the owner has what root makes", Edits: []Edit{{kept, "st.Uid != 0 || above.Uid == 0 {", "true {"}}, Tests: placeOfStore},
	{Name: "recover: at all", Edits: []Edit{{journals, `found = append(found, j.judge(ctx, scope)...)`, `j.close(nil)`}}, Tests: judged},
	{Name: "recover: runs that are under way are left", Edits: []Edit{{journals, `if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil ||`, `if`}}, Tests: judged},
	{Name: "recover: another directory in the place of a root", Edits: []Edit{{journals, `if t.stamp(path)[0] != ino {`, `if false {`}}, Tests: judged},
	{Name: "recover: what the command could not write is the person's", Edits: []Edit{{journals, "\t\t\t\treturn false\n", ""}}, Tests: judged},
	{Name: "recover: a journal that is not whole", Edits: []Edit{{journals, `return s, fmt.Errorf("it is incomplete: %w", err)`, `break`}}, Tests: []Tests{{Package: "./pkg/sandbox/quarantine", Run: "^TestRecoverDamaged$"}}},
	{Name: "recover: what could not be put aside", Edits: []Edit{{sessions, `s.journal.close(s.left)`, `s.journal.close(nil)`}}, Tests: afterwards},
	{Name: "recover: that alone", Edits: []Edit{{stores, `(s.only == nil || s.only[identify(path)])`, `true`}}, Tests: afterwards},
	{Name: "placeholders: the journal is a file of its own", Edits: []Edit{{"pkg/sandbox/control/placeholders_linux.go", `err = removeUnlike(root, plan.JournalName, 0); err != nil`, `err = nil; err != nil`}}, Tests: ownDir},
	{Name: "placeholders: the journal has no second name", Edits: []Edit{{"pkg/sandbox/control/directory_linux.go", `ok && st.Nlink == 1`, `ok && st.Nlink > 0`}}, Tests: ownDir},
	{Name: "placeholders: only those of the journal are removed", Edits: []Edit{{"pkg/sandbox/control/placeholders_linux.go", `case !standing[path.Path] || !item.meaningless():`, `case !item.meaningless():`}}, Tests: ownDir},
	{Name: "placeholders: only empty ones are removed", Edits: []Edit{{"pkg/sandbox/control/placeholders_linux.go", `case !standing[path.Path] || !item.meaningless():`, `case !standing[path.Path]:`}}, Tests: ownDir,
		Survives: "each is looked at once more when it is removed, and rmdir(2) leaves what has something in it"},
	{Name: "caches: directories of their own", Edits: []Edit{{"pkg/sandbox/control/caches_linux.go", `removeUnlike(root, name+"/boot", 0), removeUnlike(root, name+"/upper", fs.ModeDir), `, ``}}, Tests: ownDir},
	{Name: "names: the directory of ethos is not the command's", Edits: []Edit{{"pkg/sandbox/control/aside_linux.go", `err != nil || !statedir.JustMade(d.getenv, info)`, `err != nil || statedir.JustMade(d.getenv, info) && false`}}, Tests: ownNames},
}
