package uptime_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/uptime"
)

// The clock advances with the monotonic clock, and not more slowly.
func TestNow(t *testing.T) {
	begun, was := time.Now(), uptime.Now()
	last := was
	for range 1000 {
		now := uptime.Now()
		if now < last {
			t.Fatalf("%s comes after %s", now, last)
		}
		last = now
	}
	passed := time.Since(begun)
	if d := uptime.Now() - was; was <= 0 || d < passed-time.Millisecond {
		t.Errorf("it counted %s of %s, from %s", d, passed, was)
	}
}
