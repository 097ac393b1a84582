package view

import (
	"context"
	"encoding/json"
	"time"

	"github.com/weirhq/weir"
)

// Schedule is a row of weir.schedules.
type Schedule struct {
	Name      string          `json:"name"`
	Spec      string          `json:"spec"`
	Zone      string          `json:"zone"`
	Missed    string          `json:"missed"`
	Paused    bool            `json:"paused"`
	Task      json.RawMessage `json:"task,omitempty"`
	Service   string          `json:"service,omitempty"`
	NextAt    time.Time       `json:"next_at"`
	LastAt    time.Time       `json:"last_at,omitzero"`
	LastTask  weir.ID         `json:"last_task,omitzero"`
	ChangedAt time.Time       `json:"changed_at"`
	// Workflow runs instead of a task, with these options; Overlap says what
	// happens when its last run, which is LastJob, has not ended.
	Workflow string          `json:"workflow,omitempty"`
	Options  json.RawMessage `json:"options,omitempty"`
	Overlap  string          `json:"overlap"`
	CatchUp  string          `json:"catch_up,omitempty"`
	Jitter   string          `json:"jitter,omitempty"`
	LastJob  weir.ID         `json:"last_job,omitzero"`
	// Spans are CatchUp and Jitter in seconds, for those who compare them.
	Spans [2]float64 `json:"-"`
}

const scheduleColumns = `s.name, s.spec, s.zone, s.missed, s.paused, s.task, s.task ->> 'service', s.next_at, s.last_at, s.last_task, s.changed_at,
	s.workflow, s.options, s.overlap, s.catch_up::text, s.jitter::text, s.last_job,
	coalesce(extract(epoch from s.catch_up), 0)::float8, coalesce(extract(epoch from s.jitter), 0)::float8`

func scheduleInto(s *Schedule) []any {
	return []any{
		&s.Name, &s.Spec, &s.Zone, &s.Missed, &s.Paused, (*[]byte)(&s.Task), (*maybe)(&s.Service), (*moment)(&s.NextAt), (*moment)(&s.LastAt), &s.LastTask,
		(*moment)(&s.ChangedAt), (*maybe)(&s.Workflow), (*[]byte)(&s.Options), &s.Overlap, (*maybe)(&s.CatchUp), (*maybe)(&s.Jitter), &s.LastJob, &s.Spans[0], &s.Spans[1],
	}
}

// Schedules lists the schedules by name.
func (s *Store) Schedules(ctx context.Context, page Page) ([]Schedule, error) {
	return list(ctx, s, "list schedules", `select `+scheduleColumns+` from weir.schedules s where s.name > $1 collate "C" order by s.name limit $2`,
		[]any{page.After, page.Most()}, scheduleInto)
}

// Schedule reads one schedule.
func (s *Store) Schedule(ctx context.Context, name string) (Schedule, error) {
	rows, err := list(ctx, s, "read schedule", `select `+scheduleColumns+` from weir.schedules s where s.name = $1`, []any{name}, scheduleInto)
	if err == nil && len(rows) == 0 {
		err = noSuch("schedule", name)
	}
	if err != nil {
		return Schedule{}, err
	}
	return rows[0], nil
}
