package view

import (
	"context"

	"github.com/weirhq/weir"
)

// Name is what people call a task: its key and service, and the name of its job.
type Name struct{ Key, Service, Job string }

// String is the key, else the service.
func (n Name) String() string {
	if n.Key != "" {
		return n.Key
	}
	return n.Service
}

// Names says how the tasks and jobs of events are called, by id. What is not
// there any more is left out.
func (s *Store) Names(ctx context.Context, events []Event) (map[weir.ID]Name, error) {
	var ids []weir.ID
	known := map[weir.ID]bool{}
	for _, e := range events {
		for _, id := range []weir.ID{e.Task, e.Job} {
			if !id.IsZero() && !known[id] {
				known[id] = true
				ids = append(ids, id)
			}
		}
	}
	type row struct {
		id weir.ID
		Name
	}
	// One look-up per id: a join over an array would be planned without
	// statistics.
	rows, err := list(ctx, s, "name tasks", `
		select x.id, coalesce(t.key, ''), coalesce(t.service, ''), coalesce(j.name, '')
		from unnest($1::uuid[]) x (id)
		left join lateral (select q.key, c.service, q.job from weir.tasks q join weir.classes c on c.id = q.class where q.id = x.id offset 0) t on true
		left join lateral (select b.name from weir.jobs b where b.id = coalesce(t.job, x.id) offset 0) j on true`,
		[]any{ids}, func(r *row) []any { return []any{&r.id, &r.Key, &r.Service, &r.Job} })
	if err != nil {
		return nil, err
	}
	names := make(map[weir.ID]Name, len(rows))
	for _, r := range rows {
		if r.Name != (Name{}) {
			names[r.id] = r.Name
		}
	}
	return names, nil
}
