package main

import (
	"testing"
	"time"
)

func TestWork(t *testing.T) {
	t.Parallel()
	const stat = "cpu  100 20 30 4000 500 6 7 800 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
	before, ok := parseWork(stat)
	if want := (work{ran: 163 * tick, stolen: 800 * tick}); !ok || before != want {
		t.Fatalf("got %+v, want %+v", before, want)
	}
	now := work{ran: before.ran + 3*time.Minute, stolen: before.stolen + time.Minute}
	if got, want := now.since(before, 2*time.Minute, 2), "the 2 cores worked 3.0 minutes, and the host kept 25 % of them for others"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	now.stolen = before.stolen
	if got, want := now.since(before, 2*time.Minute, 2), "the 2 cores worked 3.0 minutes"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range []string{"", "cpu 1 2 3\n", "cpu a 2 3 4 5 6 7 8\n", "intr 1 2 3 4 5 6 7 8\n"} {
		if w, ok := parseWork(bad); ok {
			t.Errorf("%q was read as %+v", bad, w)
		}
	}
}
