package view

import (
	"context"
	"encoding/json"
	"fmt"
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
	Task      json.RawMessage `json:"task"`
	Service   string          `json:"service"`
	NextAt    time.Time       `json:"next_at"`
	LastAt    time.Time       `json:"last_at,omitzero"`
	LastTask  weir.ID         `json:"last_task,omitzero"`
	ChangedAt time.Time       `json:"changed_at"`
}

const scheduleColumns = `s.name, s.spec, s.zone, s.missed, s.paused, s.task, s.task ->> 'service', s.next_at, s.last_at, s.last_task, s.changed_at`

func scheduleInto(s *Schedule) []any {
	return []any{
		&s.Name, &s.Spec, &s.Zone, &s.Missed, &s.Paused, (*[]byte)(&s.Task), (*maybe)(&s.Service), (*moment)(&s.NextAt), (*moment)(&s.LastAt), &s.LastTask,
		(*moment)(&s.ChangedAt),
	}
}

// Schedules lists the schedules by name.
func (s *Store) Schedules(ctx context.Context, page Page) ([]Schedule, error) {
	return list(ctx, s, "list schedules", `select `+scheduleColumns+` from weir.schedules s where s.name > $1 collate "C" order by s.name limit $2`,
		[]any{page.After, page.limit()}, scheduleInto)
}

// Schedule reads one schedule.
func (s *Store) Schedule(ctx context.Context, name string) (Schedule, error) {
	rows, err := list(ctx, s, "read schedule", `select `+scheduleColumns+` from weir.schedules s where s.name = $1`, []any{name}, scheduleInto)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%w: there is no schedule %q", weir.ErrNotFound, name)
	}
	if err != nil {
		return Schedule{}, err
	}
	return rows[0], nil
}
