package explain

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// maxObserved limits the denials for one command, and maxAsked the lookups.
const (
	maxObserved = 20
	maxAsked    = 1000
	fewFiles    = 3 // files of one directory, before the directory is proposed
)

// Observed says what the boundary refused of the observed needs, last one
// first. What a command looks for but does not require is folded.
func (x *Explainer) Observed(needs []Need) (list []record.Denial) {
	for _, n := range needs[:min(len(needs), maxAsked)] {
		if x.probing(n) {
			continue
		}
		d, ok := x.denialOf(x.sharpen(n))
		if !ok {
			continue
		}
		if i := slices.IndexFunc(list, func(o record.Denial) bool { return o.Path == d.Path && o.What == d.What && o.Layer == d.Layer }); i >= 0 {
			list[i] = stronger(list[i], d)
			continue
		}
		list = append(list, d)
	}
	list = x.together(list)
	slices.SortStableFunc(list, func(a, b record.Denial) int { return cmp.Compare(rank(a), rank(b)) })
	return list[:min(len(list), maxObserved)]
}

func (x *Explainer) denialOf(n Need) (record.Denial, bool) {
	if n.Address.IsValid() {
		return x.unreached(n)
	}
	return x.Denial(n)
}

// stronger merges two denials for one path.
func stronger(a, b record.Denial) record.Denial {
	count := a.Count + b.Count
	if strings.HasPrefix(b.Remedy, "--rw ") {
		a = b
	}
	a.Count = count
	return a
}

// rank orders what was used before what was only looked for: many programs
// check for a file and continue without it.
func rank(d record.Denial) int {
	switch d.Call {
	case "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat":
		return 1
	}
	return 0
}

// together proposes a directory in place of several files in it.
func (x *Explainer) together(list []record.Denial) []record.Denial {
	files := map[string][]int{}
	for i, d := range list {
		if d.Kind == record.KindHidden && strings.HasPrefix(d.Remedy, "--ro ") {
			files[filepath.Dir(d.Path)] = append(files[filepath.Dir(d.Path)], i)
		}
	}
	gone := map[int]bool{}
	for dir, at := range files {
		if len(at) < fewFiles {
			continue
		}
		d, ok := x.Denial(Need{Path: dir, Process: list[at[0]].Process, Call: list[at[0]].Call})
		if !ok || d.Remedy == "" {
			continue
		}
		for _, i := range at {
			d.Count += list[i].Count
			gone[i] = i != at[0]
		}
		list[at[0]] = d
	}
	var kept []record.Denial
	for i, d := range list {
		if !gone[i] {
			kept = append(kept, d)
		}
	}
	return kept
}

// probes lists files below the home directory that programs look for wherever
// they run, and do not require.
var probes = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshenv", ".zshrc", ".zprofile", ".zlogin", ".inputrc", ".terminfo", ".hushlogin",
	".Xauthority", ".vimrc", ".viminfo", ".lesshst", ".wgetrc", ".curlrc", ".nanorc", ".editrc",
}

// probing reports whether a need is folded: a search that succeeded elsewhere,
// and files that every program of a kind asks for.
func (x *Explainer) probing(n Need) bool {
	if n.Address.IsValid() || n.Write {
		return false
	}
	rel, below := strings.CutPrefix(n.Path, x.plan.Home+"/")
	return below && slices.Contains(probes, rel) || !n.Socket && within(filepath.Clean(n.Path), []string{"/run", "/var/run"}) || x.searched(n.Path)
}

// searched reports whether a later directory of PATH has the program.
func (x *Explainer) searched(path string) bool {
	dir, name := filepath.Split(path)
	dirs := filepath.SplitList(plan.Lookup(x.plan.Env, "PATH"))
	if !slices.Contains(dirs, filepath.Clean(dir)) {
		return false
	}
	return slices.ContainsFunc(dirs, func(other string) bool {
		at, err := plan.Locate(x.files, filepath.Join(other, name))
		return err == nil && at.Exists && at.Mode&fs.ModePerm&0o111 != 0 && plan.Covering(x.plan.Paths, at.Path).Access != plan.Hidden &&
			plan.Covering(x.plan.Paths, at.Path).Access != plan.Private
	})
}

// unreached returns the denial for an address outside of the machine, if the
// network has none. With a gateway, the gateway itself reports its refusals.
func (x *Explainer) unreached(n Need) (d record.Denial, ok bool) {
	const nameServer = 53
	if x.plan.Network != "none" && x.plan.Network != "loopback" || n.Address.Port() == nameServer {
		return d, false
	}
	d = record.Denial{
		Layer: record.LayerNetwork, What: n.Address.String(), Kind: record.KindName, Certainty: record.Exact, Process: shown(n.Process), Call: n.Call, Count: n.Count,
		Reason: fmt.Sprintf("the command's network is %s; names are allowed with --allow-domain NAME", x.plan.Network),
	}
	return d, true
}
