package control_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/faketree"
	"ethos/pkg/internal/requests"
	"ethos/pkg/internal/steptext"
	"ethos/pkg/internal/textdelta"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/control"
)

var update = flag.Bool("update", false, "write the golden files")

// planned is what became of one request.
type planned struct {
	plan, steps []string // nil when it is refused
	refused     []string
}

// TestGoldenPlans records what every request of the table comes to: the plan as
// JSON and the calls that the start machine is given for it, or the refusal.
// Nothing in them depends on the machine, its user or its kernel. What is in the
// golden files is told as the difference from a plan that resembles it.
//
// The calls are compared where the golden files are made, on amd64: a seccomp
// program has the numbers of the architecture's system calls in it.
func TestGoldenPlans(t *testing.T) {
	all := requests.All()
	results, files, forms := map[string]planned{}, map[string]*bytes.Buffer{}, &steptext.Forms{}
	for i := range all {
		r := &all[i]
		if _, twice := results[r.ID()]; twice {
			t.Errorf("%s is there twice", r.ID())
		}
		results[r.ID()] = outcome(t, r, forms)
	}
	plans := 0
	for i := range all {
		r := &all[i]
		if files[r.Topic] == nil {
			files[r.Topic] = &bytes.Buffer{}
		}
		if results[r.ID()].refused == nil {
			plans++
		}
		write(files[r.Topic], r, results)
	}
	if len(all) < 200 || plans < 200 {
		t.Errorf("only %d requests, %d of them with a plan", len(all), plans)
	}
	files["forms"] = bytes.NewBufferString("-- steps\n" + strings.Join(forms.Lines(), "\n") + "\n")
	t.Logf("%d requests, %d refused", len(all), len(all)-plans)
	for _, topic := range slices.Sorted(maps.Keys(files)) {
		compare(t, filepath.Join("testdata", "plans", strings.ReplaceAll(topic, " ", "-")+".golden"), files[topic].Bytes())
	}
	stray(t, files)
}

// outcome plans one request, and compiles the plan.
func outcome(t *testing.T, r *requests.Request, forms *steptext.Forms) (got planned) {
	t.Helper()
	spec, err := r.Spec()
	if err != nil {
		return refusal(err)
	}
	files, tree := r.Files()
	plan, err := sandbox.Build(spec, files, r.Caller())
	if err != nil {
		return refusal(err)
	}
	got.plan = members(t, plan)
	host := r.Host()
	machine := control.FixedMachine{
		UID: r.Caller(), ABI: host.ABI, Cgroup: host.Cgroup, BareProc: host.Bare, Captured: r.Entrance() == "record",
		Has: func(path string) bool { return has(tree, path) }, ReadFile: tree.ReadFile,
	}
	bounds, wanted, must := control.CgroupLimits(plan)
	got.steps = []string{fmt.Sprintf("cgroup %+v wanted=%v must=%v", bounds, wanted, must)}
	ran, program, err := control.FixedProgram(t, plan, machine)
	if err != nil {
		got.steps = append(got.steps, refusal(err).refused...)
		return got
	}
	if host.Bare {
		got.steps = append(got.steps, textdelta.Lines(got.plan, members(t, ran))...)
	}
	text := steptext.Printer{Forms: forms, Argv: ran.Argv, Env: ran.Env}
	got.steps = append(got.steps, text.Program(program)...)
	return got
}

// has reports whether there is something at a path, a link at its end aside.
func has(tree faketree.Tree, path string) bool {
	_, err := tree.Lstat(path)
	return err == nil
}

func refusal(err error) planned {
	var r *sandbox.Refusal
	if !errors.As(err, &r) {
		return planned{refused: []string{"error: " + err.Error()}}
	}
	return planned{refused: []string{"refused: " + r.Code, "message: " + r.Error(), "hint: " + r.Hint}}
}

// members is the JSON of a plan: a line for each member, and of a list for each
// element.
func members(t *testing.T, plan *sandbox.Plan) (lines []string) {
	t.Helper()
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err = errors.Join(err, dec.Decode(&value)); err != nil {
			t.Fatal(err)
		}
		var list []json.RawMessage
		if value[0] != '[' || json.Unmarshal(value, &list) != nil || len(list) == 0 {
			lines = append(lines, fmt.Sprintf("%s %s", name, value))
			continue
		}
		for _, element := range list {
			lines = append(lines, fmt.Sprintf("%s[] %s", name, element))
		}
	}
	return lines
}

// base names the request that another one is told by: the plain one of its
// profile, if that has a plan, and of those, the one of the first profile.
func base(r *requests.Request, results map[string]planned) string {
	const first = "flags/profiles/workspace"
	plain := r.Entrance() + "/profiles/workspace"
	switch {
	case r.ID() == first:
		return ""
	case r.ID() == plain:
		return first
	}
	if r.Topic != "profiles" {
		for _, name := range []string{r.Profile, r.Profile + " without network", "workspace"} {
			id := r.Entrance() + "/profiles/" + name
			if got, ok := results[id]; ok && got.refused == nil {
				return id
			}
		}
	}
	return plain
}

// write tells what became of a request.
func write(to *bytes.Buffer, r *requests.Request, results map[string]planned) {
	got := results[r.ID()]
	fmt.Fprintf(to, "== %s\n", r.ID())
	for _, line := range asked(r) {
		fmt.Fprintf(to, "%s\n", line)
	}
	if got.refused != nil {
		for _, line := range got.refused {
			fmt.Fprintf(to, "%s\n", line)
		}
		return
	}
	plan, steps := got.plan, got.steps
	if like := base(r, results); like != "" {
		fmt.Fprintf(to, "like: %s\n", like)
		plan, steps = textdelta.Lines(results[like].plan, plan), textdelta.Lines(results[like].steps, steps)
	}
	fmt.Fprintf(to, "-- plan\n")
	for _, line := range plan {
		fmt.Fprintf(to, "%s\n", line)
	}
	fmt.Fprintf(to, "-- steps\n")
	for _, line := range steps {
		fmt.Fprintf(to, "%s\n", line)
	}
}

// asked is the request, for those who read.
func asked(r *requests.Request) (lines []string) {
	for _, member := range [][2]string{
		{"flags", r.Flags}, {"profile", r.Profile}, {"record", r.Record}, {"tree", r.Tree}, {"dir", r.Dir}, {"environ", strings.Join(r.Environ, " ")}, {"machine", r.Machine},
	} {
		if member[1] != "" && (member[0] != "profile" || r.Record != "") {
			lines = append(lines, member[0]+": "+member[1])
		}
	}
	if r.Environ != nil && len(r.Environ) == 0 {
		lines = append(lines, "environ: none")
	}
	if r.Root {
		lines = append(lines, "user: root")
	}
	if r.Managed {
		lines = append(lines, "git: managed")
	}
	return lines
}

// compare holds a golden file to what was got, or writes it anew.
func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, got, 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	old, now := comparable(string(want)), comparable(string(got))
	if strings.Join(old, "\n") == strings.Join(now, "\n") {
		return
	}
	diff := differences(old, now)
	const most = 60
	if len(diff) > most {
		diff = append(diff[:most], fmt.Sprintf("… and %d lines more", len(diff)-most))
	}
	t.Errorf("%s: what is planned has changed; look at it, and run the test with -update if it is meant:\n%s", name, strings.Join(diff, "\n"))
}

// comparable leaves out the steps on an architecture that has others.
func comparable(text string) (lines []string) {
	steps := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "== ") || line == "-- steps" {
			steps = line == "-- steps"
		}
		if !steps || runtime.GOARCH == "amd64" {
			lines = append(lines, line)
		}
	}
	return lines
}

// differences tells, request by request, the lines that are not the same.
func differences(old, now []string) (out []string) {
	before, after := sections(old), sections(now)
	ids := slices.Collect(maps.Keys(before))
	for id := range after {
		if before[id] == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		if lines := textdelta.Lines(before[id], after[id]); len(lines) > 0 {
			out = append(append(out, id), lines...)
		}
	}
	return out
}

func sections(lines []string) map[string][]string {
	all, id := map[string][]string{}, ""
	for _, line := range lines {
		if strings.HasPrefix(line, "== ") {
			id = line
		}
		all[id] = append(all[id], line)
	}
	return all
}

// stray finds golden files of topics that are no more.
func stray(t *testing.T, topics map[string]*bytes.Buffer) {
	t.Helper()
	found, err := filepath.Glob("testdata/plans/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(topics) {
		t.Errorf("%d golden files for %d topics: %v", len(found), len(topics), found)
	}
}
