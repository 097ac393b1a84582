//go:build chaos && unix

package chaos

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestLongFlow sends WEIR_CHAOS_TASKS tasks (one million) through forty clients
// that submit in transactions of 0.1 to 2 s, beside a plain flow of a thousand a
// second, with floors rising and servers restarting.
func TestLongFlow(t *testing.T) {
	number := func(name string, otherwise uint64) uint64 {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			t.Fatalf("%s must be a number: %v", name, err)
		}
		return n
	}
	tasks := int(number("WEIR_CHAOS_TASKS", 1_000_000))
	seed := number("WEIR_CHAOS_SEED", rand.Uint64N(1_000_000))
	t.Logf("seed %d", seed)
	f := newFlow(t, tasks, seed, 100*time.Minute)
	if found := f.pass40(40, max(2, tasks/8000), 5*time.Second); len(found) > 0 {
		t.Errorf("%s\nrepeat it with: WEIR_CHAOS_TASKS=%d WEIR_CHAOS_SEED=%d go test -tags chaos -run LongFlow -v ./chaos", Report(found), tasks, seed)
	}
	if found := f.doctor(); len(found) > 0 {
		t.Error(Report(found))
	}
}
