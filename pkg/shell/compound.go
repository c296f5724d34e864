package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ifClause walks if, every elif and else. It does not recurse along the chain, which may have any
// length.
func (c *walker) ifClause(clause *syntax.IfClause) {
	in, ok := c.enter("if")
	if !ok {
		return
	}
	var arms []*scope
	exhaustive := false
	for at := clause; at != nil; at = at.Else {
		if !c.spend(costStatement) {
			break
		}
		if len(at.Cond) > 0 {
			cond := *in
			if at != clause {
				cond.scope = c.scope.child()
			}
			cond.stmts(at.Cond)
			if at != clause {
				c.scope.merge(cond.scope, false)
			}
		} else {
			exhaustive = true
		}
		arm := *in
		arm.scope = c.scope.child()
		arm.stmts(at.Then)
		arms = append(arms, arm.scope)
	}
	c.scope.mergeArms(arms, exhaustive)
}

func (c *walker) caseClause(clause *syntax.CaseClause) {
	in, ok := c.enter("case")
	if !ok {
		return
	}
	c.scanWord(clause.Word)
	var arms []*scope
	exhaustive, through := false, false
	for _, item := range clause.Items {
		if !c.spend(costStatement) {
			break
		}
		for _, p := range item.Patterns {
			c.scanWord(p)
			exhaustive = exhaustive || p.Lit() == "*"
		}
		arm := *in
		arm.scope = c.scope.child()
		if through {
			arm.scope.merge(arms[len(arms)-1], false)
		}
		arm.stmts(item.Stmts)
		arms = append(arms, arm.scope)
		if through = item.Op != syntax.Break; through {
			exhaustive = false
		}
	}
	c.scope.mergeArms(arms, exhaustive)
}

func (c *walker) whileClause(w *syntax.WhileClause) {
	label := "while"
	if w.Until {
		label = "until"
	}
	name, lines := c.readLines(w)
	c.loop(label, [][]*syntax.Stmt{w.Cond, w.Do}, func(in *walker) {
		if in.stmts(w.Cond); len(lines) > 0 {
			in.eachValue(name, lines, w.Do)
			return
		}
		in.stmts(w.Do)
	})
}

// readLines returns the lines that "while read NAME" reads, if the input is known or is a list of
// file names: the operands of ls, the roots of find.
func (c *walker) readLines(w *syntax.WhileClause) (name string, lines []alt) {
	if w.Until || len(w.Cond) != 1 || len(w.Cond[0].Redirs) > 0 {
		return "", nil
	}
	call, ok := w.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "read" {
		return "", nil
	}
	e := eval{c: c, frozen: true}
	p := (grammar{short: "a:d:i:n:N:p:t:u:"}).parse(e.words(call.Args)[1:], true)
	if len(p.operands) != 1 || !p.operands[0].static() || !syntax.ValidName(p.operands[0].text) || p.has("a", "n", "N", "u") {
		return "", nil
	}
	input := c.stdin
	if deletes([]field{{text: c.src.slice(bodyOf(w))}}) {
		input = c.namesIn(input)
	}
	if text, ok := input.static(); ok {
		split := "\n"
		if d, ok := p.value("d"); ok && d.text == "" {
			split = "\x00"
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(text.text, split), split) {
			lines = addAlt(lines, alt{text: line})
		}
		return p.operands[0].text, lines
	}
	return p.operands[0].text, c.listed(c.stdin)
}

func bodyOf(w *syntax.WhileClause) (from, to int) {
	return int(w.DoPos.Offset()), int(w.DonePos.Offset())
}

func (c *walker) forClause(f *syntax.ForClause) {
	label := "for"
	if f.Select {
		label = "select"
	}
	bodies := [][]*syntax.Stmt{f.Do}
	switch l := f.Loop.(type) {
	case *syntax.WordIter:
		alts := c.loopValues(l)
		if f.Select {
			alts = addAlt(alts, alt{dyn: true})
		}
		c.loop(label, bodies, func(in *walker) { in.eachValue(l.Name.Value, alts, f.Do) })
	case *syntax.CStyleLoop:
		c.loop(label, bodies, func(in *walker) {
			in.scanArith(l.Init)
			in.scanArith(l.Cond)
			in.scanArith(l.Post)
			in.stmts(f.Do)
		})
	}
}

// eachValue walks the body of a for loop once for each value of its variable, so that everything
// that depends on the value stays consistent. In nested loops it walks once with all values that
// the variable may have.
func (c *walker) eachValue(name string, alts []alt, body []*syntax.Stmt) {
	rounds := max(c.rounds, 1) * len(alts)
	if rounds > maxRounds {
		c.scope.set(name, variable{alts: alts})
		c.stmts(body)
		return
	}
	for _, a := range alts {
		in := *c
		in.rounds = rounds
		in.scope = c.scope.child()
		in.scope.set(name, variable{alts: []alt{a}})
		in.stmts(body)
		c.scope.merge(in.scope, false)
	}
}

func (c *walker) loopValues(l *syntax.WordIter) []alt {
	for _, w := range l.Items {
		c.scanWord(w)
	}
	items := []field{}
	if l.InPos.IsValid() {
		eval{c: c, values: true}.expand(l.Items, func(fields []field) { items = append(items, fields...) })
	} else {
		p := c.scope.positional()
		if items = append(items, p.args...); p.dyn {
			items = append(items, field{dyn: true})
		}
	}
	var alts []alt
	for _, f := range items {
		alts = addAlt(alts, fieldAlt(f))
	}
	if len(alts) == 0 {
		return []alt{{dyn: true}}
	}
	return alts
}

// fieldAlt returns a word as the value of a variable. A pattern stands for unknown names.
func fieldAlt(f field) alt {
	return alt{text: f.text, dyn: f.dyn || f.glob || f.many, glob: f.glob, whole: f.whole, secret: f.secret}
}

// loop walks a body that may run any number of times. Its assignments also hold at its beginning.
// If it changes the directory, the directory is unknown in the second round.
func (c *walker) loop(label string, bodies [][]*syntax.Stmt, walk func(*walker)) {
	in, ok := c.enter(label)
	if !ok {
		return
	}
	before := c.scope.dir()
	in.scope = c.scope.child()
	in.widen(bodies)
	walk(in)
	if after := in.scope.dir(); after != before && !c.halted {
		again := *in
		again.scope = in.scope.child()
		again.scope.chdir(dir{path: after.path, unknown: true})
		walk(&again)
	}
	c.scope.merge(in.scope, false)
}

func (c *walker) funcDecl(f *syntax.FuncDecl) {
	names := f.Names
	if f.Name != nil {
		names = append(names, f.Name)
	}
	for _, name := range names {
		c.defineFunction(name.Value, f.Body)
	}
}

func (c *walker) defineFunction(name string, body *syntax.Stmt) {
	if knownCommand(name) {
		c.risk(riskFunctionShadow)
	}
	f := &function{name: name, body: body, in: *c}
	if c.scope.parent == nil || c.scope.shell != c.scope.parent.shell { // it is unknown whether the line is reached
		for _, old := range c.scope.functions(name) {
			if old != nil {
				old.called = true // or it never was: nothing can call it any more
			}
		}
	}
	c.scope.define(name, []*function{f})
	sh := c.scope.root()
	sh.functions = append(sh.functions, f)
}

func (c *walker) callFunctions(funcs []*function, inv invocation) {
	args := &positional{zero: field{text: "bash", dyn: true}, args: inv.fields[1:]}
	for _, f := range args.args {
		args.dyn = args.dyn || f.many || f.glob
	}
	for _, f := range funcs {
		if f == nil {
			inv.noFunc = true
			c.dispatch(inv)
			continue
		}
		in := *c
		in.scope = c.scope.child()
		in.scope.locals = map[string]struct{}{}
		in.assignPrefix(inv.env)
		in.callBody(f, inv, args)
		c.scope.merge(in.scope, len(funcs) == 1)
	}
}

// callBody walks the body of f. A recursive call is walked once with unknown arguments, and after
// that listed by name.
func (c *walker) callBody(f *function, inv invocation, args *positional) {
	f.called = true
	active := c.calls.active(f)
	if active >= 2 {
		c.emit(inv, f.name)
		return
	}
	in, ok := c.enter("function:" + f.name)
	if !ok || !c.spend(costStatement) {
		return
	}
	in.src = f.in.src
	in.depth = f.in.depth
	in.calls = &call{outer: c.calls, f: f}
	if active > 0 {
		args = &positional{zero: args.zero, dyn: true}
	}
	in.scope.args = args
	in.stmt(f.body)
}

// positionals returns $0, $1, … for the given words.
func positionals(fields []field) *positional {
	p := &positional{}
	for i, f := range fields {
		p.dyn = p.dyn || f.many || f.glob
		if i == 0 {
			p.zero = f
		} else {
			p.args = append(p.args, f)
		}
	}
	return p
}

// number returns the value of a field that holds a decimal number.
func (f field) number() (int, bool) {
	if f.dyn {
		return 0, false
	}
	n, err := strconv.Atoi(f.text)
	return n, err == nil
}
