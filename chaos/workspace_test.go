//go:build unix

package chaos

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/blob/blobtest"
)

var (
	workspaceSeed = flag.Uint64("workspace-seed", 0, "the first seed of the runs of workspaces; 0: the one of the test")
	workspaceRuns = flag.Int("workspace-runs", 0, "how many runs of workspaces; 0: as many as the test says")
)

// TestWorkspaces plays 30 runs in which controllers of workspaces die or are paused at
// any of their steps, while the bucket and the provider fail, and judges each: no home is
// lost, everything converges, nothing is done twice at once. A run that fails prints how
// to repeat it. All 1,000 are in TestLongWorkspaces (build tag chaos).
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	playWorkspaces(t, newHouse(t, nil), 1, 30)
}

// TestWorkspacesS3 plays some more with a real S3 server.
func TestWorkspacesS3(t *testing.T) {
	t.Parallel()
	playWorkspaces(t, newHouse(t, blobtest.Open(t)), 1001, 4)
}

// playWorkspaces plays the given number of runs, the first with the seed.
func playWorkspaces(t *testing.T, h *house, seed uint64, runs int) {
	t.Helper()
	seed, runs = cmp.Or(*workspaceSeed, seed), cmp.Or(*workspaceRuns, runs)
	t.Logf("seed %d", seed)
	failed := 0
	for i := range uint64(runs) {
		if found := h.play(seed + i); len(found) > 0 {
			failed++
			t.Errorf("seed %d: %s\nrepeat it with: go test ./chaos -run '^%s$' -workspace-seed %d -workspace-runs 1\ndiary: %s", seed+i, Report(found), t.Name(), seed+i, h.keepDiary(seed+i))
		}
		if failed == failedMost {
			break // more would say the same
		}
	}
	t.Log(h.tally.String())
	t.Logf("summary: %d crash runs of workspaces from seed %d on: %d failed", h.tally.runs, seed, failed)
}

// failedMost is how many runs may fail before no more are played.
const failedMost = 3

func (c tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs: %d controllers killed, %d paused and late, %d ended at rest; %d faults of bucket or provider, %d archives vanished for a time, %d started while they were archived; %d wishes, %d files written, %d errors seen to by a person, %d archives compared; the slowest run took %s",
		c.runs, c.kills, c.pauses, c.quiet, c.faults, c.vanished, c.intruders, c.wants, c.writes, c.recovered, c.archives, c.slowest.Round(time.Millisecond))
	var never []string
	for _, m := range momentCalls {
		if at := m.call + " " + string(m.when); c.moments[at] == 0 {
			never = append(never, at)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(c.moments)) {
		fmt.Fprintf(&b, "\n  %-22s %d", at, c.moments[at])
	}
	if len(never) > 0 {
		fmt.Fprintf(&b, "\n  never struck: %s", strings.Join(never, ", "))
	}
	return b.String()
}
