package landlock

import "strconv"

// Kernel describes the Landlock support of the running kernel.
type Kernel struct {
	ABI    int
	Errata uint32 // bit n-1 is set if erratum n is fixed; 0 before Linux 6.15, which does not report errata
}

// String returns the ABI and the errata for people: ABI 7, errata 1 2 3 fixed.
func (k Kernel) String() string {
	text := "ABI " + strconv.Itoa(k.ABI)
	if k.Errata == 0 {
		return text
	}
	text += ", errata"
	for n := range 32 {
		if k.Errata>>n&1 != 0 {
			text += " " + strconv.Itoa(n+1)
		}
	}
	return text + " fixed"
}
