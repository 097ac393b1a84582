package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
)

// ScheduleInput names a schedule.
type ScheduleInput struct {
	Schedule string `path:"schedule" maxLength:"200"`
}

func (a *API) listSchedules(ctx context.Context, in *PageInput) (*Listed[view.Schedule], error) {
	schedules, err := a.config.Store.Schedules(ctx, in.page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, schedules, in.Limit, func(s view.Schedule) string { return s.Name }), nil
}

// ScheduleSpec is a schedule as somebody defines it.
type ScheduleSpec struct {
	Spec   string   `json:"spec" maxLength:"200" doc:"A cron line of five fields, a nickname such as @daily, or @every 90s."`
	Zone   string   `json:"zone,omitempty" maxLength:"100" doc:"The time zone of the cron line. Default: UTC."`
	Missed string   `json:"missed,omitempty" enum:"skip,one,all" doc:"What to do about runs that were missed. Default: one."`
	Paused bool     `json:"paused,omitempty" doc:"Keeps the schedule but submits nothing."`
	Task   TaskSpec `json:"task" doc:"What is submitted."`
}

// scheduleTag is the version of a schedule.
func scheduleTag(s view.Schedule) string {
	var task bytes.Buffer
	if json.Compact(&task, s.Task) != nil {
		task.Write(s.Task) // jsonb is always JSON
	}
	return etag([]any{s.Spec, s.Zone, s.Missed, s.Paused, task.String()})
}

func (a *API) showSchedule(ctx context.Context, in *ScheduleInput) (*Defined[view.Schedule], error) {
	s, err := a.config.Store.Schedule(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	return &Defined[view.Schedule]{Status: http.StatusOK, ETag: scheduleTag(s), Body: s}, nil
}

// PutScheduleInput creates a schedule or changes it.
type PutScheduleInput struct {
	ScheduleInput
	MatchInput
	Body ScheduleSpec
}

func (a *API) putSchedule(ctx context.Context, in *PutScheduleInput) (out *Defined[view.Schedule], err error) {
	b := &in.Body
	want := weir.Schedule{Name: in.Schedule, Spec: b.Spec, Zone: b.Zone, Missed: weir.Missed(b.Missed), Paused: b.Paused, Task: b.Task.task()}
	err = a.inTurn(ctx, func() error {
		is, exists, err := lookup(a.config.Store.Schedule(ctx, in.Schedule))
		if err != nil {
			return err
		}
		status, tag := http.StatusCreated, ""
		if exists {
			status, tag = http.StatusOK, scheduleTag(is)
		}
		if err := in.judge("schedule", tag, exists && b.same(is)); err != nil {
			return err
		}
		want.By = auth.From(ctx).By()
		if in.exact() {
			want.Seen = is.ChangedAt // another server may be at it, too
		}
		// The same call again changes nothing, so it need not be left out.
		if err := in.late(a.config.Commands.SetSchedule(ctx, want)); err != nil {
			return err
		}
		if out, err = a.showSchedule(ctx, &in.ScheduleInput); err != nil {
			return err
		}
		out.Status = status
		return nil
	})
	return out, err
}

// same says that writing the definition over what is there changes nothing.
func (b *ScheduleSpec) same(is view.Schedule) bool {
	zone, missed := cmp.Or(b.Zone, "UTC"), cmp.Or(b.Missed, string(weir.MissedOne))
	if is.Spec != b.Spec || is.Zone != zone || is.Missed != missed || is.Paused != b.Paused {
		return false
	}
	var stored map[string]any
	return json.Unmarshal(is.Task, &stored) == nil && reflect.DeepEqual(stored, b.Task.stored())
}

// stored is the task as the database keeps it in a schedule.
func (s *TaskSpec) stored() map[string]any {
	var fields map[string]any
	text, err := json.Marshal(s)
	if err != nil || json.Unmarshal(text, &fields) != nil {
		return nil // it came from JSON, so it becomes JSON
	}
	for name, d := range map[string]Period{"timeout": s.Timeout, "backoff": s.Backoff, "backoff_cap": s.BackoffCap} {
		if d != 0 {
			fields[name] = strconv.FormatInt(time.Duration(d).Microseconds(), 10) + " us"
		}
	}
	if !s.RunAt.IsZero() {
		fields["run_at"] = s.RunAt.UTC().Format(time.RFC3339Nano)
	}
	return fields
}

// DropScheduleInput deletes a schedule.
type DropScheduleInput struct {
	ScheduleInput
	MatchInput
}

func (a *API) dropSchedule(ctx context.Context, in *DropScheduleInput) (*Empty, error) {
	return nil, a.inTurn(ctx, func() error {
		if in.IfMatch != "" {
			is, err := a.config.Store.Schedule(ctx, in.Schedule)
			if err != nil {
				return err
			}
			if !in.matches(scheduleTag(is)) {
				return stale("the schedule was changed by somebody else")
			}
		}
		return a.config.Commands.DropSchedule(ctx, in.Schedule, auth.From(ctx).By())
	})
}

func (a *API) pauseSchedule(ctx context.Context, in *ScheduleInput) (*Empty, error) {
	return nil, a.setPaused(ctx, in.Schedule, true)
}

func (a *API) resumeSchedule(ctx context.Context, in *ScheduleInput) (*Empty, error) {
	return nil, a.setPaused(ctx, in.Schedule, false)
}

func (a *API) setPaused(ctx context.Context, name string, paused bool) error {
	return a.config.Commands.PauseSchedule(ctx, name, paused, auth.From(ctx).By())
}
