package boundary

import (
	"reflect"
	"strconv"
	"strings"
)

// Field is the field of a command that a flag is for, with its tag; it is not
// valid when there is none.
func Field(command reflect.Value, flag string) (reflect.Value, reflect.StructTag) {
	for i := range command.NumField() {
		field := command.Type().Field(i)
		short, hasShort := field.Tag.Lookup("short")
		_, operands := field.Tag.Lookup("arg")
		switch {
		case field.Anonymous:
			if found, tag := Field(command.Field(i), flag); found.IsValid() {
				return found, tag
			}
		case !operands && flag == "--"+flagName(field), hasShort && flag == "-"+short:
			return command.Field(i), field.Tag
		}
	}
	return reflect.Value{}, ""
}

// flagName is the name that the model gives to the flag of a field: DenyRead is
// deny-read.
func flagName(field reflect.StructField) string {
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

// given lists the values that a flag was given.
func (f *Flags) given(flag string) []string {
	switch value, _ := Field(reflect.ValueOf(f).Elem(), "--"+flag); {
	case value.Kind() == reflect.Slice:
		return value.Interface().([]string)
	case value.Kind() == reflect.String && value.String() != "":
		return []string{value.String()}
	case value.Kind() == reflect.Int64 && value.Int() != 0:
		return []string{strconv.FormatInt(value.Int(), 10)}
	}
	return nil
}
