// Package flagfield parses flags into the fields of a command's struct. It uses
// the same struct tags as the model of the full command line.
package flagfield

import (
	"reflect"
	"strings"
)

// Find returns the field of a command that a flag (--name or -n) sets, and its
// tag. The value is invalid if there is none.
func Find(command reflect.Value, flag string) (reflect.Value, reflect.StructTag) {
	for i := range command.NumField() {
		field := command.Type().Field(i)
		short, hasShort := field.Tag.Lookup("short")
		_, operands := field.Tag.Lookup("arg")
		switch {
		case field.Anonymous:
			if found, tag := Find(command.Field(i), flag); found.IsValid() {
				return found, tag
			}
		case !field.IsExported():
		case !operands && flag == "--"+Name(field), hasShort && flag == "-"+short:
			return command.Field(i), field.Tag
		}
	}
	return reflect.Value{}, ""
}

// Name returns the model's flag name for a field: deny-read for DenyRead.
func Name(field reflect.StructField) string {
	if name, ok := field.Tag.Lookup("name"); ok {
		return name
	}
	var name strings.Builder
	for i, c := range field.Name {
		if i > 0 && c >= 'A' && c <= 'Z' {
			name.WriteByte('-')
		}
		name.WriteRune(c)
	}
	return strings.ToLower(name.String())
}
