package work

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// TaskSpec is a task as it is submitted. The fields are those of the SQL type
// weir.task_spec; the engine checks their values.
type TaskSpec struct {
	Service        string            `json:"service" doc:"Who does the work: the name a worker handles."`
	Params         json.RawMessage   `json:"params,omitempty" doc:"Any JSON; handed to the handler."`
	Key            string            `json:"key,omitempty" doc:"Names the task within its job."`
	Needs          []string          `json:"needs,omitempty" doc:"Keys of tasks of the same job that come first."`
	Rule           string            `json:"rule,omitempty" enum:"all_success,all_done,one_failed,finally" doc:"When a task with needs may go on."`
	Priority       int               `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"From -100 to 100; higher goes first."`
	Labels         map[string]string `json:"labels,omitempty" doc:"What the worker or its node must have."`
	RunAt          time.Time         `json:"run_at,omitzero" doc:"The earliest time to start."`
	Hold           string            `json:"hold,omitempty" doc:"Keeps the task back until it is released; says by whom."`
	Lane           string            `json:"lane,omitempty" doc:"Names tasks that must mind each other."`
	Rank           *int64            `json:"rank,omitempty" doc:"The place in the lane."`
	Exclusive      bool              `json:"exclusive,omitempty" doc:"Keeps everything else of the lane out."`
	Pool           string            `json:"pool,omitempty" doc:"A limit that the task counts against."`
	MaxAttempts    *int              `json:"max_attempts,omitempty" minimum:"1" maximum:"10000" doc:"How often it may run, 1 to 10000; default: 3."`
	Timeout        op.Period         `json:"timeout,omitzero" doc:"The longest time of an attempt, such as 30s."`
	Backoff        op.Period         `json:"backoff,omitzero" doc:"The longest wait before the second attempt."`
	BackoffCap     op.Period         `json:"backoff_cap,omitzero" doc:"The longest wait before any attempt."`
	Orphan         string            `json:"orphan,omitempty" enum:"requeue,stop" doc:"What happens when the worker is lost."`
	IdempotencyKey string            `json:"idempotency_key,omitempty" doc:"The same key gives the same task."`
	UniqueKey      string            `json:"unique_key,omitempty" doc:"At most one live task of the service with this key."`
	Trace          string            `json:"trace,omitempty" doc:"Handed to the handler, for telemetry."`
	Run            json.RawMessage   `json:"run,omitempty" doc:"How an agent runs it: driver, argv, image and so on. Takes the right to manage workflows."`
}

// Task returns the task in the form of the SDK.
func (s *TaskSpec) Task() weir.Task {
	t := weir.Task{
		Service: s.Service, Key: s.Key, Needs: s.Needs, Rule: weir.Rule(s.Rule), Priority: s.Priority, Labels: s.Labels, RunAt: s.RunAt,
		Hold: s.Hold, Lane: s.Lane, Rank: s.Rank, Exclusive: s.Exclusive, Pool: s.Pool, Timeout: time.Duration(s.Timeout),
		Backoff: time.Duration(s.Backoff), BackoffCap: time.Duration(s.BackoffCap), Orphan: weir.Orphan(s.Orphan),
		IdempotencyKey: s.IdempotencyKey, UniqueKey: s.UniqueKey, Trace: s.Trace, Run: s.Run, MaxAttempts: op.Given(s.MaxAttempts),
	}
	if len(s.Params) > 0 {
		t.Params = s.Params
	}
	return t
}

// MayRun requires one more right for a task that has its own run, because such a task
// starts programs on machines and gets the secrets that it names. A definition does the
// same, so it takes the right to store one.
func MayRun(who auth.Subject, specs ...TaskSpec) error {
	for i := range specs {
		// A schedule that submits to the fleet has its run in the parameters.
		if text := bytes.TrimSpace(specs[i].Run); specs[i].Service == node.Fleet || len(text) > 0 && string(text) != "null" {
			return auth.Allow(who, auth.Manage, auth.Object{Kind: "workflow"})
		}
	}
	return nil
}

// Submitting is one task.
type Submitting struct {
	op.Keyed
	Body TaskSpec
}

// SubmittingMany is a batch: all of it is accepted, or nothing.
type SubmittingMany struct {
	op.Keyed
	Body struct {
		Tasks []TaskSpec `json:"tasks" minItems:"1" maxItems:"5000"`
	}
}

// Submitted names the task that a submission led to.
type Submitted struct {
	ID      weir.ID `json:"id"`
	Existed bool    `json:"existed" doc:"A task with the same key was there already; nothing was written."`
}

// Place implements [op.Made].
func (m Submitted) Place() []string { return []string{"tasks", m.ID.String()} }

// Found implements [op.Made].
func (m Submitted) Found() bool { return m.Existed }

// JobSpec is a job as it is submitted.
type JobSpec struct {
	Name           string          `json:"name" doc:"For people."`
	Kind           string          `json:"kind,omitempty" doc:"Groups jobs of one sort. Default: job."`
	Priority       int             `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"That of its tasks that have none."`
	Params         json.RawMessage `json:"params,omitempty" doc:"Kept with the job."`
	IdempotencyKey string          `json:"idempotency_key,omitempty" doc:"The same key gives the same job."`
	Trace          string          `json:"trace,omitempty" doc:"That of its tasks that have none."`
	Tasks          []TaskSpec      `json:"tasks" minItems:"1" maxItems:"10000"`
}

// SubmittingJob is one job: all of it is accepted, or nothing.
type SubmittingJob struct {
	op.Keyed
	Body JobSpec
}

// JobMade names the job.
type JobMade struct {
	ID weir.ID `json:"id"`
	// Existed is true if a job with this idempotency key existed already.
	Existed bool `json:"existed,omitempty" doc:"A job with this idempotency key was there already: nothing new was made."`
}

// Place implements [op.Made].
func (m JobMade) Place() []string { return []string{"jobs", m.ID.String()} }

// Found implements [op.Made].
func (m JobMade) Found() bool { return m.Existed }

// Operations that submit.
var (
	SubmitTask = op.New(large(on("task", http.MethodPost, "submit", "/tasks", auth.Submit, "Submit a task")),
		func(ctx context.Context, s *Store, who auth.Subject, in *Submitting) (out Submitted, err error) {
			if err := MayRun(who, in.Body); err != nil {
				return out, err
			}
			task := in.Body.Task()
			if task.IdempotencyKey, err = in.Key(who, task.IdempotencyKey); err != nil {
				return out, err
			}
			receipt, err := s.Client.Submit(ctx, task)
			return Submitted(receipt), problem.Below(err, "tasks[0]")
		})
	SubmitTasks = op.New(large(on("task", http.MethodPost, "batch", "/tasks/batch", auth.Submit, "Submit up to 5,000 tasks, all or none")),
		func(ctx context.Context, s *Store, who auth.Subject, in *SubmittingMany) (op.Page[Submitted], error) {
			if err := MayRun(who, in.Body.Tasks...); err != nil {
				return op.Page[Submitted]{}, err
			}
			tasks := make([]weir.Task, len(in.Body.Tasks))
			for i := range tasks {
				tasks[i] = in.Body.Tasks[i].Task()
				tasks[i].IdempotencyKey = nth(who, in.Keyed, tasks[i].IdempotencyKey, i)
			}
			receipts, err := s.Client.SubmitMany(ctx, tasks)
			out := make([]Submitted, len(receipts))
			for i, r := range receipts {
				out[i] = Submitted(r)
			}
			return op.PageOf(out, ""), err
		})
	SubmitJob = op.New(large(on("job", http.MethodPost, "submit", "/jobs", auth.Submit, "Submit a job, whole or not at all")),
		func(ctx context.Context, s *Store, who auth.Subject, in *SubmittingJob) (out JobMade, err error) {
			b := &in.Body
			if err := MayRun(who, b.Tasks...); err != nil {
				return out, err
			}
			job := weir.Job{Name: b.Name, Kind: b.Kind, Priority: b.Priority, Trace: b.Trace, Tasks: make([]weir.Task, len(b.Tasks))}
			if len(b.Params) > 0 {
				job.Params = b.Params
			}
			for i := range b.Tasks {
				job.Tasks[i] = b.Tasks[i].Task()
			}
			if job.IdempotencyKey, err = in.Key(who, b.IdempotencyKey); err != nil {
				return out, err
			}
			out.ID, out.Existed, err = s.View.Existed(ctx, job.IdempotencyKey, func() (weir.ID, error) { return s.Client.SubmitJob(ctx, job) })
			return out, err
		})
)

func large(o op.Operation) op.Operation { o.Large = true; return o }

// nth returns the key of one task of a batch: its own, or a part of the common one.
func nth(who auth.Subject, in op.Keyed, own string, i int) string {
	if own == "" && in.IdempotencyKey != "" {
		own = in.IdempotencyKey + "/" + strconv.Itoa(i)
	}
	key, _ := op.Keyed{}.Key(who, own) // one key cannot contradict itself
	return key
}
