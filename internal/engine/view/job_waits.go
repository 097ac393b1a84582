package view

import (
	"context"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/reason"
)

const (
	// waitsMost is how many jobs of a page are asked what they wait for, waitsTasks
	// how many tasks such a job may have: each is looked at.
	waitsMost, waitsTasks = 10, 500
)

// explain says of running jobs of which nothing runs what they wait for. It asks
// the first of a page only: a list must not wait for long answers.
func (s *Store) explain(ctx context.Context, op string, jobs []Job) error {
	var ids []weir.ID
	at := map[weir.ID]*Job{}
	for i := range jobs {
		if j := &jobs[i]; j.State == "running" && j.Total <= waitsTasks && len(ids) < waitsMost {
			ids = append(ids, j.ID)
			at[j.ID] = j
		}
	}
	if len(ids) == 0 {
		return nil
	}
	type found struct {
		job weir.ID
		reason.Coded
	}
	rows, err := list(ctx, s, op, `select u.id, w.code, w.args from unnest($1::uuid[]) u (id), lateral (
			select w.code, w.args from (select *, bool_or(w.gate = 'lease') over () as runs from weir.why_job(u.id) w) w
			where not w.open and not w.runs order by w.gate = 'needs', w.since limit 1
		) w`, []any{ids}, func(r *found) []any { return []any{&r.job, &r.Code, &r.Args} })
	for _, r := range rows {
		if r.Code == "tasks" && r.Args["n"] == 1.0 {
			r.Code = "task" // one is not counted
		}
		at[r.job].Reason, at[r.job].Waits = &r.Coded, r.In(reason.Default, "")
	}
	return err
}
