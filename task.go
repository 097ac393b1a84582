package weir

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/refusal"
)

// Task is one unit of work for one worker, as it is submitted. Only Service is
// needed.
type Task struct {
	// Service says who does the work: the name a worker handles.
	Service string
	// Params are handed to the handler: anything that becomes JSON. A
	// [json.RawMessage] is taken as it is. Nil: {}. At most 16 MiB.
	Params any

	// Key names the task within its job.
	Key string
	// Needs are the keys of tasks of the same job that come first.
	Needs []string
	// Rule says when a task with needs may go on. Empty: [AllSuccess].
	Rule Rule

	// Priority is between -100 and 100; higher goes first. In a job, 0 takes
	// the job's.
	Priority int
	// Labels are what the worker or its node must have.
	Labels map[string]string
	// RunAt is the earliest time to start.
	RunAt time.Time
	// Hold keeps the task back until somebody releases it, and says who must.
	Hold string
	// Lane names tasks that must mind each other, such as a database.
	Lane string
	// Rank is the task's place in its lane: no task starts before all of lower
	// rank have ended well. See [Rank].
	Rank *int64
	// Exclusive keeps everything else of the lane out while the task runs.
	Exclusive bool
	// Pool names a limit that the task counts against; see [Client.SetPool].
	Pool string

	// MaxAttempts counts all runs. Zero: 3.
	MaxAttempts int
	// Timeout bounds each attempt. Zero: no bound.
	Timeout time.Duration
	// Backoff is the longest wait before the second attempt; it doubles with
	// each further one, up to BackoffCap. Zero: 15 s and 15 min.
	Backoff, BackoffCap time.Duration
	// Orphan says what happens when the worker is lost. Empty: [OrphanRequeue].
	Orphan Orphan

	// IdempotencyKey makes a repeated submission harmless: the same key gives
	// the same task, for as long as the history is kept.
	IdempotencyKey string
	// UniqueKey allows one live task of this service and key: submitting
	// another gives the one that is there.
	UniqueKey string
	// Trace is handed to the handler, for telemetry: a W3C traceparent. Empty:
	// what the client's [Tracer] says of the context, if it has one.
	Trace string
	// Run tells an agent how to run the task: a JSON object. The engine only
	// carries it, and handlers of this package do not need it. At most 1 MiB.
	Run json.RawMessage
}

// Rule says when a task with needs may go on.
type Rule string

// The rules.
const (
	// AllSuccess waits until all needs are done; if one is not, the task is skipped.
	AllSuccess Rule = "all_success"
	// AllDone waits until all needs have ended, however.
	AllDone Rule = "all_done"
	// OneFailed goes on as soon as one need ended otherwise than done; if none
	// does, the task is skipped.
	OneFailed Rule = "one_failed"
	// Finally waits until all needs have ended, however, and also runs when its
	// job is canceled: the work that ends a job. A second cancel stops it.
	Finally Rule = "finally"
)

// Orphan says what happens to a task whose worker was lost.
type Orphan string

// The two policies for orphans.
const (
	// OrphanRequeue runs the task again elsewhere. The third loss ends it as
	// failed.
	OrphanRequeue Orphan = "requeue"
	// OrphanStop ends the task as failed: it is never run again by itself.
	OrphanStop Orphan = "stop"
)

// Rank is a helper for the field of that name.
func Rank(n int64) *int64 { return &n }

// spec is the JSON of a task: the fields of the SQL type weir.task_spec.
type spec struct {
	Service        string            `json:"service,omitempty"`
	Params         json.RawMessage   `json:"params,omitempty"`
	Key            string            `json:"key,omitempty"`
	Needs          []string          `json:"needs,omitempty"`
	Rule           Rule              `json:"rule,omitempty"`
	Priority       int               `json:"priority,omitempty"`
	Labels         map[string]string `json:"labels,omitempty"`
	RunAt          string            `json:"run_at,omitempty"`
	Hold           string            `json:"hold,omitempty"`
	Lane           string            `json:"lane,omitempty"`
	Rank           *int64            `json:"rank,omitempty"`
	Exclusive      bool              `json:"exclusive,omitempty"`
	Pool           string            `json:"pool,omitempty"`
	MaxAttempts    int               `json:"max_attempts,omitempty"`
	Timeout        string            `json:"timeout,omitempty"`
	Backoff        string            `json:"backoff,omitempty"`
	BackoffCap     string            `json:"backoff_cap,omitempty"`
	Orphan         Orphan            `json:"orphan,omitempty"`
	IdempotencyKey string            `json:"idempotency_key,omitempty"`
	UniqueKey      string            `json:"unique_key,omitempty"`
	Trace          string            `json:"trace,omitempty"`
	Run            json.RawMessage   `json:"run,omitempty"`
}

// encodeTasks makes the argument of weir.submit_many and weir.submit_job. Trace
// is for tasks that have none.
func encodeTasks(tasks []Task, trace string) ([]byte, error) {
	specs := make([]spec, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		params, err := encodeParams(t.Params)
		if err != nil {
			bad := refused("submit", "WR422", refusal.New(fmt.Sprintf("tasks[%d].params", i), "%s", err))
			bad.Message = fmt.Sprintf("task %d: params: %v", i+1, err)
			return nil, bad
		}
		specs[i] = spec{
			Service: t.Service, Params: params, Key: t.Key, Needs: t.Needs, Rule: t.Rule, Priority: t.Priority, Labels: t.Labels,
			Hold: t.Hold, Lane: t.Lane, Rank: t.Rank, Exclusive: t.Exclusive, Pool: t.Pool, MaxAttempts: t.MaxAttempts,
			Timeout: interval(t.Timeout), Backoff: interval(t.Backoff), BackoffCap: interval(t.BackoffCap), Orphan: t.Orphan,
			IdempotencyKey: t.IdempotencyKey, UniqueKey: t.UniqueKey, Trace: cmp.Or(t.Trace, trace), Run: t.Run,
		}
		if !t.RunAt.IsZero() {
			specs[i].RunAt = t.RunAt.UTC().Format(time.RFC3339Nano)
		}
	}
	text, err := json.Marshal(specs)
	if err != nil {
		return nil, refused("submit", "WR422", refusal.New("tasks", "%s", err))
	}
	return text, nil
}

func encodeParams(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return v, nil
	}
	return json.Marshal(v)
}

// interval is a duration as PostgreSQL reads it; zero is none.
func interval(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatInt(d.Microseconds(), 10) + " us"
}
