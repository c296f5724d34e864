package landlock

import "strconv"

// Kernel is what the running kernel says of itself.
type Kernel struct {
	ABI    int
	Errata uint32 // bit n-1 is set when erratum n is fixed; 0 below Linux 6.15, which cannot be asked
}

// String is the ABI and the errata, for people: ABI 7, errata 1 2 3 fixed.
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
