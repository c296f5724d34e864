package landlock

// Kernel describes the Landlock support of the running kernel.
type Kernel struct {
	ABI    int
	Errata uint32 // bit n-1 is set if erratum n is fixed; 0 before Linux 6.15, which does not report errata
}
