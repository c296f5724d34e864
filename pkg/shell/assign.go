package shell

import (
	"cmp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign applies NAME=VALUE, NAME+=VALUE, NAME=(…) or NAME[i]=VALUE to the scope.
func (c *walker) assign(as *syntax.Assign) {
	if as.Name == nil || as.Naked {
		return
	}
	name := as.Name.Value
	old, set := c.scope.lookup(name)
	if !set {
		old = variable{alts: []alt{c.outside(name)}}
	}
	c.setVariable(name, variable{alts: c.assigned(as, old.alts)})
}

func (c *walker) outside(name string) alt {
	e := eval{c: c, frozen: true}
	return e.fromOutside(name)
}

// setVariable is the one place where a variable of the script gets a value.
func (c *walker) setVariable(name string, v variable) {
	if name == "PATH" {
		c.risk(riskPathOverride)
	}
	c.scope.set(name, v)
}

func (c *walker) assigned(as *syntax.Assign, old []alt) []alt {
	switch {
	case as.Array != nil:
		return c.assignedArray(as, old)
	case as.Index != nil:
		return c.assignedElement(as, old)
	case as.Value == nil:
		return []alt{{}}
	}
	if names := c.listedValue(as.Value); names != nil && !as.Append {
		return names
	}
	var alts []alt
	c.eachAssigned(as.Value, func(f field) {
		x := alt{text: f.text, dyn: f.dyn, secret: f.secret}
		for _, o := range old {
			alts = addAlt(alts, given(o, x, as.Append))
		}
	})
	return alts
}

// given returns the value after NAME=x, or NAME+=x if add is set. Of an array, only the first
// element changes.
func given(o, x alt, add bool) alt {
	if o.array {
		if add || x.dyn || o.dyn || len(o.list) > maxAlts {
			return alt{array: true, dyn: true}
		}
		return alt{array: true, list: append([]string{x.text}, o.list[min(1, len(o.list)):]...)}
	}
	if !add {
		return x
	}
	o.text += x.text
	o.secret = cmp.Or(o.secret, x.secret)
	o.dyn = o.dyn || x.dyn
	o.unset = false
	if len(o.text) > maxValue {
		return alt{dyn: true}
	}
	return o
}

func (c *walker) eachAssigned(w *syntax.Word, yield func(field)) {
	if lit := w.Lit(); lit != "" && strings.HasPrefix(lit, "~") || strings.Contains(lit, ":~") {
		e := eval{c: c, frozen: true}
		yield(e.single(w, true))
		return
	}
	c.each(w, yield)
}

func (c *walker) assignedArray(as *syntax.Assign, old []alt) []alt {
	list := alt{array: true}
	if as.Append {
		if len(old) != 1 || old[0].dyn {
			return []alt{{array: true, dyn: true}}
		}
		list.list = append(list.list, old[0].list...)
		if !old[0].array && !old[0].unset {
			list.list = append(list.list, old[0].text)
		}
	}
	for _, elem := range as.Array.Elems {
		if elem.Index != nil || elem.Value == nil {
			return []alt{{array: true, dyn: true}}
		}
		e := eval{c: c, frozen: true, values: true}
		for _, f := range e.word(nil, elem.Value) {
			switch {
			case f.static() && !f.glob && !f.many:
			case f.glob && !f.home && !f.dyn, f.many && !startsDynamic(f.text):
				list.dyn, list.names = true, true
			default:
				return []alt{{array: true, dyn: true}}
			}
			list.list = append(list.list, f.text)
		}
		if len(list.list) > maxFields || c.halted {
			return []alt{{array: true, dyn: true}}
		}
	}
	return []alt{list}
}

// assignedElement applies NAME[i]=VALUE. The result is known if the element is in a known array, or
// directly follows its end.
func (c *walker) assignedElement(as *syntax.Assign, old []alt) []alt {
	e := eval{c: c, frozen: true}
	i, ok := e.integer(as.Index)
	f := e.single(as.Value, true)
	if !ok || f.dyn || as.Append || len(old) != 1 {
		return []alt{{array: true, dyn: true}}
	}
	list := alt{array: true, list: append([]string(nil), old[0].list...)}
	if unsetOrArray := old[0].array && !old[0].dyn || old[0].unset; !unsetOrArray && i != 0 || i < 0 || i > len(list.list) {
		return []alt{{array: true, dyn: true}}
	}
	if !c.spend(len(list.list)) {
		return []alt{{array: true, dyn: true}}
	}
	if i == len(list.list) {
		list.list = append(list.list, f.text)
	} else {
		list.list[i] = f.text
	}
	return []alt{list}
}

func (c *walker) scanAssign(as *syntax.Assign) {
	c.scanArith(as.Index)
	c.scanWord(as.Value)
	if as.Array != nil {
		for _, elem := range as.Array.Elems {
			c.scanArith(elem.Index)
			c.scanWord(elem.Value)
		}
	}
	if as.Name != nil && as.Value != nil && promptVariable(as.Name.Value) {
		c.givenVariable(assignment{name: as.Name.Value, value: c.one(as.Value)})
	}
}

// promptVariable reports whether the value of a variable is expanded when a prompt or a trace line
// is printed, or run as a command (bash(1), "PROMPTING").
func promptVariable(name string) bool {
	switch name {
	case "PS0", "PS1", "PS2", "PS3", "PS4":
		return true
	}
	return false
}

// prefix evaluates the assignments in front of a command.
func (c *walker) prefix(assigns []*syntax.Assign) []assignment {
	var env []assignment
	for _, as := range assigns {
		if as.Name == nil {
			continue
		}
		a := assignment{name: as.Name.Value, value: field{dyn: true}}
		if as.Value != nil && as.Array == nil && as.Index == nil {
			e := eval{c: c, frozen: true}
			a.value = e.single(as.Value, true)
			a.value.dyn = a.value.dyn || as.Append
		} else if as.Value == nil && as.Array == nil {
			a.value = field{}
		}
		c.givenVariable(a)
		env = append(env, a)
	}
	return env
}

// givenVariable records the effects of a variable in the environment of a command, beyond its
// value.
func (c *walker) givenVariable(a assignment) {
	switch {
	case a.name == "PATH":
		c.risk(riskPathOverride)
	case strings.HasPrefix(a.name, "BASH_FUNC_"): // an exported function; bash takes its body from the variable
		c.risk(riskFunctionShadow)
		c.lack(lackOpaque)
	case promptVariable(a.name) && !a.value.dyn:
		c.substitutions(a.value)
	}
}

// assignPrefix sets the variables that are assigned in front of a call of a function or a builtin.
func (c *walker) assignPrefix(env []assignment) {
	for _, a := range env {
		c.scope.set(a.name, variable{alts: []alt{fieldAlt(a.value)}, exported: true})
		if c.scope.locals != nil {
			c.scope.locals[a.name] = struct{}{}
		}
	}
}

// exportPrefix passes assignments to a new process.
func (c *walker) exportPrefix(env []assignment) {
	for _, a := range env {
		c.scope.set(a.name, variable{alts: []alt{fieldAlt(a.value)}, exported: true})
	}
}
