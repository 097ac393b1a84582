package node

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob/blobtest"
)

// A report does everything at once: starts and notes in one transaction, pieces of logs for
// leases that hold, then the ends. A bad note is left out, and costs the rest nothing.
func TestReportAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	ctx := t.Context()
	for range 3 {
		r.submit()
	}
	first, second, third := r.claim(), r.claim(), r.claim()
	wrong := third.Holds()
	wrong.Token = weir.ID{1}.String()
	piece := func(l Lease, seq int) LogPiece {
		return LogPiece{l, LogChunk{Seq: seq, Lines: []byte("{\"text\":\"hello\"}\n"), Quiet: true}}
	}
	told := Told{
		Starts: []Start{{first.Holds(), time.Hour}, {second.Holds(), 2 * time.Hour}},
		Notes:  []Note{{Lease: first.Holds(), Type: "progress", Data: json.RawMessage(`{"percent": 100}`)}, {Lease: second.Holds(), Type: "note", Message: "hi"}},
		Logs:   []LogPiece{piece(first.Holds(), 0), piece(wrong, 0), piece(second.Holds(), 0)},
		Ends:   []Outcome{{Lease: first.Holds(), Verdict: Done}},
	}
	heard, err := r.Report(ctx, told)
	r.ok(err)
	if len(heard.Refused) > 0 || !slices.Equal(heard.Logs, []string{LogKept, LeaseLost, LogKept}) {
		t.Errorf("heard %+v", heard)
	}
	if got := one[string](r, `select string_agg(type, ' ' order by seq) from weir.events where type in ('started', 'progress', 'note') and task is not null`); got != "started started progress note" {
		t.Errorf("written: %s", got)
	}
	if n := one[int](r, `select count(distinct xmin::text) from weir.events where type in ('started', 'progress', 'note')`); n != 1 {
		t.Errorf("starts and notes are %d transactions", n)
	}
	if n := one[int](r, `select count(*) from weir.running where started and until > now() + interval '90 min'`); n != 1 {
		t.Errorf("%d leases are two hours long", n)
	}

	bad := Told{Notes: []Note{{Lease: second.Holds(), Type: "done"}, {Lease: second.Holds(), Type: "kept"}}, Logs: []LogPiece{piece(second.Holds(), 1)}, Ends: []Outcome{{Lease: second.Holds(), Verdict: Done}}}
	heard, err = r.Report(ctx, bad)
	r.ok(err)
	if len(heard.Refused) > 0 || !slices.Equal(heard.Logs, []string{LogKept}) || one[int](r, `select count(*) from weir.events where type = 'kept'`) != 1 || one[int](r, `select count(*) from weir.finished`) != 2 {
		t.Errorf("a bad note changed more than itself: %+v", heard)
	}

	other := NewDesk(r.db.Pool, "n2", Options{Bucket: r.bucket})
	r.ok(other.Register(ctx, Info{Name: "n2", Capacity: map[string]int{"s": 5}}))
	heard, err = other.Report(ctx, Told{Logs: []LogPiece{piece(third.Holds(), 0)}, Ends: []Outcome{{Lease: third.Holds(), Verdict: Done}}})
	r.ok(err)
	if len(heard.Refused) != 1 || heard.Refused[0].Refusal != LeaseLost || !slices.Equal(heard.Logs, []string{LeaseLost}) {
		t.Errorf("a lease of another node: %+v", heard)
	}
}
