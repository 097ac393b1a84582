package view

import (
	"context"
	"time"
)

// Rate is what happened in one minute.
type Rate struct {
	At        time.Time `json:"at"`
	Submitted int64     `json:"submitted"`
	Started   int64     `json:"started"`
	Done      int64     `json:"done"`
	Failed    int64     `json:"failed"`
	Canceled  int64     `json:"canceled"`
	Expired   int64     `json:"expired"`
	Refused   int64     `json:"refused"`
	// Wait is from when a task might start until it did, Run from there to its
	// end, in seconds, of a sample of the minute's tasks. Nil: none is known.
	WaitP50 *float64 `json:"wait_p50,omitempty"`
	WaitP95 *float64 `json:"wait_p95,omitempty"`
	RunP50  *float64 `json:"run_p50,omitempty"`
	RunP95  *float64 `json:"run_p95,omitempty"`
}

// Rates lists the minutes since then, oldest first, up to eight days. Minutes in
// which nothing happened are left out. A leader adds them up every few seconds
// (weir.tally).
func (s *Store) Rates(ctx context.Context, since time.Duration) ([]Rate, error) {
	return list(ctx, s, "read the rates", `select m.at, m.submitted, m.started, m.done, m.failed, m.canceled, m.expired, m.refused,
		m.wait_p50::float8, m.wait_p95::float8, m.run_p50::float8, m.run_p95::float8
		from weir.minutes m where m.at > clock_timestamp() - $1::interval order by m.at`, []any{since}, func(r *Rate) []any {
		return []any{(*moment)(&r.At), &r.Submitted, &r.Started, &r.Done, &r.Failed, &r.Canceled, &r.Expired, &r.Refused, &r.WaitP50, &r.WaitP95, &r.RunP50, &r.RunP95}
	})
}
