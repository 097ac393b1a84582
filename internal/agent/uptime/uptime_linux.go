package uptime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is how long the machine has been up.
func Now() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return fallback()
	}
	return time.Duration(t.Nano())
}
