package uptime

import "time"

// begun has both clocks: the wall clock, on which two processes agree, and the monotonic
// one, which cannot be set.
var begun = time.Now()

// fallback counts from a moment that all processes share.
func fallback() time.Duration {
	return time.Duration(begun.UnixNano()) + time.Since(begun)
}
