package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/blob"
)

// A task that is retried many times keeps the logs of its newest attempts.
func TestLogsOfAllAttemptsAreBounded(t *testing.T) {
	twins(t, func(r *rig) {
		r.logsMost = 10_000
		job := r.submit()
		line := func(attempt, seq int) string {
			return fmt.Sprintf(`{"attempt":%d,"seq":%d,"text":"%s"}`+"\n", attempt, seq, strings.Repeat("x", 950))
		}
		const attempts, pieces = 12, 3
		for range attempts {
			a := r.claim()
			for seq := range pieces {
				now := time.Now()
				r.ok(r.AppendLog(r.Context(), a.Holds(), LogChunk{Seq: seq, Lines: []byte(line(a.Attempt, seq)), From: now, To: now}))
			}
			refused, err := r.End(r.Context(), []Outcome{{Lease: a.Holds(), Verdict: Failed, Error: "again"}})
			r.ok(err)
			if len(refused) > 0 {
				r.Fatalf("refused %+v", refused)
			}
			one[int](r, `select count(*) from weir.tend()`)
		}
		log := func(attempt int) (text string) {
			objects, err := r.bucket.List(r.Context(), blob.Prefix(blob.Log, job.String(), "a", attempt), "", 0)
			r.ok(err)
			for _, o := range objects {
				text += r.content(o.Key)
			}
			return text
		}
		total := 0
		for attempt := 1; attempt <= attempts; attempt++ {
			total += len(log(attempt))
		}
		// The last log comes on top of the limit, and each removed log leaves a marker.
		if most := int(r.logsMost) + pieces*len(line(10, 0)) + attempts*markerMost; total > most {
			r.Errorf("%d bytes are kept, at most %d should be", total, most)
		}
		for _, attempt := range []int{1, 2} {
			if got := log(attempt); strings.Count(got, "\n") != 1 || !strings.Contains(got, "was left out") {
				r.Errorf("attempt %d has %q", attempt, got)
			}
		}
		for _, attempt := range []int{attempts - 1, attempts} {
			if got := log(attempt); got != line(attempt, 0)+line(attempt, 1)+line(attempt, 2) {
				r.Errorf("attempt %d has %q", attempt, got)
			}
		}
	})
}
