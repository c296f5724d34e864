//go:build !nocel

package decide

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/ceiling"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

// noMake is a file of one policy that denies make, and others change what ships.
const (
	noMake = "version: 1\npolicies:\n  - {id: house.no_make, principle: person-decides, effect: deny, when: 'runs(shell, \"make\")', message: m, remedy: r}\n"
	noLs   = "version: 1\npolicies:\n  - {id: house.no_ls, principle: person-decides, effect: ask, when: 'runs(shell, \"ls\")', message: m, remedy: r}\n"
	looser = "version: 1\npacks: [git]\npolicies:\n  - {id: git.no_amend, effect: warn}\n"
	weaker = "version: 1\npolicies:\n  - {id: files.delete_wide, effect: allow}\n"
)

// TestPoliciesInForce: each place of policies counts, and only where it is a place of policies.
func TestPoliciesInForce(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string // relative to the work space
		nested  string            // a work tree in it
		options func(w *world) Options
		call    call
		want    string
		by      string
	}{
		"shipped, harmless":                      {call: call{script: "ls"}, want: record.VerdictAllow},
		"shipped":                                {call: call{script: "rm -rf ~"}, want: record.VerdictDeny, by: "files.delete_wide"},
		"a pack that nobody named":               {call: call{script: "git commit --amend"}, want: record.VerdictAllow},
		"a pack of the options":                  {options: func(*world) Options { return Options{Packs: []string{"git"}} }, call: call{script: "git commit --amend"}, want: record.VerdictDeny, by: "git.no_amend"},
		"the work space's file, trusted by none": {files: map[string]string{ConsumerFile: noMake}, call: call{script: "make"}, want: record.VerdictDeny, by: "house.no_make"},
		"its other commands":                     {files: map[string]string{ConsumerFile: noMake}, call: call{script: "ls"}, want: record.VerdictAllow},
		"from a directory below":                 {files: map[string]string{ConsumerFile: noMake, "sub/x": ""}, call: call{script: "make", cwd: "sub"}, want: record.VerdictDeny, by: "house.no_make"},
		"around a nested work tree":              {files: map[string]string{ConsumerFile: noMake}, nested: "sub", call: call{script: "make", cwd: "sub"}, want: record.VerdictDeny, by: "house.no_make"},
		"beside the work space":                  {files: map[string]string{"../" + ConsumerFile: noMake}, call: call{script: "make"}, want: record.VerdictAllow},
		"a name that is not read":                {files: map[string]string{"coding_ethos.yaml": noMake}, call: call{script: "make"}, want: record.VerdictAllow},
		"a file of the options": {options: func(w *world) Options { return Options{Policies: []string{w.write(w.home+"/p.yml", noMake)}} },
			call: call{script: "make"}, want: record.VerdictDeny, by: "house.no_make"},
		"a directory of the options": {options: func(w *world) Options {
			w.write(w.home+"/p/readme.txt", "no policy")
			w.write(w.home+"/p/a.yaml", noLs)
			return Options{Policies: []string{filepath.Dir(w.write(w.home+"/p/b.yml", noMake))}}
		}, call: call{script: "make"}, want: record.VerdictDeny, by: "house.no_make"},
		"mode plan":               {call: call{script: "make", mode: record.ModePlan}, want: record.VerdictDeny, by: "trust.plan_command"},
		"mode verify":             {call: call{script: "rm src/a.go", mode: record.ModeVerify}, want: record.VerdictDeny, by: "verify.write"},
		"the same in mode safe":   {call: call{script: "rm src/a.go"}, want: record.VerdictAllow},
		"mode verify, and a test": {call: call{script: "go test ./...", mode: record.ModeVerify}, want: record.VerdictAllow},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for file, text := range c.files {
				w.write(file, text)
			}
			if c.nested != "" {
				w.repository(c.nested)
			}
			var o Options
			if c.options != nil {
				o = c.options(w)
			}
			w.holds(name, w.decide(w.decider(o), w.line(c.call)), c.want, c.by)
		})
	}
}

// TestModeOfTheCaller: the mode that the caller gives counts in place of the record's, and is noted.
func TestModeOfTheCaller(t *testing.T) {
	w := newWorld(t)
	l, d := w.line(call{script: "make"}), w.decider(Options{})
	d.Mode = record.ModePlan
	w.holds("plan", w.decide(d, l), record.VerdictDeny, "trust.plan_command")
	var actor record.Actor
	if w.must(l.Decode("actor", &actor)); actor.Mode != record.ModePlan {
		t.Errorf("the record says %s", actor.Mode)
	}
}

// TestAdministratorDecides: the policies of the machine's administrator count in every work space,
// and no file that a person trusts or names weakens them.
func TestAdministratorDecides(t *testing.T) {
	files := []ceiling.File{
		{Name: ceiling.Dir + "/" + ceiling.Name, Text: []byte("version: 1\n")},
		{Name: ceiling.Dir + "/" + ceiling.Policies + "/house.yml", Text: []byte(noMake)},
	}
	const weaken = "version: 1\npolicies:\n  - {id: house.no_make, effect: allow}\n"
	for name, change := range map[string]func(*world) Options{
		"alone": func(*world) Options { return Options{} },
		"trusted": func(w *world) Options {
			w.trusts(w.write(ConsumerFile, weaken))
			return Options{}
		},
		"named": func(w *world) Options { return Options{Policies: []string{w.write(w.home+"/p.yml", weaken)}} },
	} {
		w := newWorld(t)
		d := w.decider(change(w))
		d.Library.ready, d.Library.files, d.Library.limit = true, files, &ceiling.Ceiling{Digest: "sha256:00"}
		d.Library.given = Administrators(files)
		for _, path := range d.Library.options.Policies {
			more, err := readPolicies(path)
			w.must(err)
			d.Library.given = append(d.Library.given, more...)
		}
		l := w.line(call{script: "make"})
		v, err := d.Decide(t.Context(), l)
		if err == nil && (v.Decision.Verdict != record.VerdictDeny || v.Decision.Policy.Ceiling != "sha256:00") {
			t.Errorf("%s: %+v", name, v.Decision)
		}
		if err != nil && l.Has("decision") {
			t.Errorf("%s: %v, and a decision", name, err)
		}
	}
	if list := Administrators(files); len(list) != 1 || !list[0].Ceiling {
		t.Errorf("%+v", list)
	}
}

// TestOnlyTrustedFilesWiden: what a file weakens counts for the content, and at the place, that a
// person has trusted.
func TestOnlyTrustedFilesWiden(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *world, file string)
		trusted bool
	}{
		"nobody":          {arrange: func(*world, string) {}},
		"this content":    {arrange: func(w *world, file string) { w.trusts(file) }, trusted: true},
		"another content": {arrange: func(w *world, file string) { w.trusts(file); w.write(file, looser+"# more\n") }},
		"another place":   {arrange: func(w *world, _ string) { w.trusts(w.write("sub/"+ConsumerFile, looser)) }},
		"an older content": {arrange: func(w *world, file string) {
			w.trusts(file)
			w.trusts(w.write(file, noMake))
			w.write(file, looser)
		}},
		"a memory that came with the work space": {arrange: func(w *world, file string) {
			w.stateDir = filepath.Join(w.home, "state")
			w.trusts(file)
			w.must(os.CopyFS(filepath.Join(w.workspace, "state"), os.DirFS(w.stateDir)))
			w.stateDir = filepath.Join(w.workspace, "state")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			file := w.write(ConsumerFile, looser)
			c.arrange(w, file)
			want := map[bool]string{true: record.VerdictWarn, false: record.VerdictDeny}[c.trusted]
			d := w.decider(Options{})
			v := w.decide(d, w.line(call{script: "git commit --amend"}))
			w.holds(name, v, want, "git.no_amend")
			if list := v.Decision.Policy.Configuration; len(list) != 1 || list[0].Path != file || list[0].Trusted != c.trusted || len(list[0].Widens) != 1 {
				t.Errorf("%+v", list)
			}
			said := strings.Join(d.Library.Warnings(v.Decision), "\n")
			if c.trusted != (said == "") || !c.trusted && !strings.Contains(said, "ethos-decide trust "+file) {
				t.Errorf("said: %q", said)
			}
			if again := d.Library.Warnings(v.Decision); len(again) > 0 {
				t.Errorf("said twice: %q", again)
			}
		})
	}
}

// TestFileAroundOnlyNarrows: the file of a work tree around the work space gives nothing, even if it
// is trusted.
func TestFileAroundOnlyNarrows(t *testing.T) {
	w := newWorld(t)
	w.trusts(w.write(ConsumerFile, looser))
	w.repository("sub")
	d := w.decider(Options{Packs: []string{"git"}})
	w.holds("below", w.decide(d, w.line(call{script: "git commit --amend", cwd: "sub"})), record.VerdictDeny, "git.no_amend")
	w.holds("itself", w.decide(d, w.line(call{script: "git commit --amend"})), record.VerdictWarn, "git.no_amend")
}

// TestProofsOutliveTheFile: what a person has accepted asks for proofs until a person accepts that it
// does not, whatever becomes of the file; what nobody accepted asks while it is there.
func TestProofsOutliveTheFile(t *testing.T) {
	const asks = "version: 1\nproofs:\n  - {paths: ['**'], needs: [go test ./...]}\n"
	for name, c := range map[string]struct {
		change func(w *world, file string)
		script string
		want   bool
	}{
		"there":              {func(*world, string) {}, "go test ./...", true},
		"another command":    {func(*world, string) {}, "go vet ./...", false},
		"removed":            {func(w *world, file string) { w.must(os.Remove(file)) }, "go test ./...", false},
		"trusted, removed":   {func(w *world, file string) { w.trusts(file); w.must(os.Remove(file)) }, "go test ./...", true},
		"trusted, changed":   {func(w *world, file string) { w.trusts(file); w.write(file, noLs) }, "go test ./...", true},
		"trusted as changed": {func(w *world, file string) { w.trusts(w.write(file, noLs)) }, "go test ./...", false},
	} {
		w := newWorld(t)
		c.change(w, w.write(ConsumerFile, asks))
		l := w.line(call{script: c.script})
		w.holds(name, w.decide(w.decider(Options{}), l), record.VerdictAllow, "")
		if l.Has("tree") != c.want {
			t.Errorf("%s: the content is recorded: %v", name, !c.want)
		}
	}
}

// TestBrokenPoliciesDecideNothing: with policies that cannot be in force, nothing is decided, the
// line stays as it was, and the error says what to do.
func TestBrokenPoliciesDecideNothing(t *testing.T) {
	named := func(path string) func(*world) Options {
		return func(*world) Options { return Options{Policies: []string{path}} }
	}
	file := func(text string) func(*world) Options {
		return func(w *world) Options { w.write(ConsumerFile, text); return Options{} }
	}
	example := func(examples string) string {
		return strings.Replace(noMake, ", message", ", examples: "+examples+", message", 1)
	}
	for name, c := range map[string]struct {
		arrange func(*world) Options
		sound   bool
	}{
		"sound":             {arrange: file(noMake), sound: true},
		"no YAML":           {arrange: file("version: [")},
		"empty":             {arrange: file("")},
		"unknown key":       {arrange: file("version: 1\npolices: []\n")},
		"unknown pack":      {arrange: file("version: 1\npacks: [gti]\n")},
		"does not compile":  {arrange: file(strings.Replace(noMake, "runs(", "run(", 1))},
		"protected":         {arrange: func(w *world) Options { w.trusts(w.write(ConsumerFile, weaker)); return Options{} }},
		"right example":     {arrange: file(example("{deny: [make], allow: [ls]}")), sound: true},
		"wrong example":     {arrange: file(example("{deny: [ls], allow: [make]}"))},
		"unchecked example": {arrange: func(w *world) Options { w.write(ConsumerFile, example("{deny: [ls]}")); return Options{Unproven: true} }, sound: true},
		"a directory":       {arrange: func(w *world) Options { w.write(ConsumerFile+"/x", ""); return Options{} }},
		"a link out of it": {arrange: func(w *world) Options {
			w.must(os.Symlink(w.write(w.home+"/p.yml", noLs), filepath.Join(w.workspace, ConsumerFile)))
			return Options{}
		}},
		"a link within it": {arrange: func(w *world) Options {
			w.write("etc/p.yml", noMake)
			w.must(os.Symlink("etc/p.yml", filepath.Join(w.workspace, ConsumerFile)))
			return Options{}
		}, sound: true},
		"around it": {arrange: func(w *world) Options {
			w.write("../"+ConsumerFile, "version: [")
			w.repository("..")
			return Options{}
		}},
		"no such file":      {arrange: named("/no/such/file.yml")},
		"an empty folder":   {arrange: func(w *world) Options { return Options{Policies: []string{w.home}} }},
		"pack of an option": {arrange: func(*world) Options { return Options{Packs: []string{"cor"}} }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.decider(c.arrange(w))
			l := w.line(call{script: "true"})
			w.must(l.Set("decision", record.Decision{Verdict: record.VerdictDeny}))
			l = w.parsed(l)
			before := string(l.AppendTo(nil))
			v, err := d.Decide(t.Context(), l)
			if c.sound {
				w.must(err)
				w.holds(name, v, record.VerdictAllow, "")
				return
			}
			var told *Error
			if !errors.As(err, &told) || told.Hint == "" || Allows(v.Decision.Verdict) {
				t.Errorf("%+v: %v", v.Decision, err)
			}
			if after := string(l.AppendTo(nil)); after != before {
				t.Errorf("the line was changed: %s", after)
			}
		})
	}
}

// TestFailedEvaluationDenies: a policy that cannot be evaluated for a record denies it.
func TestFailedEvaluationDenies(t *testing.T) {
	w := newWorld(t)
	w.write(ConsumerFile, strings.Replace(noMake, `runs(shell, "make")`, `shell.commands[9].name == "x"`, 1))
	v := w.decide(w.decider(Options{}), w.line(call{script: "ls"}))
	w.holds("failed", v, record.VerdictDeny, "")
	if len(v.Decision.Errors) != 1 || v.Decision.Errors[0].Code != policy.CodeError {
		t.Errorf("%+v", v.Decision.Errors)
	}
}

// TestUnknownFactsDeny: what could not be established is not taken for absent.
func TestUnknownFactsDeny(t *testing.T) {
	w := newWorld(t)
	for script, want := range map[string]string{"if": record.VerdictDeny, "if true; then ls; fi": record.VerdictAllow} {
		v := w.decide(w.decider(Options{}), w.line(call{script: script}))
		w.holds(script, v, want, "")
		if unknown := len(v.Decision.Errors) == 1 && v.Decision.Errors[0].Code == policy.CodeIncomplete; unknown == Allows(want) {
			t.Errorf("%s: %+v", script, v.Decision.Errors)
		}
	}
}

// TestLibraryHoldsManyWorkSpaces: each has its own policies, however many there are.
func TestLibraryHoldsManyWorkSpaces(t *testing.T) {
	w := newWorld(t)
	d := w.decider(Options{})
	for i := range maxSets + 2 {
		dir := filepath.Join("many", string(rune('a'+i%26))+strings.Repeat("x", i/26))
		w.repository(dir)
		want := record.VerdictAllow
		if i%2 == 1 {
			w.write(filepath.Join(dir, ConsumerFile), noMake)
			want = record.VerdictDeny
		}
		w.holds(dir, w.decide(d, w.line(call{script: "make", cwd: dir})), want, "")
	}
	if n := len(d.Library.sets); n > maxSets {
		t.Errorf("%d sets are held", n)
	}
}

// TestNoteOfProvenExamples: the note saves the examples of the texts that were proven, and no others;
// it is written below a directory of ethos alone, and not through a link.
func TestNoteOfProvenExamples(t *testing.T) {
	right := strings.Replace(noMake, ", message", ", examples: {deny: [make]}, message", 1)
	wrong := strings.Replace(noMake, ", message", ", examples: {deny: [ls]}, message", 1)
	load := func(w *world) error {
		_, err := w.decider(Options{}).Library.Set(w.workspace)
		return err
	}
	notes := func(dir string) []string {
		names, _ := filepath.Glob(filepath.Join(dir, "proven-*")) // the pattern is right
		return names
	}
	w := newWorld(t)
	w.write(ConsumerFile, right)
	cache := filepath.Join(w.workspace, ".coding-ethos/cache")
	if w.must(load(w)); len(notes(cache)) > 0 {
		t.Error("without a directory of ethos there is a note")
	}
	w.must(os.Mkdir(filepath.Dir(cache), 0o700))
	if w.must(load(w)); len(notes(cache)) != 1 {
		t.Errorf("%d notes", len(notes(cache)))
	}
	w.must(load(w))
	w.write(ConsumerFile, wrong)
	if load(w) == nil {
		t.Error("a wrong example is covered by the note of another text")
	}

	w = newWorld(t)
	w.write(ConsumerFile, right)
	w.must(os.Mkdir(filepath.Join(w.workspace, ".coding-ethos"), 0o700))
	w.must(os.Symlink(w.home, filepath.Join(w.workspace, ".coding-ethos/cache")))
	if w.must(load(w)); len(notes(w.home)) > 0 {
		t.Error("the note was written through a link out of the work space")
	}
}

// TestNamesThatAreNotRead: a file with nearly the right name is reported once.
func TestNamesThatAreNotRead(t *testing.T) {
	w := newWorld(t)
	w.write("coding_ethos.yaml", noMake)
	w.write("repo_config.yml", "")
	d := w.decider(Options{})
	v := w.decide(d, w.line(call{script: "make"}))
	said := d.Library.Warnings(v.Decision)
	if len(said) != 2 || !strings.Contains(said[0], ConsumerFile) || !strings.Contains(said[1], "repo_config.yaml") {
		t.Errorf("%q", said)
	}
	if again := d.Library.Warnings(v.Decision); len(again) > 0 {
		t.Errorf("said twice: %q", again)
	}
	told := d.Library.Told()
	slices.Sort(told)
	other := w.decider(Options{})
	other.Library.Said(told) // as the program that takes over does
	if said := other.Library.Warnings(w.decide(other, w.line(call{script: "make"})).Decision); len(told) != 2 || len(said) > 0 {
		t.Errorf("told %q, and again %q", told, said)
	}
}
