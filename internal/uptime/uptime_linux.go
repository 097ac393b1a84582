package uptime

import (
	"syscall"
	"time"
	"unsafe"
)

// bootClock is CLOCK_BOOTTIME, which continues while the machine sleeps.
const bootClock = 7

// Now returns how long the machine has been up. It makes the system call itself instead
// of using a library, because the SDK depends only on the standard library and pgx.
func Now() time.Duration {
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, bootClock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 { // #nosec G103 -- the kernel fills in t
		return fallback()
	}
	return time.Duration(t.Nano())
}
