package shell

// merge folds the scope of a branch that may or may not have run into s, its parent. If always is
// set, the branch has run and its values replace those of s.
func (s *scope) merge(branch *scope, always bool) {
	for name, v := range branch.vars {
		if _, local := branch.locals[name]; local {
			continue
		}
		if !always {
			old, _ := s.lookup(name)
			v.alts = addAlts(old.alts, v.alts)
		}
		s.set(name, v)
	}
	for name, f := range branch.funcs {
		if !always {
			f = addFunctions(s.functions(name), f)
		}
		s.define(name, f)
	}
	for name, target := range branch.refs {
		if _, local := branch.locals[name]; !local {
			s.refer(name, target)
		}
	}
	for name, al := range branch.aliases {
		s.setAlias(name, al)
	}
	if branch.hasCwd {
		s.mergeDir(branch.cwd, always)
	}
	if always && branch.stack != nil {
		s.stack = branch.stack
	}
	if branch.args != nil && branch.locals == nil {
		if s.args = branch.args; !always {
			s.args = &positional{zero: branch.args.zero, dyn: true}
		}
	}
}

// mergeDir merges the directory of a branch. After "if …; then cd x; fi" the directory may be
// either one; the new one is recorded as possible.
func (s *scope) mergeDir(d dir, always bool) {
	old := s.dir()
	if !always && old != d {
		d.unknown = true
	}
	s.chdir(d)
}

// mergeArms folds the arms of an if or case into s. If exhaustive is set, one of them has run.
func (s *scope) mergeArms(arms []*scope, exhaustive bool) {
	if len(arms) == 0 {
		return
	}
	seen := map[string]int{}
	joined := &scope{parent: s}
	for _, arm := range arms {
		for name, v := range arm.vars {
			if seen[name]++; seen[name] > 1 {
				v.alts = addAlts(joined.vars[name].alts, v.alts)
			} else if joined.vars == nil {
				joined.vars = make(map[string]variable)
			}
			joined.vars[name] = v
		}
		arm.vars = nil
		joined.merge(arm, false)
	}
	for name, v := range joined.vars {
		if !exhaustive || seen[name] < len(arms) {
			old, _ := s.lookup(name)
			v.alts = addAlts(old.alts, v.alts)
		}
		s.set(name, v)
	}
	joined.vars = nil
	s.merge(joined, false)
}

func addFunctions(a, b []*function) []*function {
	if len(a) == 0 {
		a = []*function{nil}
	}
	out := append([]*function(nil), a...)
next:
	for _, f := range b {
		for _, g := range out {
			if f == g {
				continue next
			}
		}
		out = append(out, f)
	}
	if len(out) > maxAlts {
		out = out[:maxAlts]
	}
	return out
}

// addAlts returns the union. More than maxAlts values count as unknown.
func addAlts(a, b []alt) []alt {
	out := a[:len(a):len(a)]
	for _, x := range b {
		out = addAlt(out, x)
	}
	return out
}

func addAlt(alts []alt, x alt) []alt {
	for _, y := range alts {
		if sameAlt(x, y) {
			return alts
		}
	}
	if len(alts) >= maxAlts {
		return unknown.alts
	}
	return append(alts[:len(alts):len(alts)], x)
}

func sameAlt(x, y alt) bool {
	if x.text != y.text || x.array != y.array || x.dyn != y.dyn || x.unset != y.unset || x.glob != y.glob || x.names != y.names || x.whole != y.whole || x.fed != y.fed || x.secret != y.secret || len(x.list) != len(y.list) {
		return false
	}
	for i := range x.list {
		if x.list[i] != y.list[i] {
			return false
		}
	}
	return true
}
