package boundary

import (
	"reflect"
	"strconv"

	"ethos/pkg/flagfield"
)

// given lists the values that a flag was given.
func (f *Flags) given(flag string) []string {
	switch value, _ := flagfield.Find(reflect.ValueOf(f).Elem(), "--"+flag); {
	case value.Kind() == reflect.Slice:
		return value.Interface().([]string)
	case value.Kind() == reflect.String && value.String() != "":
		return []string{value.String()}
	case value.Kind() == reflect.Int64 && value.Int() != 0:
		return []string{strconv.FormatInt(value.Int(), 10)}
	}
	return nil
}
