package view

import (
	"context"
	"strings"

	"github.com/weirhq/weir"
)

// Hit is one thing that a search found.
type Hit struct {
	// Kind is task, job, rollout, fleet, service, node, worker, pool, schedule, database
	// or device. A rollout is a job, and found as one; so is a fleet job.
	Kind string `json:"kind"`
	// ID is set for tasks, jobs, rollouts and fleet jobs. Name is what the thing is called: of a task its
	// key or else its service.
	ID   weir.ID `json:"id,omitzero"`
	Name string  `json:"name,omitempty"`
	// State is empty for services, pools, schedules and databases; of a device it is
	// its health.
	State string `json:"state,omitempty"`
}

const (
	// hitsMost is how many a search returns, hitsEach how many of one kind.
	hitsMost, hitsEach = 20, 5
	// keysWithin is among how many of the newest tasks a key is looked for.
	keysWithin = 20_000
)

// Search finds things by what a person types, at most 20: a task, job or rollout by
// its id or the end of it; a job, rollout, node, worker, pool, schedule, database,
// device or service by how its name begins; a task by its key, among the newest. It looks at a
// bounded number of rows, so that a miss is as fast as a hit.
func (s *Store) Search(ctx context.Context, text string) ([]Hit, error) {
	text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", ""))
	if text == "" {
		return []Hit{}, nil
	}
	hits, err := s.searchIDs(ctx, text)
	if err != nil || len(hits) > 0 {
		return hits, err // nothing else looks like an id
	}
	if hits, err = s.searchNames(ctx, text); err != nil {
		return nil, err
	}
	if len(hits) < hitsMost {
		keyed, err := inOrder(ctx, s, searching, `select q.id from (select q.id, q.key from weir.tasks q order by q.id desc limit $2) q where q.key = $1 limit $3`, []any{text, keysWithin, hitsEach}, idInto)
		if err != nil {
			return nil, err
		}
		tasks, err := s.found(ctx, keyed, nil)
		if err != nil {
			return nil, err
		}
		hits = append(hits, tasks...)
	}
	return hits[:min(len(hits), hitsMost)], nil
}

const searching = "search"

// searchIDs finds tasks and jobs by their id.
func (s *Store) searchIDs(ctx context.Context, text string) ([]Hit, error) {
	text = strings.ToLower(text)
	if id, err := weir.ParseID(text); err == nil {
		return s.found(ctx, []weir.ID{id}, []weir.ID{id})
	}
	if !isEnd(text) {
		return nil, nil
	}
	var jobs []weir.ID
	tasks, err := s.ending(ctx, searching, taskEnds, text)
	if err == nil && len(tasks) == 0 {
		jobs, err = s.ending(ctx, searching, jobEnds, text)
	}
	if err != nil {
		return nil, err
	}
	return s.found(ctx, tasks[:min(len(tasks), hitsEach)], jobs[:min(len(jobs), hitsEach)])
}

// found reads what a line of a search shows of tasks and jobs.
func (s *Store) found(ctx context.Context, tasks, jobs []weir.ID) ([]Hit, error) {
	if len(tasks)+len(jobs) == 0 {
		return nil, nil
	}
	return list(ctx, s, searching, `select case when r.id is not null then 'rollout' when f.id is not null then 'fleet' else 'job' end, j.id, j.name, coalesce(r.state, f.state, j.state) from unnest($2::uuid[]) u (id), lateral (select * from weir.job j where j.id = u.id offset 0) j
			left join lateral (select r.id, r.state from weir.rollout r where r.id = j.id offset 0) r on true
			left join lateral (select f.id, f.state from weir.fleet_job f where f.id = j.id offset 0) f on true
		union all select 'task', t.id, coalesce(t.key, t.service), t.state::text from unnest($1::uuid[]) u (id), lateral (select * from weir.task t where t.id = u.id offset 0) t`,
		[]any{tasks, jobs}, hitInto)
}

// searchNames finds what has a name, by its beginning. Of jobs, which may be many
// of one name, the newest among some.
func (s *Store) searchNames(ctx context.Context, text string) ([]Hit, error) {
	begin := func(column string) string { return begins(column) + " order by 3 limit $3" }
	jobs, err := list(ctx, s, searching, `select x.id from (select j.id from weir.jobs j where `+begins("left(j.name, 200)")+` limit 2000) x order by x.id desc limit $3`,
		append(beginning(text), hitsEach), idInto)
	if err != nil {
		return nil, err
	}
	hits, err := s.found(ctx, nil, jobs)
	if err != nil {
		return nil, err
	}
	named, err := list(ctx, s, searching, `(select 'database', null::uuid, d.name, null from weir.databases d where `+begin("d.name")+`)
		union all (select 'device', null, d.serial, d.health from weir.devices d where `+begin("d.serial")+`)
		union all (select 'service', null, c.service, null from weir.classes c where `+begins("c.service")+` group by 3 order by 3 limit $3)
		union all (select 'node', null, n.name, n.state from weir.node n where `+begin("n.name")+`)
		union all (select 'worker', null, w.name, w.state from weir.worker w where `+begin("w.name")+`)
		union all (select 'pool', null, p.name, null from weir.pools p where `+begin("p.name")+`)
		union all (select 'schedule', null, s.name, null from weir.schedules s where `+begin("s.name")+`)`,
		append(beginning(text), hitsEach), hitInto)
	return append(hits, named...), err
}

func hitInto(h *Hit) []any { return []any{&h.Kind, &h.ID, (*maybe)(&h.Name), (*maybe)(&h.State)} }
