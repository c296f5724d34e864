package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scanWord walks the commands that the expansion of a word runs, and records the risks of its
// expansions. Each word is scanned once, before it is expanded any number of times.
func (c *walker) scanWord(w *syntax.Word) {
	if w == nil || len(w.Parts) == 1 {
		if w == nil {
			return
		}
		if _, ok := w.Parts[0].(*syntax.Lit); ok {
			return
		}
	}
	c.scanParts(w.Parts, false)
}

// scanParts is scanWord for the parts of a word, or for the content of double quotes or a
// here-document.
func (c *walker) scanParts(parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.DblQuoted:
			c.scanParts(part.Parts, true)
		case *syntax.ParamExp:
			c.scanParam(part, quoted)
		case *syntax.CmdSubst:
			c.risk(riskSubshell)
			c.substituted("command_substitution", part.Stmts, part.Right)
		case *syntax.ProcSubst:
			c.risk(riskSubshell)
			in := *c
			if part.Op == syntax.CmdOut { // it reads what is written to it
				in.stdin = feed{kind: feedFile}
				c.stage.skip() // and writes to the output of the enclosing command
			}
			in.substituted("process_substitution", part.Stmts, part.Rparen)
		case *syntax.ArithmExp:
			c.risk(riskExpansion)
			c.scanArith(part.X)
		}
	}
}

// substituted walks a command or process substitution, which is not part of an enclosing pipeline.
func (c *walker) substituted(label string, stmts []*syntax.Stmt, end syntax.Pos) {
	in := *c
	in.stage = nil
	in.end = int(end.Offset())
	in.subshell(label, stmts)
}

func (c *walker) scanParam(pe *syntax.ParamExp, quoted bool) {
	c.risk(riskExpansion)
	if pe.Excl && pe.Param != nil {
		c.indexedValues(pe.Param.Value, c.src.at(int(pe.Pos().Offset())))
	}
	if pe.NestedParam != nil {
		c.scanParts([]syntax.WordPart{pe.NestedParam}, quoted)
	}
	c.scanArith(pe.Index)
	if pe.Slice != nil {
		c.scanArith(pe.Slice.Offset)
		c.scanArith(pe.Slice.Length)
	}
	if pe.Repl != nil {
		c.scanWord(pe.Repl.Orig)
		c.scanWord(pe.Repl.With)
	}
	if pe.Exp != nil {
		c.scanOperand(pe.Exp, quoted)
		c.scanOperator(pe, quoted)
	}
}

// scanOperand walks the word of ${v:-word}. Inside double quotes, single quotes do not prevent its
// expansion: "${v:-'$(command)'}" runs the command. This does not hold for patterns.
func (c *walker) scanOperand(exp *syntax.Expansion, quoted bool) {
	if exp.Word == nil {
		return
	}
	c.scanParts(exp.Word.Parts, quoted)
	if !quoted || exp.Op > syntax.AssignUnsetOrNull {
		return
	}
	for _, part := range exp.Word.Parts {
		q, ok := part.(*syntax.SglQuoted)
		if !ok {
			continue
		}
		e := eval{c: c, frozen: true}
		f := e.single(&syntax.Word{Parts: []syntax.WordPart{q}}, false)
		if strings.IndexByte(f.text, '"') >= 0 {
			c.lack(lackParse) // it is unclear where the surrounding quotes end
		}
		c.substitutions(f)
	}
}

// scanOperator applies the side effects of an expansion: ${v:=word} assigns, ${v@P} runs the value.
func (c *walker) scanOperator(pe *syntax.ParamExp, quoted bool) {
	if pe.Param == nil {
		return
	}
	switch pe.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		v, _ := c.scope.lookup(pe.Param.Value)
		f := c.one(pe.Exp.Word)
		f.dyn = f.dyn || quoted && strings.ContainsAny(f.text, "'\"\\")
		for _, part := range wordOrNone(pe.Exp.Word).Parts {
			_, single := part.(*syntax.SglQuoted)
			f.dyn = f.dyn || quoted && single
		}
		c.scope.set(pe.Param.Value, variable{alts: addAlt(v.alts, fieldAlt(f))})
	case syntax.OtherParamOps:
		if pe.Exp.Word != nil && pe.Exp.Word.Lit() == "P" {
			v, _ := c.scope.lookup(pe.Param.Value)
			at := c.src.at(int(pe.Pos().Offset()))
			for _, a := range v.alts {
				c.substitutions(field{text: a.scalar().text, offset: at, runs: runs{{offset: at, fixed: true}}})
			}
		}
	}
}

// scanArith walks the substitutions in an arithmetic expression. It does not recurse along
// left-associative chains, which may be as long as the script.
func (c *walker) scanArith(x syntax.ArithmExpr) {
	for x != nil {
		switch n := x.(type) {
		case *syntax.BinaryArithm:
			c.scanArith(n.Y)
			x = n.X
			c.arithAssign(n)
		case *syntax.UnaryArithm:
			x = n.X
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				c.forget(x)
			}
		case *syntax.ParenArithm:
			x = n.X
		case *syntax.FlagsArithm:
			x = n.X
		case *syntax.Word:
			c.scanWord(n)
			c.indexed(n)
			return
		default:
			return
		}
	}
}

// arithAssign discards the known value of a variable that an expression assigns: the new one is a
// number.
func (c *walker) arithAssign(n *syntax.BinaryArithm) {
	switch n.Op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		c.forget(n.X)
	}
}

func (c *walker) forget(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
		c.scope.set(w.Lit(), unknown)
	}
}

// indexed scans a word that the shell evaluates as arithmetic: a[$(command)] runs the command even
// if quoted (bash(1), "ARITHMETIC EVALUATION"; the classic injection through [[ $x -eq … ]] and
// test -v).
func (c *walker) indexed(w *syntax.Word) {
	f := c.one(w)
	if f.dyn {
		return
	}
	c.indexText(f)
	if syntax.ValidName(f.text) {
		c.indexedValues(f.text, f.offset)
	}
}

// indexedValues scans the values of a variable in an arithmetic expression, which are evaluated as
// expressions too.
func (c *walker) indexedValues(name string, offset int) {
	v, _ := c.scope.lookup(name)
	for _, a := range v.alts {
		c.indexText(field{text: a.scalar().text, offset: offset, runs: runs{{offset: offset, fixed: true}}})
	}
}

func (c *walker) indexText(f field) {
	if open := strings.IndexByte(f.text, '['); open >= 0 {
		c.substitutions(f.from(open))
	}
}

// substitutions reads text as if it were in double quotes: only its substitutions run.
func (c *walker) substitutions(f field) {
	if !strings.Contains(f.text, "$(") && !strings.Contains(f.text, "`") {
		return
	}
	if c.nest >= maxDepth || !c.spend(costStatement+len(f.text)*costReparse) {
		c.lack(lackDepth)
		return
	}
	in := *c
	in.nest++
	in.depth++
	in.src = f.source(dialectBash)
	in.within = &within{outer: c.within, label: "evaluation"}
	if w, err := parseDocument(f.text); err != nil {
		c.notParsed(err)
	} else {
		in.scanWord(w)
	}
}

// scanTest walks [[ ]]. Operands of -v and of the arithmetic comparisons are evaluated.
func (c *walker) scanTest(x syntax.TestExpr) {
	for x != nil {
		switch n := x.(type) {
		case *syntax.BinaryTest:
			c.scanTest(n.Y)
			if w, ok := n.Y.(*syntax.Word); ok && arithmeticTest(n.Op) {
				c.indexed(w)
			}
			if w, ok := n.X.(*syntax.Word); ok && arithmeticTest(n.Op) {
				c.indexed(w)
			}
			x = n.X
		case *syntax.UnaryTest:
			if w, ok := n.X.(*syntax.Word); ok && n.Op == syntax.TsVarSet {
				c.indexed(w)
			}
			x = n.X
		case *syntax.ParenTest:
			x = n.X
		case *syntax.Word:
			c.scanWord(n)
			return
		default:
			return
		}
	}
}

func arithmeticTest(op syntax.BinTestOperator) bool {
	switch op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return true
	}
	return false
}
