package target

import (
	"testing"
	"time"
)

// The clock of a target may run ahead of ours, so the limit may end a statement a little
// before the limit by our clock.
func TestRanOut(t *testing.T) {
	for _, c := range []struct {
		limit, took time.Duration
		want        bool
	}{
		{200 * time.Millisecond, 199 * time.Millisecond, true},
		{200 * time.Millisecond, 250 * time.Millisecond, true},
		{200 * time.Millisecond, 100 * time.Millisecond, false},
		{time.Hour, time.Minute, false},
		{0, time.Hour, false},
	} {
		if got := (limits{statement: c.limit}).ranOut(c.took); got != c.want {
			t.Errorf("a statement of %v with a limit of %v: ran out is %v", c.took, c.limit, got)
		}
	}
}
