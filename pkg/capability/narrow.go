package capability

// Excess is one field in which a set exceeds another.
type Excess struct {
	Field string // as in a record: write_paths, network.mode
	Value string // the child's value
	Limit string // what the parent allows
}

func (e Excess) String() string {
	return e.Field + ": " + e.Value + " is more than " + e.Limit
}

// Narrow returns what both sets allow. A limit of 0 and an empty word are no statement and take the
// other set's value.
func Narrow(s Space, parent, child Set) Set {
	var out Set
	meetPaths(tableOf(s, parent), tableOf(s, child)).into(&out)
	for i := range fields {
		if f := &fields[i]; f.kind.meet != nil {
			f.kind.meet(f, &out, &parent, &child)
		}
	}
	out.Tags = Tags(out)
	if child.SandboxProfile != "" && len(Widens(s, parent, child)) == 0 {
		out.SandboxProfile = child.SandboxProfile
	}
	return out
}

// Widens lists the fields in which child exceeds parent. It is empty if child is within parent on
// every field.
func Widens(s Space, parent, child Set) []Excess {
	out := pathExcess(tableOf(s, parent), tableOf(s, child))
	for rank := 1; rank <= reported; rank++ {
		for i := range fields {
			f := &fields[i]
			if f.kind.report != rank {
				continue
			}
			if value, bound, more := f.kind.exceeds(f, &parent, &child); more {
				out = append(out, Excess{f.name, value, bound})
			}
		}
	}
	return out
}
