package record

import (
	"reflect"
	"strings"
)

// Repeated has the texts of some JSON objects of one kind that were examined before, the most recent
// ones. The records of a work space repeat what was established about it and its tools, which is half
// of a line. Text that begins like a whole object has that object there, so one comparison tells that
// it needs no other examination, and where it ends.
type Repeated struct {
	texts [16]string
	next  int // the one to replace
}

// maxRepeated is the longest object that is kept, in bytes.
const maxRepeated = 16 << 10

// repeats reports whether most records of a work space have such facts in common.
func repeats(t reflect.Type) bool {
	return t == reflect.TypeFor[Capabilities]() || t == reflect.TypeFor[Repo]()
}

// Leads returns the length of the known object with which the text begins, or 0.
func Leads[T string | []byte](r *Repeated, text T) int {
	for _, known := range r.texts {
		if n := len(known); n > 0 && n <= len(text) && string(text[:n]) == known {
			return n
		}
	}
	return 0
}

// Remember adds an object.
func Remember[T string | []byte](r *Repeated, object T) {
	if len(object) <= maxRepeated {
		r.texts[r.next] = strings.Clone(string(object))
		r.next = (r.next + 1) % len(r.texts)
	}
}
