package flagfield

import (
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Plain parses a simple command line into command, a pointer to a struct, by
// the tags of its fields. It avoids building the model of a program's whole
// command line, which takes a millisecond or more. rest is "--" and what
// follows it, or nil if there is none. If ok is false, args contain an error or
// something that only the model knows. The caller must then discard the command
// and use the model, which also produces the error messages. What Plain
// accepts, the model parses with the same result.
func Plain(command any, args []string) (rest []string, ok bool) {
	v := reflect.ValueOf(command).Elem()
	if !defaults(v) {
		return nil, false
	}
	for len(args) > 0 {
		if args[0] == "--" {
			return args, true
		}
		name, value, joined := strings.Cut(args[0], "=")
		field, tag := Find(v, name)
		if args = args[1:]; !field.IsValid() || !field.CanSet() || joined && !strings.HasPrefix(name, "--") {
			return nil, false
		}
		if isSwitch(field) {
			if joined && (value == "" || field.Kind() == reflect.Bool) {
				return nil, false
			}
			turnOn(field, value)
			continue
		}
		if !joined {
			if len(args) == 0 {
				return nil, false
			}
			value, args = args[0], args[1:]
		}
		if value == "" || value[0] == '-' || !set(field, tag, value) {
			return nil, false
		}
	}
	return nil, true
}

func defaults(v reflect.Value) bool {
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i)
		text := tag.Tag.Get("default")
		_, command := tag.Tag.Lookup("cmd")
		switch {
		case command:
			return false
		case tag.Anonymous && !defaults(field), text != "" && !set(field, tag.Tag, text):
			return false
		}
	}
	return true
}

// isSwitch reports whether a flag takes no word of its own: a bool, or a string
// type that declares it, whose value is "true" if the flag is given alone.
func isSwitch(field reflect.Value) bool {
	own, ok := field.Addr().Interface().(interface{ IsBool() bool })
	return field.Kind() == reflect.Bool || ok && own.IsBool() && field.Kind() == reflect.String
}

func turnOn(field reflect.Value, word string) {
	if field.Kind() == reflect.Bool {
		field.SetBool(true)
		return
	}
	if field.SetString("true"); word != "" {
		field.SetString(word)
	}
}

// set sets a flag to the word that follows it. It returns false to leave that
// to the model.
func set(field reflect.Value, tag reflect.StructTag, word string) bool {
	words, limited := tag.Lookup("enum")
	_, typed := tag.Lookup("type")
	if typed || limited && !slices.Contains(strings.Split(words, ","), word) {
		return false
	}
	if own, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return own.UnmarshalText([]byte(word)) == nil
	}
	switch kind := field.Kind(); {
	case kind == reflect.String:
		field.SetString(word)
	case field.Type() == reflect.TypeFor[int](), field.Type() == reflect.TypeFor[int64]():
		number, err := strconv.ParseInt(word, 10, 64)
		if err != nil || strconv.FormatInt(number, 10) != word {
			return false
		}
		field.SetInt(number)
	case field.Type() == reflect.TypeFor[[]int]():
		number, err := strconv.Atoi(word)
		if err != nil || strconv.Itoa(number) != word {
			return false
		}
		field.Set(reflect.Append(field, reflect.ValueOf(number)))
	case kind == reflect.Pointer && field.Type().Elem() == reflect.TypeFor[string]():
		field.Set(reflect.ValueOf(&word))
	case field.Type() != reflect.TypeFor[[]string]():
		return false
	case tag.Get("sep") == "none":
		field.Set(reflect.Append(field, reflect.ValueOf(word)))
	default:
		list := strings.Split(word, ",")
		if strings.Contains(word, `\`) || slices.Contains(list, "") {
			return false
		}
		field.Set(reflect.AppendSlice(field, reflect.ValueOf(list)))
	}
	return true
}
