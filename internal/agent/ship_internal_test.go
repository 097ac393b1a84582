package agent

import (
	"testing"
	"time"
)

// An hour of output makes a few hundred events, and a short task makes one per second.
func TestEventsAboutTheLogBecomeFewer(t *testing.T) {
	if got := sayAfter(0); got != shipEvery {
		t.Errorf("at first %s", got)
	}
	events := 0
	said := -time.Hour
	for age := time.Duration(0); age < time.Hour; age += shipEvery {
		if age-said >= sayAfter(age) {
			events, said = events+1, age
		}
		if age-said > sayMost {
			t.Fatalf("nothing was said for %s", age-said)
		}
	}
	if events < 300 || events > 500 {
		t.Errorf("%d events in an hour", events)
	}
}
