package target

import (
	"math/rand/v2"
	"time"
)

// Rule 5: a step that the server undid for a reason that passes is tried again,
// a bounded number of times, with pauses that grow. Each is told to the Watch.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = 5 * time.Second
	// connects is how often a connection that is refused is tried: nothing was
	// sent yet, so it is safe.
	connects = 5
)

// pause is the time after try n, from 1 on, with jitter: two that failed on one
// another must not meet again.
func pause(n int) time.Duration {
	d := mostPause
	if n < 8 {
		d = min(firstPause<<(n-1), mostPause)
	}
	return jitter(d)
}

// poll is the time between two looks at the lock (rule 1): 25 ms at first, 2 s
// in the end.
func poll(n int) time.Duration {
	d := 2 * time.Second
	if n < 7 {
		d = min(25*time.Millisecond<<(n-1), d)
	}
	return jitter(d)
}

// jitter is between half of d and d.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1) // #nosec G404 -- it spreads load, it is no secret
}
