package node

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
)

// A task that is retried many times keeps the logs of its newest attempts.
func TestLogsOfAllAttemptsAreBounded(t *testing.T) {
	twins(t, func(r *rig) {
		r.logsMost = 10_000
		job := r.submit()
		text := func(attempt, seq int) string { // which cannot be compressed much
			noise := make([]byte, 700)
			_, _ = rand.NewChaCha8([32]byte{byte(attempt), byte(seq)}).Read(noise)
			return base64.StdEncoding.EncodeToString(noise)
		}
		line := func(attempt, seq int) []byte {
			return joblog.Append(nil, joblog.Line{At: time.Unix(0, 0), Stream: "stdout", Text: text(attempt, seq)})
		}
		const attempts, pieces = 12, 3
		for range attempts {
			a := r.claim()
			for seq := range pieces {
				now := time.Now()
				r.ok(r.AppendLog(r.Context(), a.Holds(), LogChunk{Seq: seq, Lines: line(a.Attempt, seq), From: now, To: now}))
			}
			refused, err := r.End(r.Context(), []Outcome{{Lease: a.Holds(), Verdict: Failed, Error: "again"}})
			r.ok(err)
			if len(refused) > 0 {
				r.Fatalf("refused %+v", refused)
			}
			one[int](r, `select count(*) from weir.tend()`)
		}
		total := 0
		log := func(attempt int) (texts []string) {
			objects, err := r.bucket.List(r.Context(), blob.Prefix(blob.Log, job.String(), "a", attempt), "", 0)
			r.ok(err)
			for _, o := range objects {
				total += int(o.Size)
			}
			for l, err := range joblog.Read(r.Context(), r.bucket, joblog.Log{Job: job.String(), Task: "a", Attempt: attempt}, joblog.Place{}) {
				r.ok(err)
				texts = append(texts, l.Text)
			}
			return texts
		}
		for attempt := 1; attempt <= attempts; attempt++ {
			got := log(attempt)
			switch {
			case attempt < 3 && (len(got) != 1 || !strings.Contains(got[0], "was left out")),
				attempt >= attempts-1 && !slices.Equal(got, []string{text(attempt, 0), text(attempt, 1), text(attempt, 2)}):
				r.Errorf("attempt %d has %q", attempt, got)
			}
		}
		// The last log comes on top of the limit, and each removed log leaves a marker.
		if most := int(r.logsMost) + pieces*len(line(10, 0)) + attempts*markerMost; total > most {
			r.Errorf("%d bytes are kept, at most %d should be", total, most)
		}
	})
}
