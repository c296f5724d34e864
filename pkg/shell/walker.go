package shell

// walker is where in the script the walk is. It is copied whenever the walk goes inwards.
type walker struct {
	*analysis
	src        *source
	scope      *scope
	within     *within
	stage      *stage
	calls      *call
	stdin      feed
	via        []string // wrappers around everything here: time { … }, sudo sh -c
	depth      int      // how many times code was read again
	nest       int      // every kind of nesting
	rounds     int      // how many times the body of the loops around is walked
	background bool
	end        int  // where in the source the substitution ends that the walk is in; 0 outside
	loose      bool // see reading
	posix      bool // the text is read as a POSIX shell does
	first      bool // of two readings of the text
	second     bool
	aliases    *activeAlias
	bounded    bool // what is walked runs inside of ethos-sandbox
}

// within is the innermost enclosing construct, and those around it.
type within struct {
	outer  *within
	label  string
	labels []string // filled when first asked for
}

func (w *within) list() []string {
	if w == nil {
		return []string{}
	}
	if w.labels == nil {
		w.labels = append(w.outer.list(), w.label)
		w.labels = w.labels[:len(w.labels):len(w.labels)]
	}
	return w.labels
}

// call is a function call that is being walked.
type call struct {
	outer *call
	f     *function
}

// active counts the calls of f that are being walked.
func (c *call) active(f *function) int {
	n := 0
	for ; c != nil; c = c.outer {
		if c.f == f {
			n++
		}
	}
	return n
}

// activeAlias is an alias whose text is being read: it is not expanded again in it.
type activeAlias struct {
	outer *activeAlias
	name  string
}

func (a *activeAlias) has(name string) bool {
	for ; a != nil; a = a.outer {
		if a.name == name {
			return true
		}
	}
	return false
}

// enter is the walker inside a construct, and false when that is nested too deep to be walked.
func (c *walker) enter(label string) (*walker, bool) {
	if c.nest >= maxDepth {
		c.lack(lackDepth)
		return nil, false
	}
	in := *c
	in.nest++
	in.within = &within{outer: c.within, label: label}
	return &in, true
}

// fork is enter into a shell of its own: what it assigns is gone when it ends. The caller must call finish.
func (c *walker) fork(label string) (*walker, bool) {
	in, ok := c.enter(label)
	if ok {
		in.scope = c.scope.subshell()
	}
	return in, ok
}

// finish ends a shell: its traps run, and functions that nobody called are walked with unknown arguments.
func (c *walker) finish() {
	sh := c.scope.shell
	for i := 0; i < len(sh.traps) && !c.halted; i++ {
		c.runTrap(sh.traps[i])
	}
	forked := c.scope.parent != nil && len(sh.traps) == 0 // what was not called in it, nobody can call
	for i := 0; i < len(sh.functions) && !c.halted; i++ {
		if f := sh.functions[i]; !f.called && !forked {
			in := f.in
			in.scope = c.scope.child()
			in.callBody(f, invocation{fields: []field{{text: f.name, offset: f.in.src.at(int(f.body.Pos().Offset()))}}, raw: f.name}, &positional{dyn: true})
		}
	}
}

// pipeline is the names of the commands in each of its stages.
type pipeline struct {
	names  [][]string
	unseen []bool // of a stage: a command writes into it that is not listed there
}

// stage is a place in a pipeline, which may stand inside a stage of another.
type stage struct {
	pipe  *pipeline
	index int
	outer *stage
}

// add notes a command that reads from or writes to the pipeline.
func (s *stage) add(name string) {
	for ; s != nil; s = s.outer {
		if names := &s.pipe.names[s.index]; len(*names) < maxNames {
			*names = append(*names, name)
		}
	}
}

// skip notes that a command writes into the pipeline that is not listed there.
func (s *stage) skip() {
	for ; s != nil; s = s.outer {
		s.pipe.unseen[s.index] = true
	}
}

// hidden reports that commands write into a stage before this one that are not
// listed there.
func (s *stage) hidden() bool {
	for ; s != nil; s = s.outer {
		for _, unseen := range s.pipe.unseen[:s.index] {
			if unseen {
				return true
			}
		}
	}
	return false
}

// upstream is the names of the commands before this stage, first to last.
func (s *stage) upstream() []string {
	if s == nil {
		return []string{}
	}
	out := s.outer.upstream()
	for _, names := range s.pipe.names[:s.index] {
		if len(out) >= maxNames {
			break
		}
		out = append(out, names...)
	}
	return out[:min(len(out), maxNames)]
}

// downstream is the names of the commands after this stage, first to last.
func (s *stage) downstream() []string {
	out := []string{}
	for ; s != nil; s = s.outer {
		for _, names := range s.pipe.names[s.index+1:] {
			if len(out) >= maxNames {
				return out[:maxNames]
			}
			out = append(out, names...)
		}
	}
	return out[:min(len(out), maxNames)]
}
