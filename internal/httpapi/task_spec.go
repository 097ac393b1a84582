package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// TaskSpec is a task as it is submitted. The fields are those of the SQL type
// weir.task_spec; the engine checks what they hold.
type TaskSpec struct {
	Service        string            `json:"service" doc:"Who does the work: the name a worker handles."`
	Params         json.RawMessage   `json:"params,omitempty" doc:"Any JSON; handed to the handler."`
	Key            string            `json:"key,omitempty" doc:"Names the task within its job."`
	Needs          []string          `json:"needs,omitempty" doc:"Keys of tasks of the same job that come first."`
	Rule           string            `json:"rule,omitempty" enum:"all_success,all_done,one_failed" doc:"When a task with needs may go on."`
	Priority       int               `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"Higher goes first."`
	Labels         map[string]string `json:"labels,omitempty" doc:"What the worker or its node must have."`
	RunAt          time.Time         `json:"run_at,omitzero" doc:"The earliest time to start."`
	Hold           string            `json:"hold,omitempty" doc:"Keeps the task back until it is released; says by whom."`
	Lane           string            `json:"lane,omitempty" doc:"Names tasks that must mind each other."`
	Rank           *int64            `json:"rank,omitempty" doc:"The place in the lane."`
	Exclusive      bool              `json:"exclusive,omitempty" doc:"Keeps everything else of the lane out."`
	Pool           string            `json:"pool,omitempty" doc:"A limit that the task counts against."`
	MaxAttempts    *int              `json:"max_attempts,omitempty" minimum:"1" maximum:"10000" doc:"How often it may run. Default: 3."`
	Timeout        Period            `json:"timeout,omitzero" doc:"The longest time of an attempt."`
	Backoff        Period            `json:"backoff,omitzero" doc:"The longest wait before the second attempt."`
	BackoffCap     Period            `json:"backoff_cap,omitzero" doc:"The longest wait before any attempt."`
	Orphan         string            `json:"orphan,omitempty" enum:"requeue,stop" doc:"What happens when the worker is lost."`
	IdempotencyKey string            `json:"idempotency_key,omitempty" doc:"The same key gives the same task."`
	UniqueKey      string            `json:"unique_key,omitempty" doc:"At most one live task of the service with this key."`
	Trace          string            `json:"trace,omitempty" doc:"Handed to the handler, for telemetry."`
	Run            json.RawMessage   `json:"run,omitempty" doc:"How an agent runs it: driver, argv, image and so on. Takes the right to manage workflows."`
}

func (s *TaskSpec) task() weir.Task {
	t := weir.Task{
		Service: s.Service, Key: s.Key, Needs: s.Needs, Rule: weir.Rule(s.Rule), Priority: s.Priority, Labels: s.Labels, RunAt: s.RunAt, Hold: s.Hold, Lane: s.Lane, Rank: s.Rank,
		Exclusive: s.Exclusive, Pool: s.Pool, Timeout: time.Duration(s.Timeout), Backoff: time.Duration(s.Backoff), BackoffCap: time.Duration(s.BackoffCap),
		Orphan: weir.Orphan(s.Orphan), IdempotencyKey: s.IdempotencyKey, UniqueKey: s.UniqueKey, Trace: s.Trace, Run: s.Run,
	}
	if len(s.Params) > 0 {
		t.Params = s.Params
	}
	if s.MaxAttempts != nil {
		t.MaxAttempts = *s.MaxAttempts
	}
	return t
}

// mayRun asks for one more right if a task says itself how agents run it: it
// starts programs on machines and is told the secrets that it names. That is
// what a definition does, so it takes what storing one takes.
func mayRun(ctx context.Context, specs ...TaskSpec) error {
	for i := range specs {
		// What a schedule submits to the fleet has its run in the parameters.
		if text := bytes.TrimSpace(specs[i].Run); specs[i].Service == node.Fleet || len(text) > 0 && string(text) != "null" {
			return auth.Allow(auth.From(ctx), auth.Manage, auth.Object{Kind: "workflow"})
		}
	}
	return nil
}

// nth is the key of one task of a batch: its own, or a part of the one that all have.
func nth(ctx context.Context, in op.Keyed, own string, i int) string {
	if own == "" && in.IdempotencyKey != "" {
		own = in.IdempotencyKey + "/" + strconv.Itoa(i)
	}
	key, _ := op.Keyed{}.Key(auth.From(ctx), own) // one key cannot contradict itself
	return key
}

// single leaves out which task it was, where there is only one.
func single(err error) error {
	p := problem.Explain(err)
	if p.Kind != problem.Invalid {
		return err
	}
	told := *p
	told.What, told.Err = strings.TrimPrefix(p.What, "task 1: "), err
	return &told
}
