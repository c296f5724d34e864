package policy

import (
	"reflect"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"ethos/pkg/record"
)

// apply calls a strict operator or function with values. ok is false for an error, and for what
// direct evaluation does not have.
func apply(name string, args []any) (v any, ok bool) {
	defer func() {
		if recover() != nil { // an argument of another type, which CEL's checker rules out
			v, ok = nil, false
		}
	}()
	switch name {
	case "!_":
		return !args[0].(bool), true
	case "_==_", "_!=_":
		same, ok := equal(args[0], args[1])
		return same == (name == "_==_"), ok
	case "_<_":
		return args[0].(int64) < args[1].(int64), true
	case "_<=_":
		return args[0].(int64) <= args[1].(int64), true
	case "_>_":
		return args[0].(int64) > args[1].(int64), true
	case "_-_":
		return difference(args[0].(int64), args[1].(int64))
	case "_+_":
		return sum(args[0], args[1])
	case "_[_]":
		i, n := args[1].(int64), lengthOf(args[0])
		if i < 0 || i >= int64(n) {
			return nil, false
		}
		return elementOf(args[0], int(i))
	case "@in":
		return member(args[0], args[1])
	case "size":
		if text, ok := args[0].(string); ok {
			return int64(utf8.RuneCountInString(text)), true
		}
		n := lengthOf(args[0])
		return int64(n), n >= 0
	}
	return applyWords(name, args)
}

// applyWords calls a function of CEL's on strings, or one of ethos's.
func applyWords(name string, args []any) (any, bool) {
	text := func(i int) string { return args[i].(string) }
	switch name {
	case "contains":
		return strings.Contains(text(0), text(1)), true
	case "startsWith":
		return strings.HasPrefix(text(0), text(1)), true
	case "endsWith":
		return strings.HasSuffix(text(0), text(1)), true
	case "matches":
		re, err := compiledOnce(text(1))
		return err == nil && re.MatchString(text(0)), err == nil
	case "split":
		return strings.Split(text(0), text(1)), len(args) == 2
	case "replace":
		return strings.ReplaceAll(text(0), text(1), text(2)), len(args) == 3
	case "glob":
		hit, err := matchGlob(text(0), text(1))
		return hit, err == nil
	case "names":
		hit, err := namesAny(texts(args[0]), text(1))
		return hit, err == nil
	case "under":
		return isUnder(text(0), text(1)), true
	case "scratch":
		return isScratch(text(0)), true
	case "domain":
		return matchDomain(text(0), text(1)), true
	case "host":
		return hostOf(text(0)), true
	case "loopback":
		return isLoopback(text(0)), true
	}
	return applyRecord(name, args)
}

// applyRecord calls one of ethos's functions on parts of a record.
func applyRecord(name string, args []any) (any, bool) {
	switch name {
	case "runs":
		var words []string
		if len(args) == 3 {
			words = texts(args[2])
		}
		return runsCommand(part[record.Shell](args[0]), args[1].(string), words), true
	case "executes":
		return executesFile(part[record.Shell](args[0]), args[1].(string)), true
	case "option":
		return hasOption(part[record.Command](args[0]), args[1].(string), texts(args[2])), true
	case "unresolved":
		return isUnresolved(part[record.Command](args[0])), true
	case "hosts":
		return hostsOf(part[record.Command](args[0])), true
	case "remote":
		return isRemote(part[record.Command](args[0])), true
	case "unlisted":
		return unlisted(part[record.Shell](args[0]), parts[record.Git](args[1]), part[record.Network](args[2])), true
	case "unseen":
		return unseen(part[record.Shell](args[0]), parts[record.Git](args[1])), true
	case "touches":
		return touchesAny(args[0], texts(args[1]))
	}
	return nil, false
}

func touchesAny(list any, patterns []string) (any, bool) {
	for i := range lengthOf(list) {
		element, _ := elementOf(list, i)
		hit, err := touchesOne(element.(reflect.Value).Addr().Interface(), patterns)
		if hit || err != nil {
			return hit, err == nil
		}
	}
	return false, true
}

// part returns the struct of a record behind a value.
func part[T any](v any) *T { return v.(reflect.Value).Addr().Interface().(*T) }

func parts[T any](list any) []T {
	all := make([]T, 0, lengthOf(list))
	for i := range lengthOf(list) {
		element, _ := elementOf(list, i)
		all = append(all, *part[T](element))
	}
	return all
}

func texts(list any) []string {
	if all, ok := list.([]string); ok {
		return all
	}
	all := make([]string, lengthOf(list))
	for i := range all {
		element, _ := elementOf(list, i)
		all[i] = element.(string)
	}
	return all
}

// equal compares two values of one scalar type, or two lists of them.
func equal(a, b any) (same, ok bool) {
	switch a.(type) {
	case bool, int64, string:
		return a == b, reflect.TypeOf(a) == reflect.TypeOf(b)
	}
	n := lengthOf(a)
	if n < 0 || n != lengthOf(b) {
		return false, n >= 0 && lengthOf(b) >= 0
	}
	for i := range n {
		x, xOK := elementOf(a, i)
		y, yOK := elementOf(b, i)
		if !xOK || !yOK {
			return false, false
		}
		if same, ok := equal(x, y); !same || !ok {
			return same, ok
		}
	}
	return true, true
}

func member(v, list any) (any, bool) {
	for i := range lengthOf(list) {
		element, ok := elementOf(list, i)
		if !ok {
			return nil, false
		}
		same, ok := equal(v, element)
		if same || !ok {
			return same, ok
		}
	}
	return false, lengthOf(list) >= 0
}

func sum(a, b any) (any, bool) {
	if text, ok := a.(string); ok {
		return text + b.(string), true
	}
	var all []any
	for _, list := range []any{a, b} {
		if lengthOf(list) < 0 {
			return nil, false
		}
		for i := range lengthOf(list) {
			element, ok := elementOf(list, i)
			if !ok {
				return nil, false
			}
			all = append(all, element)
		}
	}
	return all, true
}

func difference(a, b int64) (any, bool) {
	d := a - b
	return d, (d < a) == (b > 0) // no overflow
}

var patterns sync.Map // string → *regexp.Regexp

// compiledOnce returns a compiled regular expression. Those of shipped policies are literals.
func compiledOnce(pattern string) (*regexp.Regexp, error) {
	if known, ok := patterns.Load(pattern); ok {
		return known.(*regexp.Regexp), nil
	}
	re, err := regexp.Compile(pattern)
	if err == nil {
		patterns.Store(pattern, re)
	}
	return re, err
}
