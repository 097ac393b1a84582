//go:build chaos && unix

package chaos

import (
	"os"
	"testing"
	"time"
)

// TestLongOutage takes the server, the network and PostgreSQL away for five minutes each,
// or for a sixth of WEIR_CHAOS if that is less, with the leases that agents have by
// default.
func TestLongOutage(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("WEIR_CHAOS"))
	if err != nil {
		t.Fatalf("WEIR_CHAOS must be a duration such as 30m: %v", err)
	}
	workOutlives(t, 30*time.Second, min(5*time.Minute, length/6))
}
