//go:build chaos && unix

package chaos

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestLongOrdinary does deeds of ordinary operation for a quarter of the time in
// WEIR_CHAOS.
func TestLongOrdinary(t *testing.T) {
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
	newOrdinary(t, seed, length+10*time.Minute).judged(length / 4)
}
