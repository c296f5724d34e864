package snippet

import "strings"

// reader parses the tokens of one snippet.
type reader struct {
	lang   Language
	tokens []token
	vars   map[string]value
	acts   []Act
	depth  int
	work   *int   // the tokens read so far, also those of code in this code
	ahead  bool   // the source of a comprehension is parsed before what uses it
	chosen choice // whether the code may leave out something of a listing
}

const maxDepth = 40

func (r *reader) at(i int) token {
	if i < 0 || i >= len(r.tokens) {
		return token{kind: end}
	}
	return r.tokens[i]
}

// value parses an expression from token i on, and returns the index of the
// token after it.
func (r *reader) value(i int) (value, int) {
	if r.depth >= maxDepth {
		return unknown(), i + 1
	}
	r.depth++
	defer func() { r.depth-- }()
	v, i := r.primary(i)
	for {
		switch t := r.at(i); {
		case t.is("+") && r.lang != Perl && r.lang != PHP && r.lang != Lua, t.is("/") && r.lang == Python:
			next, after := r.primary(i + 1)
			if t.is("/") {
				v = concat(v, known("/"))
			}
			v, i = concat(v, next), after
		case t.is(".") && (r.lang == Perl || r.lang == PHP):
			next, after := r.primary(i + 1)
			v, i = concat(v, next), after
		case t.is(".") && r.lang == Lua && r.at(i+1).is("."):
			next, after := r.primary(i + 2)
			v, i = concat(v, next), after
		case t.kind == text && (r.lang == Awk || r.lang == Python) && !v.list:
			v, i = concat(v, t.value), i+1
		default:
			return v, i
		}
	}
}

// primary parses a literal, a list, a name or a call, with its suffixes.
func (r *reader) primary(i int) (value, int) {
	t := r.at(i)
	switch {
	case t.kind == text:
		return r.suffixes(t.value, i+1)
	case t.kind == shell:
		r.add(Shell, t.value.text)
		return unknown(), i + 1
	case t.is("("):
		items, after := r.items(i+1, ")")
		if len(items) == 1 {
			return r.suffixes(items[0], after)
		}
		return value{list: true, items: items}, after
	case t.is("["):
		items, after := r.items(i+1, "]")
		return r.suffixes(value{list: true, items: items}, after)
	case t.is("{") && r.lang == JavaScript:
		return r.commandOf(i)
	case t.kind == word:
		return r.named(i)
	case t.is("<"), t.is("\\"), t.is("!"), t.is("-"):
		return unknown(), i + 1
	}
	return unknown(), i
}

// commandOf returns the words of a command in an object, and the index after the object: new
// Deno.Command(NAME, {args: […]}), Bun.spawn({cmd: […]}). An object without such words is left to the
// caller.
func (r *reader) commandOf(open int) (value, int) {
	list := unknown()
	for i, depth := open, 0; i < len(r.tokens); i++ {
		switch t := r.at(i); {
		case t.is("{"):
			depth++
		case t.is("}"):
			if depth--; depth > 0 {
				continue
			}
			if !list.list {
				return list, open
			}
			for at := open + 1; at < i; { // what else it has may call functions
				at = r.statement(at)
			}
			return list, i + 1
		case depth == 1 && (t.text == "args" || t.text == "cmd") && r.at(i+1).is(":") && r.at(i+2).is("["):
			list, _ = r.primary(i + 2)
		}
	}
	return unknown(), open
}

// named parses a chain of names with calls and indexes.
func (r *reader) named(i int) (value, int) {
	name, after := r.chain(i)
	if v, ok := r.vars[name]; ok && !r.at(after).is("(") {
		return r.suffixes(v, after)
	}
	if root, _, dotted := strings.Cut(name, "."); dotted && r.lang == Python {
		if v := r.vars[root]; v.text != "" && !v.none || v.of != 0 || v.alt != nil {
			return r.suffixes(v, i+1)
		}
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return value{text: Unknown, none: true, number: name}, after
	}
	switch last := name[strings.LastIndexByte(name, '.')+1:]; {
	case name == "new":
		return r.primary(after)
	case name == "Dir.pwd":
		return r.suffixes(known("."), after)
	case name == "process.env.HOME" || name == "Dir.home" || name == "process.env.USERPROFILE":
		return r.suffixes(known("~"), after)
	case (last == "environ" || last == "ENV" || last == "ENVIRON" || last == "$ENV") && (r.at(after).is("[") || r.at(after).is("{")):
		key := r.at(after + 1).text
		if key == "HOME" {
			return r.suffixes(known("~"), after+3)
		}
		return r.suffixes(unknown(), after+3)
	case r.at(after).is("("):
		args, end := r.items(after+1, ")")
		return r.suffixes(r.result(name, args), end)
	}
	return r.suffixes(unknown(), after)
}

// chain joins names and their separators: a.b, A::b, $x->y, __import__('os').x.
func (r *reader) chain(i int) (string, int) {
	name := r.at(i).text
	if name == "__import__" && r.at(i+1).is("(") && r.at(i+3).is(")") {
		name, i = r.at(i+2).text, i+3
	}
	if name == "require" && r.at(i+1).is("(") && r.at(i+3).is(")") {
		name, i = r.at(i+2).text, i+3
	}
	if r.at(i-1).is(".") && r.lang != Perl && r.lang != PHP { // a method of an unknown value
		name = "?." + name
	}
	for i++; ; {
		switch {
		case r.at(i).is(".") && r.at(i+1).kind == word && r.lang != PHP && !(r.lang == Perl):
			name, i = name+"."+r.at(i+1).text, i+2
		case r.at(i).is(":") && r.at(i+1).is(":") && r.at(i+2).kind == word:
			name, i = name+"."+r.at(i+2).text, i+3
		case r.at(i).is("?") && r.at(i+1).is(".") && r.at(i+2).kind == word:
			name, i = name+"."+r.at(i+2).text, i+3
		default:
			return name, i
		}
	}
}

// items parses the values up to a closing mark.
func (r *reader) items(i int, closing string) (items []value, after int) {
	if r.lang == Python && !r.ahead {
		r.comprehension(i)
	}
	for i < len(r.tokens) {
		for r.at(i).kind == end {
			i++
			if i >= len(r.tokens) {
				return items, i
			}
		}
		if r.at(i).is(closing) {
			return items, i + 1
		}
		if r.at(i).is(",") {
			i++
			continue
		}
		if r.at(i).kind == word && r.at(i+1).is("=") && !r.at(i+2).is("=") { // shell=True
			i += 2
			if r.lang != Python || !r.at(i-2).is("mode") {
				_, i = r.skipTo(i, closing)
				continue
			}
		}
		v, next := r.value(i)
		if next == i {
			next++
		}
		exact := true
		if !r.at(next).is(",") && !r.at(next).is(closing) {
			exact, next = r.skipTo(next, closing)
		}
		if !exact && !v.list {
			v = unknown()
		}
		items, i = append(items, v), next
	}
	return items, i
}

// skipTo skips to the next comma or closing mark at this depth.
func (r *reader) skipTo(i int, closing string) (exact bool, at int) {
	exact = true
	for depth := 0; i < len(r.tokens); i++ {
		t := r.at(i)
		switch {
		case depth == 0 && (t.is(closing) || t.is(",")):
			return exact, i
		case t.is("(") || t.is("[") || t.is("{"):
			depth++
		case t.is(")") || t.is("]") || t.is("}"):
			if depth--; depth < 0 {
				return exact, i
			}
		}
		exact = exact && t.kind == end
		if (t.kind == word || t.kind == shell) && r.depth < maxDepth {
			r.depth++
			i = r.statement(i) - 1
			r.depth--
		}
	}
	return exact, i
}

// suffixes applies the method calls that follow a value.
func (r *reader) suffixes(v value, i int) (value, int) {
	for r.at(i).is(".") && r.at(i+1).kind == word && r.lang != Perl && r.lang != PHP {
		method := r.at(i + 1).text
		args, after := []value(nil), i+2
		if r.at(after).is("(") {
			args, after = r.items(after+1, ")")
		}
		switch method {
		case "decode", "encode", "toString", "strip", "trim", "to_s", "expanduser", "resolve", "absolute", "chomp", "path":
		case "split":
			items := value{list: true}
			for w := range strings.FieldsSeq(v.word()) {
				if len(items.items) == maxItems {
					break
				}
				items.items = append(items.items, known(w))
			}
			v = items
		case "joinpath", "concat":
			for _, a := range args {
				if method == "joinpath" {
					v = concat(v, known("/"))
				}
				v = concat(v, a)
			}
		case "join":
			if len(args) == 1 && args[0].list {
				v = joined(args[0].items, v.text)
			} else if v.list && len(args) == 1 {
				v = joined(v.items, args[0].text)
			}
		case "read_text", "read_bytes":
			r.file(Open, v)
			v = unknown()
		case "write_text", "write_bytes", "touch":
			r.file(Write, v)
			v = unknown()
		case "unlink", "rmdir":
			r.file(Delete, v)
			v = unknown()
		default:
			v = r.method(v, method, args)
		}
		i = after
	}
	return v, i
}

func joined(items []value, by string) value {
	out := known("")
	for i, item := range items {
		if i > 0 {
			out = concat(out, known(by))
		}
		out = concat(out, item)
	}
	return out
}
