package view

import (
	"context"
	"strings"

	"github.com/weirhq/weir"
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
	type reason struct {
		job  weir.ID
		text string
	}
	rows, err := list(ctx, s, op, `select u.id, w.reason from unnest($1::uuid[]) u (id), lateral (
			select (array_agg(w.reason order by w.gate = 'needs', w.since) filter (where not w.open))[1] as reason from weir.why_job(u.id) w having not bool_or(w.gate = 'lease')
		) w where w.reason is not null`, []any{ids}, func(r *reason) []any { return []any{&r.job, &r.text} })
	for _, r := range rows {
		at[r.job].Waits = strings.TrimPrefix(r.text, "1 task: ")
	}
	return err
}
