package uptime

import (
	"syscall"
	"time"
	"unsafe"
)

// bootClock is CLOCK_BOOTTIME, which goes on while the machine sleeps.
const bootClock = 7

// Now is how long the machine has been up. The call is made here and not in a
// library, because the SDK is the standard library and pgx.
func Now() time.Duration {
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, bootClock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 { // #nosec G103 -- the kernel fills in t
		return fallback()
	}
	return time.Duration(t.Nano())
}
