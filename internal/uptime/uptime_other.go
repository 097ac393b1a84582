//go:build !linux

package uptime

import "time"

// Now returns how long the machine has been up, as far as this system tells.
func Now() time.Duration { return fallback() }
