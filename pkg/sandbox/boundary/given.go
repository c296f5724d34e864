package boundary

import (
	"reflect"
	"slices"
	"strconv"

	"ethos/pkg/flagfield"
)

// given lists the values that were given for a flag.
func (f *Flags) given(flag string) []string {
	switch flag {
	case "ro":
		return slices.Concat(f.Ro, f.RoNoexec)
	case "rw":
		return slices.Concat(f.Rw, f.RwNoexec)
	case "deny-exec":
		return slices.Concat(f.DenyExec, f.RoNoexec, f.RwNoexec)
	}
	switch value, _ := flagfield.Find(reflect.ValueOf(f).Elem(), "--"+flag); {
	case value.Kind() == reflect.Slice:
		return value.Interface().([]string)
	case value.Kind() == reflect.String && value.String() != "":
		return []string{value.String()}
	case value.Kind() == reflect.Bool && value.Bool():
		return []string{"true"}
	case value.Kind() == reflect.Int64 && value.Int() != 0:
		return []string{strconv.FormatInt(value.Int(), 10)}
	}
	return nil
}
