package landlock

import (
	"errors"
	"fmt"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Probe asks the kernel for its Landlock ABI. It changes nothing. The error
// wraps [errors.ErrUnsupported] if the kernel has no Landlock (ENOSYS) or was
// started without it (EOPNOTSUPP). It is another error if the query was
// refused, for example by a seccomp filter that answers EPERM.
func Probe() (Kernel, error) {
	abi, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, syscall.ENOSYS):
		return Kernel{}, fmt.Errorf("landlock: not in this kernel, it needs Linux 5.13 with CONFIG_SECURITY_LANDLOCK: %w", errors.ErrUnsupported)
	case errors.Is(err, syscall.EOPNOTSUPP):
		return Kernel{}, fmt.Errorf("landlock: switched off at boot, the kernel's lsm= parameter does not list landlock: %w", errors.ErrUnsupported)
	case err != nil:
		return Kernel{}, fmt.Errorf("landlock: ask for the ABI: %w", err)
	}
	k := Kernel{ABI: abi}
	if errata, err := ll.LandlockGetErrata(); err == nil && errata > 0 {
		k.Errata = uint32(errata)
	}
	return k, nil
}
