package shell

import "strings"

// parallel runs a template with each of the arguments after ::: or on standard input. A shell reads
// the result.
func (c *walker) parallel(w *wrapper, inv invocation) {
	p := w.grammar.parse(inv.fields[1:], true)
	template, args, known := parallelArgs(p.operands)
	input := c.feedOf(inv)
	file, ok := p.value("a", "arg-file")
	if !ok {
		file, ok = argFile(p.operands)
	}
	if ok {
		c.read(c.locate(file, c.dirOf(inv)), w.name)
		input, args = c.listFile(file, inv), nil
	}
	c.alone(inv, w.name)
	in := inv.inner(w, nil)
	in.input = &feed{closed: true}
	if len(template) == 0 {
		c.parallelCommands(in, inv, args, known)
		return
	}
	input = c.namesFor(input, template)
	if text, ok := input.static(); ok && !known && args == nil && !p.has("pipe") {
		for line := range strings.SplitSeq(strings.TrimSuffix(text.text, "\n"), "\n") {
			args = append(args, field{text: line, offset: text.at(0), runs: runs{{offset: text.at(0), fixed: true}}})
		}
		known = true
		if len(args) > maxAlts {
			args = fewer(args)
		}
	}
	alien := !known && !c.lists(input)
	if !known {
		args = []field{{text: "{}", dyn: true, offset: inv.fields[0].at(0)}}
	}
	words := template
	code := join(template)
	if !strings.Contains(code.text, "{") {
		template = append(template[:len(template):len(template)], literal("{}", code.offset))
		code = join(template)
	}
	for _, arg := range args {
		next := *c
		src := *c.src
		src.hole, src.alien = "{}", alien || arg.alien
		next.src = &src
		next.shellCode(replaced(code, "{}", arg), w.name, &positional{dyn: true}, in)
		if _, ok := findInterpreter(baseName(words[0].text)); ok && known { // with --quote a word is not split
			run := in
			run.fields = make([]field, len(words))
			for i, f := range words {
				run.fields[i] = replaced(f, "{}", arg)
			}
			next.dispatch(run)
		}
	}
}

// parallelCommands handles a call without a template, whose arguments are the commands.
func (c *walker) parallelCommands(in, inv invocation, args []field, known bool) {
	if known {
		for _, code := range args {
			c.shellCode(code, "parallel", &positional{dyn: true}, in)
		}
		return
	}
	feed := c.feedOf(inv)
	if code, ok := feed.static(); ok {
		c.shellCode(code, "parallel", &positional{dyn: true}, in)
		return
	}
	if feed.kind != feedNone {
		c.risk(riskOpaqueInterpreter)
		c.lack(lackOpaque)
	}
}

// argFile returns the file after ::::, if there is exactly one.
func argFile(operands []field) (field, bool) {
	for i, f := range operands {
		if f.text == "::::" && i+2 == len(operands) && operands[i+1].text != "-" {
			return operands[i+1], true
		}
	}
	return field{}, false
}

// parallelArgs splits the operands at :::. known is false if the arguments come from files or
// standard input.
func parallelArgs(operands []field) (template, args []field, known bool) {
	for i, f := range operands {
		if !strings.HasPrefix(f.text, ":::") {
			continue
		}
		args = operands[i+1:]
		for _, arg := range args {
			if arg.dyn || arg.glob || strings.HasPrefix(arg.text, ":::") {
				return operands[:i], nil, false
			}
		}
		return operands[:i], args, f.text == ":::" && len(args) <= maxAlts
	}
	return operands, nil, false
}
