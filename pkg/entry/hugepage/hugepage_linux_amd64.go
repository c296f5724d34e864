package hugepage

// Advise has the runtime that starts next advise the first part of its heap. It
// needs nothing of the Go runtime. Where the kernel has no huge pages, or may not
// use them, the heap is what it would have been.
func Advise()

// mmap is mmap(2) for runtime.callCgoMmap: a function of C, which returns the
// address or the positive number of an error. The runtime reserves addresses for the
// heap and then maps the first part of them, which is the one that is advised. That
// is the last call: the runtime makes the next ones itself.
func mmap()

var _ = mmap // used by Advise
