package boundary

import (
	"reflect"
	"slices"
	"strconv"

	"ethos/pkg/flagfield"
)

// given returns a function that lists the values that were given for a flag.
func (f *Flags) given() func(flag string) []string {
	values := map[string][]string{}
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		if list := texts(v.Field(i)); len(list) > 0 {
			values[flagfield.Name(v.Type().Field(i))] = list
		}
	}
	return func(flag string) []string {
		switch flag {
		case "ro":
			return slices.Concat(f.Ro, f.RoNoexec)
		case "rw":
			return slices.Concat(f.Rw, f.RwNoexec)
		case "deny-exec":
			return slices.Concat(f.DenyExec, f.RoNoexec, f.RwNoexec)
		}
		return values[flag]
	}
}

// texts returns the values of a field as words of a command line; none for the
// zero value.
func texts(field reflect.Value) []string {
	switch {
	case field.IsZero():
		return nil
	case field.Kind() == reflect.Slice:
		return field.Interface().([]string)
	case field.Kind() == reflect.String:
		return []string{field.String()}
	case field.Kind() == reflect.Bool:
		return []string{"true"}
	}
	return []string{strconv.FormatInt(field.Int(), 10)}
}
