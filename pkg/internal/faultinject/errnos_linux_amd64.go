package faultinject

import "golang.org/x/sys/unix"

// polls is poll(2), which arm64 does not have: it has ppoll(2) alone.
var polls = []int32{unix.SYS_POLL}
