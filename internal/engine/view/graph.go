package view

import (
	"context"
	"time"

	"github.com/weirhq/weir"
)

// GraphTask is a task as a picture of its job shows it.
type GraphTask struct {
	ID         weir.ID    `json:"id"`
	Key        string     `json:"key,omitempty"`
	Service    string     `json:"service"`
	State      weir.State `json:"state"`
	Gate       weir.Gate  `json:"gate,omitempty"`
	Attempt    int        `json:"attempt"`
	Position   int        `json:"position"`
	CreatedAt  time.Time  `json:"created_at"`
	StartedAt  time.Time  `json:"started_at,omitzero"`
	FinishedAt time.Time  `json:"finished_at,omitzero"`
	Worker     string     `json:"worker,omitempty"`
	Percent    *float64   `json:"percent,omitempty"`
}

// Graph is a job's tasks and their needs.
type Graph struct {
	// Nodes are in the order of the job.
	Nodes []GraphTask `json:"nodes"`
	// Edges lead from a need to the task that has it, and from a part to the task
	// that was split into it, as indexes of Nodes.
	Edges [][2]int `json:"edges"`
	// Truncated says that the job has more tasks than Nodes.
	Truncated bool `json:"truncated,omitempty"`
}

// graphMost is how many tasks a picture can show.
const graphMost = 2_000

// Graph reads the first 2,000 tasks of a job and their needs.
func (s *Store) Graph(ctx context.Context, job weir.ID) (Graph, error) {
	type row struct {
		GraphTask
		needs []weir.ID
		last  bool // of rule finally
	}
	// As the view weir.task, for all at once.
	rows, err := list(ctx, s, "read the graph", `with q as materialized (
			select q.id, q.key, q.class, q.position, q.order_seq, q.needs || q.awaits as needs, coalesce(q.rule = 'finally', false) as last from weir.tasks q where q.job = $1 order by q.position limit $2
		), f as materialized (
			select f.* from weir.finished f where f.task = any (array(select q.id from q))
		)
		select t.id, t.key, t.service, t.state, t.gate, t.attempt, t.position, weir._id_time(t.id), t.started_at, t.finished_at, t.worker, `+percent+`, t.needs, t.last from (
			select q.id, q.key, c.service, case when p.task is not null then 'pending' when a.task is not null then 'available' when r.task is not null then 'running' else f.outcome::text end as state,
				p.gate::text as gate, coalesce(p.attempt, a.attempt, r.attempt, f.attempt, 0)::int as attempt, q.position::int as position, coalesce(r.claimed_at, f.started_at) as started_at,
				f.at as finished_at, w.name as worker, q.needs, q.last
			from q join weir.classes c on c.id = q.class left join weir.pending p on p.task = q.id left join weir.running r on r.task = q.id left join f on f.task = q.id
			left join lateral (select * from weir.available a where a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position offset 0) a on true
			left join weir.workers w on w.id = coalesce(r.worker, f.worker)
		) t order by t.position`,
		[]any{job, graphMost + 1}, func(r *row) []any {
			return []any{
				&r.ID, (*maybe)(&r.Key), &r.Service, (*maybe)(&r.State), (*maybe)(&r.Gate), &r.Attempt, &r.Position, (*moment)(&r.CreatedAt), (*moment)(&r.StartedAt), (*moment)(&r.FinishedAt),
				(*maybe)(&r.Worker), &r.Percent, &r.needs, &r.last,
			}
		})
	if err != nil {
		return Graph{}, err
	}
	if len(rows) == 0 {
		_, err := s.Job(ctx, job) // a queued job has no tasks yet
		return Graph{Nodes: []GraphTask{}, Edges: [][2]int{}}, err
	}
	g := Graph{Nodes: []GraphTask{}, Edges: [][2]int{}, Truncated: len(rows) > graphMost}
	rows = rows[:min(len(rows), graphMost)]
	place, followed := map[weir.ID]int{}, map[weir.ID]bool{}
	for i, r := range rows {
		place[r.ID] = i
		for _, need := range r.needs {
			followed[need] = followed[need] || !r.last
		}
		g.Nodes = append(g.Nodes, r.GraphTask)
	}
	for i, r := range rows {
		for _, need := range r.needs {
			// A task that ends the job needs all others: the ones before it say enough.
			if from, ok := place[need]; ok && !(r.last && followed[need]) {
				g.Edges = append(g.Edges, [2]int{from, i})
			}
		}
	}
	return g, nil
}
