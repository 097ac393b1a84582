package work

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// NamedSchedule names a schedule.
type NamedSchedule struct {
	Schedule string `path:"schedule" flag:"NAME" maxLength:"200"`
}

// ScheduleSpec is the definition of a schedule.
type ScheduleSpec struct {
	Spec     string          `json:"spec" maxLength:"200" doc:"A cron line of five fields, a nickname such as @daily, @every 90s, or once: @at 2030-01-31T08:00:00Z."`
	Zone     string          `json:"zone,omitempty" maxLength:"100" doc:"The time zone of the cron line. Default: UTC."`
	Missed   string          `json:"missed,omitempty" enum:"skip,one,all" doc:"What to do about runs that were missed. Default: one."`
	CatchUp  op.Period       `json:"catch_up,omitzero" doc:"Runs that were missed longer ago are left out, whatever missed says."`
	Jitter   op.Period       `json:"jitter,omitzero" doc:"Puts each run off by a part of it, always the same for the same run."`
	Paused   bool            `json:"paused,omitempty" doc:"Keeps the schedule but submits nothing."`
	Task     *TaskSpec       `json:"task,omitempty" doc:"What is submitted; or workflow."`
	Workflow string          `json:"workflow,omitempty" maxLength:"200" doc:"Which workflow runs, in its newest active version; or task."`
	Options  json.RawMessage `json:"options,omitempty" doc:"Those of the workflow's jobs: params, steps, labels."`
	Overlap  string          `json:"overlap,omitempty" enum:"allow,skip,queue_one,queue_all,cancel_running" doc:"What to do when the last run of the workflow, or of the fleet job, has not ended. Default: allow."`
}

// PuttingSchedule creates a schedule or changes it.
type PuttingSchedule struct {
	NamedSchedule
	op.Matched
	Body ScheduleSpec
}

// DroppingSchedule deletes a schedule.
type DroppingSchedule struct {
	NamedSchedule
	op.Matched
}

// Schedule is a schedule and its version.
type Schedule struct {
	view.Schedule
	made bool
}

// Tag implements [op.Defined].
func (s Schedule) Tag() string {
	return op.Tag(s.Spec, s.Zone, s.Missed, s.Paused, compact(s.Task), s.Workflow, compact(s.Options), s.Overlap, s.CatchUp, s.Jitter)
}

// New implements [op.Defined].
func (s Schedule) New() bool { return s.made }

// compact returns JSON without the spaces that a database adds.
func compact(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text) // nothing; jsonb is always JSON
	}
	return b.String()
}

// Operations on schedules.
var (
	ListSchedules = op.List(on("schedule", http.MethodGet, "list", "/schedules", auth.Read, "List schedules"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *op.Paged) ([]Schedule, error) {
			return each(func(v view.Schedule) Schedule { return Schedule{Schedule: v} })(s.View.Schedules(ctx, in.Page()))
		},
		func(s Schedule) string { return s.Name })
	ShowSchedule = op.New(on("schedule", http.MethodGet, "show", "/schedules/{schedule}", auth.Read, "Show a schedule"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedSchedule) (Schedule, error) {
			found, err := s.View.Schedule(ctx, in.Schedule)
			return Schedule{Schedule: found}, err
		})
	PutSchedule = op.New(on("schedule", http.MethodPut, "set", "/schedules/{schedule}", auth.Manage, "Create or change a schedule"),
		func(ctx context.Context, s *Store, who auth.Subject, in *PuttingSchedule) (out Schedule, err error) {
			if err := s.runs(ctx, who, &in.Body); err != nil {
				return out, err
			}
			return out, s.inTurn(ctx, func() error {
				out, err = s.putSchedule(ctx, who, in)
				return err
			})
		})
	DropSchedule = op.New(on("schedule", http.MethodDelete, "drop", "/schedules/{schedule}", auth.Manage, "Delete a schedule"),
		func(ctx context.Context, s *Store, who auth.Subject, in *DroppingSchedule) (op.Nothing, error) {
			return op.Nothing{}, s.inTurn(ctx, func() error { return s.dropSchedule(ctx, who, in) })
		})
	PauseSchedule = op.New(on("schedule", http.MethodPost, "pause", "/schedules/{schedule}/pause", auth.Manage, "Pause a schedule"),
		func(ctx context.Context, s *Store, who auth.Subject, in *NamedSchedule) (op.Nothing, error) {
			return op.Nothing{}, s.Client.PauseSchedule(ctx, in.Schedule, true, who.By())
		})
	ResumeSchedule = op.New(on("schedule", http.MethodPost, "resume", "/schedules/{schedule}/resume", auth.Manage, "Let a schedule go on"),
		func(ctx context.Context, s *Store, who auth.Subject, in *NamedSchedule) (op.Nothing, error) {
			return op.Nothing{}, s.Client.PauseSchedule(ctx, in.Schedule, false, who.By())
		})
)

// runs refuses what each run of a schedule would refuse, and what the caller may not run.
func (s *Store) runs(ctx context.Context, who auth.Subject, b *ScheduleSpec) error {
	switch {
	case (b.Task == nil) == (b.Workflow == ""):
		return problem.Refuse("task", "give task or workflow", "a schedule submits a task or runs a workflow, one of them")
	case b.Workflow != "" && s.workflow != nil:
		return s.workflow(ctx, who, b.Workflow, b.Options)
	case b.Workflow != "":
		return nil
	}
	if err := MayRun(who, *b.Task); err != nil {
		return err
	}
	switch {
	case len(b.Options) > 0:
		return problem.Refuse("workflow", "leave out options", "they are for a schedule that runs a workflow")
	case b.Task.Service == node.Fleet && s.fleet != nil:
		return s.fleet(b.Task.Params)
	case b.Overlap != "" && b.Task.Service != node.Fleet:
		return problem.Refuse("workflow", "leave out overlap, or give the task a unique_key",
			"it is for a schedule that runs a workflow or a fleet job")
	}
	return nil
}

func (s *Store) putSchedule(ctx context.Context, who auth.Subject, in *PuttingSchedule) (out Schedule, err error) {
	b := &in.Body
	is, exists, err := lookup(s.View.Schedule(ctx, in.Schedule))
	if err != nil {
		return out, err
	}
	tag := ""
	if exists {
		tag = Schedule{Schedule: is}.Tag()
	}
	if err := in.Judge("schedule", tag, exists && b.same(is)); err != nil {
		return out, err
	}
	want := weir.Schedule{
		Name: in.Schedule, Spec: b.Spec, Zone: b.Zone, Missed: weir.Missed(b.Missed), CatchUp: time.Duration(b.CatchUp),
		Jitter: time.Duration(b.Jitter), Paused: b.Paused, Workflow: b.Workflow, Overlap: weir.Overlap(b.Overlap), By: who.By(),
	}
	// A single run of which the time is over would start at once. One that is there already
	// may be set again. A minute is for clocks that differ.
	now := time.Now()
	if first, err := want.First(now); err == nil && first.Before(now.Add(-time.Minute)) && (!exists || is.Spec != b.Spec) {
		return out, problem.Refuse("spec", "give a time to come", "it is past")
	}
	if b.Task != nil {
		want.Task = b.Task.Task()
	}
	if len(b.Options) > 0 {
		want.Options = b.Options
	}
	if in.Exact() {
		want.Seen = is.ChangedAt // another server may change it, too
	}
	// The same call again changes nothing, so it need not be left out.
	if err := in.Late(s.Client.SetSchedule(ctx, want)); err != nil {
		return out, err
	}
	out.made = !exists
	out.Schedule, err = s.View.Schedule(ctx, in.Schedule)
	return out, err
}

func (s *Store) dropSchedule(ctx context.Context, who auth.Subject, in *DroppingSchedule) error {
	if in.IfMatch != "" {
		is, err := s.View.Schedule(ctx, in.Schedule)
		if err != nil {
			return err
		}
		if err := in.JudgeDrop("schedule", Schedule{Schedule: is}.Tag()); err != nil {
			return err
		}
	}
	return s.Client.DropSchedule(ctx, in.Schedule, who.By())
}

// same reports whether writing the definition over the present one changes nothing.
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
	return json.Unmarshal(is.Task, &stored) == nil && reflect.DeepEqual(stored, b.Task.stored())
}

// sameJSON reports whether two texts hold the same value; an empty text equals null.
func sameJSON(x, y json.RawMessage) bool {
	var a, b any
	for text, into := range map[*json.RawMessage]*any{&x: &a, &y: &b} {
		if len(*text) > 0 && json.Unmarshal(*text, into) != nil {
			return false
		}
	}
	return reflect.DeepEqual(a, b)
}

// stored returns the task in the form that the database keeps in a schedule.
func (s *TaskSpec) stored() map[string]any {
	var fields map[string]any
	text, err := json.Marshal(s)
	if err != nil || json.Unmarshal(text, &fields) != nil {
		return nil // it came from JSON, so it encodes as JSON
	}
	for field, value := range reflect.ValueOf(s).Elem().Fields() {
		if d, ok := value.Interface().(op.Period); ok && d != 0 {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields[name] = strconv.FormatInt(time.Duration(d).Microseconds(), 10) + " us"
		}
	}
	if !s.RunAt.IsZero() {
		fields["run_at"] = s.RunAt.UTC().Format(time.RFC3339Nano)
	}
	return fields
}
