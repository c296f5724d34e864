package shell

// walker is the current position of the walk in the script. It is copied whenever the walk
// descends.
type walker struct {
	*analysis
	src        *source
	scope      *scope
	within     *within
	stage      *stage
	calls      *call
	stdin      feed
	ownInput   bool     // stdin is of a redirection of this simple command: nobody has read of it
	replaced   []string // the files that standard output replaces: see [Analysis.Replaced]
	kept       bool     // standard output goes into a file
	via        []string // wrappers around this position: time { … }, sudo sh -c
	depth      int      // how often code was parsed again
	nest       int      // nesting of every kind
	rounds     int      // how often the bodies of the enclosing loops are walked
	background bool
	end        int  // offset at which the enclosing substitution ends; 0 outside of one
	loose      bool // see reading
	posix      bool // the text is read as in a POSIX shell
	first      bool // this is the first of two readings of the text
	second     bool
	aliases    *activeAlias
	running    *runningTask
	bounded    bool // the code runs inside of ethos-sandbox
}

// within is the innermost enclosing construct and, through a link, those around it.
type within struct {
	outer  *within
	label  string
	labels []string // filled on first use
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

// active returns how many calls of f are being walked.
func (c *call) active(f *function) int {
	n := 0
	for ; c != nil; c = c.outer {
		if c.f == f {
			n++
		}
	}
	return n
}

// activeAlias is an alias whose text is being read. It is not expanded again inside that text.
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

// enter returns a walker for the inside of a construct, or false if the nesting is too deep to be
// walked.
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

// fork is enter for a subshell: its assignments end with it. The caller must call finish.
func (c *walker) fork(label string) (*walker, bool) {
	in, ok := c.enter(label)
	if ok {
		in.scope = c.scope.subshell()
	}
	return in, ok
}

// finish ends a shell: it walks the traps, and functions that were never called, with unknown
// arguments.
func (c *walker) finish() {
	sh := c.scope.shell
	for i := 0; i < len(sh.traps) && !c.halted; i++ {
		c.runTrap(sh.traps[i])
	}
	forked := c.scope.parent != nil && len(sh.traps) == 0 // what was not called in it cannot be called any more
	for i := 0; i < len(sh.functions) && !c.halted; i++ {
		if f := sh.functions[i]; !f.called && !forked {
			in := f.in
			in.scope = c.scope.child()
			in.callBody(f, invocation{fields: []field{{text: f.name, offset: f.in.src.at(int(f.body.Pos().Offset()))}}, raw: f.name}, &positional{dyn: true})
		}
	}
}

// pipeline has the names of the commands in each of its stages.
type pipeline struct {
	names  [][]string
	kept   []bool // by stage: a command in it writes into a file
	unseen []bool // by stage: a command writes into it that is not listed there
}

// stage is a position in a pipeline, which may be inside a stage of another pipeline.
type stage struct {
	pipe  *pipeline
	index int
	outer *stage
}

// add records a command that reads from or writes to the pipeline.
func (s *stage) add(name string) {
	for ; s != nil; s = s.outer {
		if names := &s.pipe.names[s.index]; len(*names) < maxNames {
			*names = append(*names, name)
		}
	}
}

// skip records that a command writes into the pipeline and is not listed there.
func (s *stage) skip() {
	for ; s != nil; s = s.outer {
		s.pipe.unseen[s.index] = true
	}
}

// hidden reports whether a command that is not listed writes into a stage before this one.
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

// upstream returns the names of the commands before this stage, first to last.
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

// downstream returns the names of the commands after this stage, first to last.
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
