// Package hugepage puts the first part of the Go heap into huge pages.
//
// A small program uses some 200 pages of its heap, one page fault each. The kernel
// makes a huge page of 2 MiB in less time. It does so only for memory that was
// advised before its first use (MADV_HUGEPAGE: madvise(2), and
// Documentation/admin-guide/mm/transhuge.rst), which is before any code of the
// program runs: the runtime allocates while it starts. So a program has the runtime
// map its memory by a function of this package, which the runtime offers for C code
// that watches the memory (runtime/cgo_mmap.go). See
// docs/decisions/0069-a-heap-of-huge-pages.md.
package hugepage
