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
	State   weir.State `json:"state,omitempty"`
	Service string     `json:"service,omitempty"`
	Gate    weir.Gate  `json:"gate,omitempty"`
	Pool    string     `json:"pool,omitempty"`
	Lane    string     `json:"lane,omitempty"`
	Key     string     `json:"key,omitempty"`
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
	States = []weir.State{weir.Pending, weir.Available, weir.Running, weir.Done, weir.Failed, weir.Canceled, weir.Skipped}
	Gates  = []weir.Gate{
		weir.GateNeeds, weir.GatePlan, weir.GateTime, weir.GateHold, weir.GateOrder, weir.GateExclusion, weir.GateLane, weir.GatePool,
	}
)

// check refuses a filter that can match nothing.
func (f *TaskFilter) check() error {
	if err := oneOf("state", f.State, States); err != nil {
		return err
	}
	if err := oneOf("gate", f.Gate, Gates); err != nil {
		return err
	}
	if f.Gate != "" {
		if f.State != "" && f.State != weir.Pending {
			return refuse("gate", "only pending tasks stand at one")
		}
		f.State = weir.Pending
	}
	if f.Worker != "" || f.Node != "" {
		if field := "node"; f.State != "" && f.State != weir.Running {
			if f.Worker != "" {
				field = "worker"
			}
			return refuse(field, "only running tasks are on one")
		}
		f.State = weir.Running
	}
	return nil
}

// oneOf refuses a word that is not in the list. None is fine.
func oneOf[T ~string](field string, word T, list []T) error {
	if word == "" || slices.Contains(list, word) {
		return nil
	}
	return refuse(field, "%q is none of %s", string(word), strings.Join(Words(list), ", "))
}

// Words are a list as texts.
func Words[T ~string](list []T) []string {
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = string(word)
	}
	return words
}

// behind asks of a row of weir.pending at the gate lane whether another comes first by rank,
// as weir.why does.
const behind = `(exists (select from weir.pending o where o.lane = s.lane and o.rank < s.rank)
	or exists (select from weir._lane_holder o where o.lane = s.lane and o.rank < s.rank and o.state in ('running', 'available'))
	or exists (select from weir.lane_blocks o where o.lane = s.lane and o.rank < s.rank))`

// atGate asks of a row of weir.pending whether it stands at a gate, which is one of Gates.
func atGate(gate weir.Gate) string {
	switch gate {
	case weir.GateOrder:
		return "s.gate = 'lane' and " + behind
	case weir.GateExclusion:
		return "s.gate = 'lane' and not " + behind
	}
	return "s.gate = '" + string(gate) + "'"
}

// laneGates are those at which a task waits for its lane.
var laneGates = []weir.Gate{weir.GateLane, weir.GateOrder, weir.GateExclusion}

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
