package testwait

import (
	"context"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/loop"
)

const (
	// Limit is how long a test waits.
	Limit = 2 * time.Minute
	// often is how soon it looks again.
	often = 5 * time.Millisecond
)

// Until looks until it is so. what says what the test waits for.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	Every(t, often, what, is)
}

// Every is Until, for what costs something to look at.
func Every(t testing.TB, pause time.Duration, what string, is func() bool) {
	t.Helper()
	// The test's own context ends before its cleanups, and those wait as well.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Limit)
	defer cancel()
	for !is() {
		if !loop.Wait(ctx, pause, nil) {
			t.Fatalf("it did not happen within %s: %s", Limit, what)
		}
	}
}
