package view

import (
	"context"
	"encoding/json"
	"time"
)

// Node is a row of the view weir.node.
type Node struct {
	Name      string            `json:"name"`
	State     string            `json:"state"`
	Labels    map[string]string `json:"labels"`
	Capacity  map[string]int    `json:"capacity"`
	Running   int               `json:"running"`
	Workers   int               `json:"workers"`
	Note      string            `json:"note,omitempty"`
	ModeUntil time.Time         `json:"mode_until,omitzero"`
	// ModeAt is when somebody set the mode last.
	ModeAt       time.Time `json:"mode_at,omitzero"`
	SeenAt       time.Time `json:"seen_at"`
	RegisteredAt time.Time `json:"registered_at"`
	// Version and Drivers are those of its agent.
	Version string   `json:"version,omitempty"`
	Drivers []string `json:"drivers,omitempty"`
	// Isolation is how its agent holds the processes of an attempt together.
	Isolation string `json:"isolation,omitempty"`
	// Faults are the services that it does not claim because something is broken.
	Faults []NodeFault `json:"faults,omitempty"`
	// WakeMethod is how it is woken, if it is; WakeState is unknown, awake, waking
	// or asleep, since WakeAt.
	WakeMethod string    `json:"wake_method,omitempty"`
	WakeState  string    `json:"wake_state"`
	WakeAt     time.Time `json:"wake_at,omitzero"`
	WakeNote   string    `json:"wake_note,omitempty"`
	SleepAfter string    `json:"sleep_after,omitempty"`
}

// NodeFault is why a node does not claim a service.
type NodeFault struct {
	Service string `json:"service"`
	// Fault is no_driver, engine_away, disk_full, folder_gone or no_memory.
	Fault   string    `json:"fault"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
	// RetryAt is when it claims the service again; zero: when what is broken answers.
	RetryAt time.Time `json:"retry_at,omitzero"`
}

const nodeColumns = `n.name, n.state, n.labels, n.capacity, n.running, n.workers, n.note, n.mode_until, n.seen_at, n.registered_at, n.mode_at,
	n.version, n.drivers, n.wake_method, n.wake_state, n.wake_at, n.wake_note, n.sleep_after::text, n.isolation, n.faults`

func nodeInto(n *Node) []any {
	return []any{
		&n.Name, &n.State, &n.Labels, &n.Capacity, &n.Running, &n.Workers, (*maybe)(&n.Note), (*moment)(&n.ModeUntil), (*moment)(&n.SeenAt), (*moment)(&n.RegisteredAt), (*moment)(&n.ModeAt),
		(*maybe)(&n.Version), &n.Drivers, (*maybe)(&n.WakeMethod), &n.WakeState, (*moment)(&n.WakeAt), (*maybe)(&n.WakeNote), (*maybe)(&n.SleepAfter), (*maybe)(&n.Isolation), &n.Faults,
	}
}

// Nodes lists the nodes by name.
func (s *Store) Nodes(ctx context.Context, page Page) ([]Node, error) {
	return list(ctx, s, "list nodes", `select `+nodeColumns+` from weir.node n where n.name > $1 collate "C" order by n.name limit $2`, []any{page.After, page.Most()}, nodeInto)
}

// Node reads one node.
func (s *Store) Node(ctx context.Context, name string) (Node, error) {
	rows, err := list(ctx, s, "read node", `select `+nodeColumns+` from weir.node n where n.name = $1`, []any{name}, nodeInto)
	if err == nil && len(rows) == 0 {
		err = noSuch("node", name)
	}
	if err != nil {
		return Node{}, err
	}
	return rows[0], nil
}

// Waking is how a node is woken, as weir.set_wake took it; NULL is nothing. It may
// hold an address with a password in it, so it is not part of a [Node].
func (s *Store) Waking(ctx context.Context, node string) (params json.RawMessage, err error) {
	rows, err := list(ctx, s, "read how a node is woken", `select n.wake from weir.nodes n where n.name = $1`, []any{node}, func(p *[]byte) []any { return []any{p} })
	if err == nil && len(rows) == 0 {
		err = noSuch("node", node)
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// Slot is how many tasks of a service run on a node.
type Slot struct {
	Node    string `json:"node"`
	Service string `json:"service"`
	Running int    `json:"running"`
}

// Slots counts what runs on nodes, by service. What does not run is not there.
func (s *Store) Slots(ctx context.Context, nodes []string) ([]Slot, error) {
	return list(ctx, s, "count what nodes run", `select n.name, c.service, count(*) from weir.nodes n join weir.running r on r.node = n.id join weir.classes c on c.id = r.class
		where n.name = any ($1) group by n.name, c.service order by n.name, c.service`, []any{nodes}, func(s *Slot) []any { return []any{&s.Node, &s.Service, &s.Running} })
}

// Worker is a row of the view weir.worker.
type Worker struct {
	Name      string            `json:"name"`
	State     string            `json:"state"`
	Node      string            `json:"node,omitempty"`
	Services  []string          `json:"services"`
	Labels    map[string]string `json:"labels"`
	Running   int               `json:"running"`
	StartedAt time.Time         `json:"started_at"`
	SeenAt    time.Time         `json:"seen_at"`
	StoppedAt time.Time         `json:"stopped_at,omitzero"`
}

// workers is the view weir.worker, but for what they run: that is counted once for
// all, because leases have no index by worker.
const workers = `(select w.name, case when w.stopped_at is not null then 'stopped' when w.seen_at < clock_timestamp() - interval '30 s' then 'dead' else 'live' end as state, n.name as node,
	w.services, w.labels, coalesce(r.running, 0) as running, w.started_at, w.seen_at, w.stopped_at
	from weir.workers w left join weir.nodes n on n.id = w.node left join (select r.worker, count(*) as running from weir.running r group by r.worker) r on r.worker = w.id) w`

const workerColumns = `w.name, w.state, w.node, w.services, w.labels, w.running, w.started_at, w.seen_at, w.stopped_at`

func workerInto(w *Worker) []any {
	return []any{&w.Name, &w.State, (*maybe)(&w.Node), &w.Services, &w.Labels, &w.Running, (*moment)(&w.StartedAt), (*moment)(&w.SeenAt), (*moment)(&w.StoppedAt)}
}

// WorkerFilter narrows a list of workers. The zero value is those that live.
type WorkerFilter struct {
	Node, Service string
	// All also lists workers that have stopped.
	All bool
}

// Workers lists workers by name.
func (s *Store) Workers(ctx context.Context, f WorkerFilter, page Page) ([]Worker, error) {
	var q query
	if page.After != "" {
		q.where(`w.name > %s collate "C"`, page.After)
	}
	if !f.All {
		q.where("w.state <> %s", "stopped")
	}
	if f.Node != "" {
		q.where("w.node = %s", f.Node)
	}
	if f.Service != "" {
		q.where("%s = any (w.services)", f.Service)
	}
	sql := `select ` + workerColumns + ` from ` + workers + q.text() + ` order by w.name limit ` + q.arg(page.Most())
	return list(ctx, s, "list workers", sql, q.args, workerInto)
}

// Worker reads one worker.
func (s *Store) Worker(ctx context.Context, name string) (Worker, error) {
	rows, err := list(ctx, s, "read worker", `select `+workerColumns+` from weir.worker w where w.name = $1`, []any{name}, workerInto)
	if err == nil && len(rows) == 0 {
		err = noSuch("worker", name)
	}
	if err != nil {
		return Worker{}, err
	}
	return rows[0], nil
}
