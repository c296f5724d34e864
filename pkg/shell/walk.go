package shell

import "mvdan.cc/sh/v3/syntax"

func (c *walker) stmts(list []*syntax.Stmt) {
	if len(list) > 1 {
		c.risk(riskOperator)
	}
	for _, s := range list {
		if !c.spend(costStatement) {
			return
		}
		c.stmt(s)
	}
}

func (c *walker) stmt(s *syntax.Stmt) {
	if !s.Background && !s.Coprocess && !s.Disown {
		c.foreground(s)
		return
	}
	c.risk(riskBackground | riskOperator)
	in := *c
	in.background = true
	in.scope = c.scope.subshell()
	in.foreground(s)
	in.finish()
}

func (c *walker) foreground(s *syntax.Stmt) {
	if len(s.Redirs) > 0 {
		in := c.redirected(s.Redirs)
		_, in.ownInput = s.Cmd.(*syntax.CallExpr)
		in.ownInput = in.ownInput && in.stdin.kind != c.stdin.kind
		in.command(s)
		c.keepOutput(s)
		if emptyExec(s) {
			c.stdin = in.stdin
		}
		return
	}
	if c.ownInput { // the body of a function
		in := *c
		in.ownInput = false
		c = &in
	}
	c.command(s)
}

// emptyExec reports whether a statement is exec with redirections only, which then stay in effect.
func emptyExec(s *syntax.Stmt) bool {
	ce, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(ce.Args) == 1 && ce.Args[0].Lit() == "exec"
}

func (c *walker) command(s *syntax.Stmt) {
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		c.call(s, cmd)
	case *syntax.BinaryCmd:
		c.risk(riskOperator)
		if isPipe(cmd) {
			c.pipeline(cmd)
		} else {
			c.andOr(cmd)
		}
	case *syntax.Subshell:
		c.subshell("subshell", cmd.Stmts)
	case *syntax.Block:
		if in, ok := c.enter("block"); ok {
			in.stmts(cmd.Stmts)
		}
	case *syntax.IfClause:
		c.ifClause(cmd)
	case *syntax.WhileClause:
		c.whileClause(cmd)
	case *syntax.ForClause:
		c.forClause(cmd)
	case *syntax.CaseClause:
		c.caseClause(cmd)
	case *syntax.FuncDecl:
		c.funcDecl(cmd)
	default:
		c.lesser(s)
	}
}

// lesser walks the less frequent kinds of commands.
func (c *walker) lesser(s *syntax.Stmt) {
	switch cmd := s.Cmd.(type) {
	case *syntax.DeclClause:
		c.declare(s, cmd)
	case *syntax.TimeClause:
		c.timed(cmd)
	case *syntax.CoprocClause:
		c.coproc(cmd)
	case *syntax.LetClause:
		c.let(s, cmd)
	case *syntax.ArithmCmd:
		c.scanArith(cmd.X)
	case *syntax.TestClause:
		c.scanTest(cmd.X)
	case *syntax.TestDecl:
		c.stmt(cmd.Body)
	}
}

func (c *walker) subshell(label string, stmts []*syntax.Stmt) {
	in, ok := c.fork(label)
	if !ok {
		return
	}
	in.stmts(stmts)
	in.finish()
}

func (c *walker) timed(t *syntax.TimeClause) {
	if t.Stmt == nil {
		return
	}
	in := *c
	if in.nest++; in.nest > maxDepth {
		c.lack(lackDepth)
		return
	}
	in.via = append(c.via[:len(c.via):len(c.via)], "time")
	in.stmt(t.Stmt)
}

func (c *walker) coproc(co *syntax.CoprocClause) {
	c.risk(riskBackground)
	in, ok := c.fork("coproc")
	if !ok {
		return
	}
	in.background = true
	in.stmt(co.Stmt)
	in.finish()
}

func isPipe(b *syntax.BinaryCmd) bool { return b.Op == syntax.Pipe || b.Op == syntax.PipeAll }

// bare returns the binary command of a statement that has nothing else.
func bare(s *syntax.Stmt) (*syntax.BinaryCmd, bool) {
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	return b, ok && len(s.Redirs) == 0 && !s.Background
}

// spine returns the operands of a left-associative chain, first to last, and the operator before
// each but the first. It does not recurse, because the chain may be as long as the script.
func spine(b *syntax.BinaryCmd) (stmts []*syntax.Stmt, ops []syntax.BinCmdOperator) {
	pipe := isPipe(b)
	for {
		stmts = append(stmts, b.Y)
		ops = append(ops, b.Op)
		left, ok := bare(b.X)
		if !ok || isPipe(left) != pipe || b.X.Negated {
			break
		}
		b = left
	}
	stmts = append(stmts, b.X)
	reverse(stmts)
	reverse(ops)
	return stmts, ops
}

func reverse[T any](list []T) {
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
}

// andOr walks a && b || c. In a run of && each operand sees the assignments of those before it;
// after ||, either side may have run.
func (c *walker) andOr(b *syntax.BinaryCmd) {
	stmts, ops := spine(b)
	c.operand(c.scope, stmts[0])
	var branch *scope
	for i, op := range ops {
		if !c.spend(costStatement) {
			break
		}
		if branch == nil || op == syntax.OrStmt {
			c.mergeBranch(branch)
			branch = c.scope.child()
		}
		c.operand(branch, stmts[i+1])
		if op == syntax.OrStmt {
			c.mergeBranch(branch)
			branch = nil
		}
	}
	c.mergeBranch(branch)
}

func (c *walker) mergeBranch(branch *scope) {
	if branch != nil {
		c.scope.merge(branch, false)
	}
}

func (c *walker) operand(s *scope, stmt *syntax.Stmt) {
	in := *c
	in.scope = s
	in.stmt(stmt)
}

// pipeline walks a | b | c, each in a subshell. The last one may run in the script's own shell
// (lastpipe, zsh, ksh).
func (c *walker) pipeline(b *syntax.BinaryCmd) {
	stmts, _ := spine(b)
	pipe := &pipeline{names: make([][]string, len(stmts)), unseen: make([]bool, len(stmts)), kept: make([]bool, len(stmts))}
	var before *walker
	for i, s := range stmts {
		if !c.spend(costStatement) {
			return
		}
		in := *c
		in.scope = c.scope.subshell()
		in.stage = &stage{pipe: pipe, index: i, outer: c.stage}
		if i > 0 {
			in.stdin = feed{kind: feedPipe, stmt: stmts[i-1], in: before}
		}
		in.stmt(s)
		in.finish()
		before = &in
	}
	c.scope.merge(before.scope, false)
}
