package gitargs

import "strings"

// Executes reports whether a setting in a configuration file makes git run a program, or read hooks or more
// configuration from a place of the setting's choice. A value that only names a well-known program for its purpose, or
// turns the feature off, does not. key is canonical.
func Executes(key, value string) bool {
	switch k := kindOf(key); k {
	case kindNone:
		return false
	case kindAlias:
		return strings.HasPrefix(strings.TrimSpace(value), "!")
	case kindAskpass:
		return value != "" && !isStub(value)
	default:
		return !new(call).inert(k, key, value)
	}
}
