package view

import (
	"context"
	"encoding/json"
	"time"

	"github.com/weirhq/weir"
)

// Event is one line of the timeline.
type Event struct {
	Cursor  string          `json:"cursor,omitempty"`
	Seq     int64           `json:"seq"`
	At      time.Time       `json:"at"`
	Type    string          `json:"type"`
	Kind    string          `json:"kind"`
	Subject string          `json:"subject,omitempty"`
	Job     weir.ID         `json:"job,omitzero"`
	Task    weir.ID         `json:"task,omitzero"`
	Attempt int             `json:"attempt,omitempty"`
	Worker  string          `json:"worker,omitempty"`
	Source  string          `json:"source,omitempty"`
	Level   string          `json:"level"`
	Message string          `json:"message,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func eventInto(e *Event) []any {
	return []any{
		(*maybe)(&e.Cursor), &e.Seq, (*moment)(&e.At), &e.Type, &e.Kind, (*maybe)(&e.Subject), &e.Job, &e.Task, &e.Attempt, (*maybe)(&e.Worker),
		(*maybe)(&e.Source), &e.Level, (*maybe)(&e.Message), (*[]byte)(&e.Data),
	}
}

// EventsAfter reads on from a cursor, oldest first.
func (s *Store) EventsAfter(ctx context.Context, cursor string, job, task weir.ID, limit int) ([]Event, error) {
	return list(ctx, s, "read the timeline", `select e.cursor, e.seq, e.at, e.type, e.kind, e.subject, e.job, e.task, coalesce(e.attempt, 0), e.worker, e.source, e.level, e.message, e.data
		from weir.events_after($1, $2, $3, $4) e`, []any{cursor, limit, job, task}, eventInto)
}

// LinesMost is how many lines of what a task said [Store.TaskEvents] reads.
const LinesMost = 1000

// TaskEvents is the life of one task, oldest first: its moves, and the newest
// [LinesMost] of the rest. Where a task has more than twenty times as many events,
// what happened between its beginning and its end is left out.
func (s *Store) TaskEvents(ctx context.Context, task weir.ID) ([]Event, error) {
	return list(ctx, s, "read the timeline", `select null::text, e.seq, e.at, e.type, 'task', $1::uuid::text, null::uuid, $1::uuid, coalesce(e.attempt, 0), e.worker, e.source, e.level,
		e.message, e.data from weir.task_events($1, $2) e`, []any{task, s.lines}, eventInto)
}
