package record

import (
	"reflect"
	"strings"
)

// Repeated has the texts of some JSON objects that were examined before, the most recent ones of one
// kind. The records of a work space repeat what was established about it and its tools: half of a
// line. A text that begins with a complete object has that object there, so that an equal one needs
// no second examination.
type Repeated struct {
	texts [16]string
	next  int // the one to replace
}

// maxRepeated is the longest object that is kept, in bytes.
const maxRepeated = 16 << 10

// repeats lists the types of the facts that most records of a work space have in common.
var repeats = map[reflect.Type]bool{reflect.TypeFor[Capabilities](): true, reflect.TypeFor[Repo](): true}

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
