package view

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// TaskFilter narrows a list of tasks. The zero value is everything.
type TaskFilter struct {
	State   string `json:"state,omitempty"`
	Service string `json:"service,omitempty"`
	Gate    string `json:"gate,omitempty"`
	Pool    string `json:"pool,omitempty"`
	Lane    string `json:"lane,omitempty"`
	Key     string `json:"key,omitempty"`
	// Worker and Node are where a task runs: only running tasks have them.
	Worker string  `json:"worker,omitempty"`
	Node   string  `json:"node,omitempty"`
	Job    weir.ID `json:"job,omitzero"`
	// Since leaves out what was made before.
	Since time.Time `json:"since,omitzero"`
}

// States are those a task can be in; Gates those a pending task can stand at. Order and
// exclusion are the two parts of the gate lane: a task passes one after the other.
var (
	States = []string{"pending", "available", "running", "done", "failed", "canceled", "skipped"}
	Gates  = []string{"needs", "plan", "time", "hold", "order", "exclusion", "lane", "pool"}
)

// check refuses a filter that can match nothing.
func (f *TaskFilter) check() error {
	if f.State != "" && !slices.Contains(States, f.State) {
		return refuse("state", "%q is none of %s", f.State, strings.Join(States, ", "))
	}
	if f.Gate != "" && !slices.Contains(Gates, f.Gate) {
		return refuse("gate", "%q is none of %s", f.Gate, strings.Join(Gates, ", "))
	}
	if f.Gate != "" {
		if f.State != "" && f.State != "pending" {
			return refuse("gate", "only pending tasks stand at one")
		}
		f.State = "pending"
	}
	if f.Worker != "" || f.Node != "" {
		if field := "node"; f.State != "" && f.State != "running" {
			if f.Worker != "" {
				field = "worker"
			}
			return refuse(field, "only running tasks are on one")
		}
		f.State = "running"
	}
	return nil
}

// behind asks of a row of weir.pending at the gate lane whether another comes first by rank,
// as weir.why does.
const behind = `(exists (select from weir.pending o where o.lane = s.lane and o.rank < s.rank)
	or exists (select from weir._lane_holder o where o.lane = s.lane and o.rank < s.rank and o.state in ('running', 'available'))
	or exists (select from weir.lane_blocks o where o.lane = s.lane and o.rank < s.rank))`

// atGate asks of a row of weir.pending whether it stands at a gate, which is one of Gates.
func atGate(gate string) string {
	switch gate {
	case "order":
		return "s.gate = 'lane' and " + behind
	case "exclusion":
		return "s.gate = 'lane' and not " + behind
	}
	return "s.gate = '" + gate + "'"
}

// known is a filter with the ids of what it names; empty or zero where it names
// nothing.
type known struct {
	TaskFilter
	classes      []int32
	worker, node int32
}

// known looks up what a filter names. It is not ok if there is nothing of a name:
// then no task can match.
func (s *Store) known(ctx context.Context, op string, f TaskFilter) (k known, ok bool, err error) {
	k.TaskFilter = f
	for _, n := range []struct {
		name, sql string
		found     func(ids []int32)
	}{
		{f.Service, `select c.id from weir.classes c where c.service = $1`, func(ids []int32) { k.classes = ids }},
		{f.Worker, `select w.id from weir.workers w where w.name = $1`, func(ids []int32) { k.worker = ids[0] }},
		{f.Node, `select n.id from weir.nodes n where n.name = $1`, func(ids []int32) { k.node = ids[0] }},
	} {
		if n.name == "" {
			continue
		}
		ids, err := list(ctx, s, op, n.sql, []any{n.name}, func(id *int32) []any { return []any{id} })
		if err != nil || len(ids) == 0 {
			return k, false, err
		}
		n.found(ids)
	}
	return k, true, nil
}
