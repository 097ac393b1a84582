//go:build chaos && unix

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// roundLength is how long things break before a round is judged.
const roundLength = 40 * time.Second

// TestLong mixes all faults, round after round, each on a server of its own,
// for as long as WEIR_CHAOS says. A round that fails prints the command that
// repeats it: the same tasks and faults in the same order, though not the same
// interleaving.
func TestLong(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("WEIR_CHAOS"))
	if err != nil {
		t.Fatalf("WEIR_CHAOS must be a duration such as 30m: %v", err)
	}
	seed := rand.Uint64N(1_000_000)
	if text := os.Getenv("WEIR_CHAOS_SEED"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("WEIR_CHAOS_SEED must be a number: %v", err)
		}
	}
	t.Logf("seed %d", seed)
	for until := time.Now().Add(length); time.Now().Before(until) && !t.Failed(); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("repeat it with: WEIR_CHAOS=1s WEIR_CHAOS_SEED=%d go test -tags chaos -run Long -v ./chaos", seed)
				}
			}()
			r, server := newServerRun(t)
			m := newMix(r, seed)
			m.server = server
			m.judged(min(roundLength, max(length, 10*time.Second)))
		})
	}
}
