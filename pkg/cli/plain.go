package cli

import (
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/flagfield"
)

// Plain reads a plain command line into a command, a pointer to its struct, by the tags of its fields, without the model of the program's whole command
// line: building that takes a millisecond or more. rest is "--" and what follows it, nil when there is none. When ok is false, args have something that only
// the model knows, or that is wrong, and the model has the messages: the command is then to be thrown away. What Plain reads, the model reads alike; it is
// for [Program.Quick].
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
		field, tag := flagfield.Find(v, name)
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

// defaults gives the fields that have a default of their own that.
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

// isSwitch reports a flag that takes no word of its own.
func isSwitch(field reflect.Value) bool {
	return field.Kind() == reflect.Bool || field.Type() == reflect.TypeFor[Choice]()
}

func turnOn(field reflect.Value, word string) {
	if field.Kind() == reflect.Bool {
		field.SetBool(true)
		return
	}
	if field.SetString(string(Chosen)); word != "" {
		field.SetString(word)
	}
}

// set gives a flag the word that follows it; false leaves that to the model.
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
	case field.Type() == reflect.TypeFor[int]():
		number, err := strconv.Atoi(word)
		if err != nil || strconv.Itoa(number) != word {
			return false
		}
		field.SetInt(int64(number))
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
