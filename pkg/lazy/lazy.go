// Package lazy has variables whose value is made on first use, and which need no work when a
// program starts.
//
// [sync.OnceValue] allocates, so a variable of a package with its result is code that every start of
// every program runs that links the package, and a page of the program that it reads for that. A
// [Value] that is written as a literal is data.
package lazy

import "sync"

// Value is a value that is made on first use. It is for variables of packages:
//
//	var digits = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\d+`) }}
type Value[T any] struct {
	Make  func() T // called once
	once  sync.Once
	made  bool
	value T
}

// Get returns the value. It can be called by several goroutines. If Make panics, so do all calls.
func (v *Value[T]) Get() T {
	v.once.Do(func() { v.value, v.made = v.Make(), true })
	if !v.made {
		panic("lazy: the value could not be made")
	}
	return v.value
}
