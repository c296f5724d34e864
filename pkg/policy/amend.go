package policy

import "slices"

// amend applies the entry of a consumer's file to a shipped policy. A protected policy can be made
// stricter, broader and better explained; its expression stays. For any other shipped policy, a
// trusted file can change everything but the pack; an untrusted file can only make it stricter.
func (l *loader) amend(f *file, w *written, old *rule) {
	faults := len(f.faults)
	if old.Protected {
		f.refuseWeakening(w, &old.Policy)
	}
	if at := w.given["pack"]; at != nil && w.Pack != old.Pack {
		f.fault(at, "policy %q is of pack %q", w.ID, old.Pack)
	}
	l.checkPrinciple(f, w)
	if len(f.faults) > faults {
		return
	}
	weaker := weakenings(w, &old.Policy)
	amended := *old
	overlay(&amended.Policy, w)
	if w.given["when"] != nil {
		w.Policy = amended.Policy
		compiled := f.rule(w)
		if compiled == nil {
			return
		}
		amended.need, amended.reads, amended.expr = compiled.need, compiled.reads, compiled.expr
	}
	amended.digest = digestOf(&amended.Policy)
	amended.ceiling = old.ceiling || f.ceiling
	f.widens = append(f.widens, weaker...)
	if len(weaker) > 0 && (!f.trusted || old.ceiling && !f.ceiling) {
		l.beside(&amended)
		return
	}
	l.set.rules[slices.Index(l.set.rules, old)] = &amended
}

// beside adds a policy that decides in addition to another one of the same name. The stricter
// result counts.
func (l *loader) beside(r *rule) {
	l.set.rules = append(l.set.rules, r)
	l.set.doubled = true
}

// refuseWeakening records a fault for each key that would let a protected policy pass more than
// before.
func (f *file) refuseWeakening(w *written, old *Policy) {
	refuse := func(key, why string) {
		f.fault(w.given[key], "policy %q is protected: %s", w.ID, why)
	}
	if w.given["when"] != nil {
		refuse("when", "its expression cannot be changed; write a policy of your own beside it")
	}
	if w.given["effect"] != nil && Stricter(old.Effect, w.Effect) {
		refuse("effect", "its effect is "+old.Effect+" and can only become stricter")
	}
	if w.given["on"] != nil && !covers(w.On, old.On, defaultKinds()) {
		refuse("on", "it can be on more kinds of action, not on fewer")
	}
	if w.given["modes"] != nil && !covers(w.Modes, old.Modes, Modes()) {
		refuse("modes", "it can hold in more modes, not in fewer")
	}
	if w.given["protected"] != nil && !w.Protected {
		refuse("protected", "it stays so")
	}
}

func defaultKinds() []string { return Kinds()[:len(Kinds())-1] }

// covers reports whether the new list contains everything of the old one. An old list that is empty
// means all.
func covers(list, old, everything []string) bool {
	if len(old) == 0 {
		old = everything
	}
	return !slices.ContainsFunc(old, func(name string) bool { return !slices.Contains(list, name) })
}

func overlay(p *Policy, w *written) {
	put := map[string]func(){
		"principle": func() { p.Principle = w.Principle },
		"effect":    func() { p.Effect = w.Effect },
		"on":        func() { p.On = w.On },
		"modes":     func() { p.Modes = w.Modes },
		"when":      func() { p.When = w.When },
		"message":   func() { p.Message = w.Message },
		"remedy":    func() { p.Remedy = w.Remedy },
		"examples":  func() { p.Examples = w.Examples },
		"protected": func() { p.Protected = w.Protected },
	}
	for name := range w.given {
		if set := put[name]; set != nil {
			set()
		}
	}
	p.File, p.Line, p.Column = w.File, w.Line, w.Column
}
