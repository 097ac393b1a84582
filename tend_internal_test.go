package weir

import (
	"math"
	"testing"
	"time"
)

func TestTermFollowsTheLease(t *testing.T) {
	for lease, want := range map[time.Duration]time.Duration{
		100 * time.Millisecond: 2 * time.Second,
		2 * time.Second:        2 * time.Second,
		10 * time.Second:       5 * time.Second,
		30 * time.Second:       15 * time.Second,
		math.MaxInt64:          15 * time.Second, // no worker
	} {
		if got := term(lease); got != want {
			t.Errorf("a lease of %s: a term of %s, want %s", lease, got, want)
		}
	}
}
