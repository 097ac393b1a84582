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
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// ScheduleInput names a schedule.
type ScheduleInput struct {
	Schedule string `path:"schedule" maxLength:"200"`
}

func (a *API) listSchedules(ctx context.Context, in *op.Paged) (*Listed[view.Schedule], error) {
	schedules, err := a.config.Store.Schedules(ctx, in.Page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, schedules, in.Limit, func(s view.Schedule) string { return s.Name }), nil
}

// ScheduleSpec is a schedule as somebody defines it.
type ScheduleSpec struct {
	Spec     string          `json:"spec" maxLength:"200" doc:"A cron line of five fields, a nickname such as @daily, @every 90s, or once: @at 2030-01-31T08:00:00Z."`
	Zone     string          `json:"zone,omitempty" maxLength:"100" doc:"The time zone of the cron line. Default: UTC."`
	Missed   string          `json:"missed,omitempty" enum:"skip,one,all" doc:"What to do about runs that were missed. Default: one."`
	CatchUp  Period          `json:"catch_up,omitzero" doc:"Runs that were missed longer ago are left out, whatever missed says."`
	Jitter   Period          `json:"jitter,omitzero" doc:"Puts each run off by a part of it, always the same for the same run."`
	Paused   bool            `json:"paused,omitempty" doc:"Keeps the schedule but submits nothing."`
	Task     *work.TaskSpec  `json:"task,omitempty" doc:"What is submitted; or workflow."`
	Workflow string          `json:"workflow,omitempty" maxLength:"200" doc:"Which workflow runs, in its newest active version; or task."`
	Options  json.RawMessage `json:"options,omitempty" doc:"Those of the workflow's jobs: params, steps, labels."`
	Overlap  string          `json:"overlap,omitempty" enum:"allow,skip,queue_one,queue_all,cancel_running" doc:"What to do when the last run of the workflow, or of the fleet job, has not ended. Default: allow."`
}

// schedule is what the SDK is told, once it says what to run.
func (b *ScheduleSpec) schedule(name string) (weir.Schedule, error) {
	s := weir.Schedule{
		Name: name, Spec: b.Spec, Zone: b.Zone, Missed: weir.Missed(b.Missed), CatchUp: time.Duration(b.CatchUp), Jitter: time.Duration(b.Jitter), Paused: b.Paused,
		Workflow: b.Workflow, Overlap: weir.Overlap(b.Overlap),
	}
	switch {
	case (b.Task == nil) == (b.Workflow == ""):
		return s, problem.Refuse("task", "give task or workflow", "a schedule submits a task or runs a workflow, one of them")
	case b.Task != nil && len(b.Options) > 0:
		return s, problem.Refuse("workflow", "leave out options", "they are for a schedule that runs a workflow")
	case b.Task != nil && b.Overlap != "" && b.Task.Service != node.Fleet:
		return s, problem.Refuse("workflow", "leave out overlap, or give the task a unique_key", "it is for a schedule that runs a workflow or a fleet job")
	case b.Task != nil:
		s.Task = b.Task.Task()
	}
	if len(b.Options) > 0 {
		s.Options = b.Options
	}
	return s, nil
}

// scheduleTag is the version of a schedule.
func scheduleTag(s view.Schedule) string {
	return op.Tag(s.Spec, s.Zone, s.Missed, s.Paused, compact(s.Task), s.Workflow, compact(s.Options), s.Overlap, s.CatchUp, s.Jitter)
}

// compact is JSON without the spaces that a database puts in.
func compact(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text) // nothing; jsonb is always JSON
	}
	return b.String()
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
	op.Matched
	Body ScheduleSpec
}

func (a *API) putSchedule(ctx context.Context, in *PutScheduleInput) (out *Defined[view.Schedule], err error) {
	b := &in.Body
	if b.Task != nil {
		if err := work.MayRun(auth.From(ctx), *b.Task); err != nil {
			return nil, err
		}
	}
	want, err := b.schedule(in.Schedule)
	if err != nil {
		return nil, err
	}
	if err := a.checkRuns(ctx, b); err != nil {
		return nil, err
	}
	err = a.inTurn(ctx, func() error {
		is, exists, err := lookup(a.config.Store.Schedule(ctx, in.Schedule))
		if err != nil {
			return err
		}
		status, tag := http.StatusCreated, ""
		if exists {
			status, tag = http.StatusOK, scheduleTag(is)
		}
		if err := in.Judge("schedule", tag, exists && b.same(is)); err != nil {
			return err
		}
		want.By = auth.From(ctx).By()
		if in.Exact() {
			want.Seen = is.ChangedAt // another server may be at it, too
		}
		// The same call again changes nothing, so it need not be left out.
		if err := in.Late(a.config.Commands.SetSchedule(ctx, want)); err != nil {
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

// checkFleet refuses a fleet job that each run would refuse, by the name of its field.
func checkFleet(params json.RawMessage) error {
	_, err := fleet.ParseSpec(params)
	if err == nil {
		return nil
	}
	p := *problem.Explain(err)
	p.Field = "task.params." + p.Field
	return &p
}

// checkRuns refuses the schedule of a workflow, or of a fleet job, that would refuse
// each run.
func (a *API) checkRuns(ctx context.Context, b *ScheduleSpec) error {
	if b.Task != nil && b.Task.Service == node.Fleet {
		return checkFleet(b.Task.Params)
	}
	if b.Workflow == "" || a.config.Workflows == nil {
		return nil
	}
	var options definition.Options
	if len(b.Options) > 0 && json.Unmarshal(b.Options, &options) != nil {
		return nil // the engine refuses it
	}
	if err := workflow.MayOf(auth.From(ctx)).Judge(options); err != nil {
		return err
	}
	return a.config.Workflows.Check(ctx, b.Workflow, options)
}

// same says that writing the definition over what is there changes nothing.
func (b *ScheduleSpec) same(is view.Schedule) bool {
	zone, missed := cmp.Or(b.Zone, "UTC"), cmp.Or(b.Missed, string(weir.MissedOne))
	if is.Spec != b.Spec || is.Zone != zone || is.Missed != missed || is.Paused != b.Paused {
		return false
	}
	spans := [2]float64{time.Duration(b.CatchUp).Seconds(), time.Duration(b.Jitter).Seconds()}
	if is.Workflow != b.Workflow || is.Overlap != cmp.Or(b.Overlap, string(weir.OverlapAllow)) || is.Spans != spans {
		return false
	}
	var stored map[string]any
	if b.Task == nil {
		return sameJSON(is.Options, b.Options)
	}
	return json.Unmarshal(is.Task, &stored) == nil && reflect.DeepEqual(stored, storedTask(b.Task))
}

// sameJSON says that two texts hold the same; nothing is as good as null.
func sameJSON(x, y json.RawMessage) bool {
	var a, b any
	for text, into := range map[*json.RawMessage]*any{&x: &a, &y: &b} {
		if len(*text) > 0 && json.Unmarshal(*text, into) != nil {
			return false
		}
	}
	return reflect.DeepEqual(a, b)
}

// storedTask is the task as the database keeps it in a schedule.
func storedTask(s *work.TaskSpec) map[string]any {
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
	op.Matched
}

func (a *API) dropSchedule(ctx context.Context, in *DropScheduleInput) (*Empty, error) {
	return nil, a.inTurn(ctx, func() error {
		if in.IfMatch != "" {
			is, err := a.config.Store.Schedule(ctx, in.Schedule)
			if err != nil {
				return err
			}
			if err := in.JudgeDrop("schedule", scheduleTag(is)); err != nil {
				return err
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
