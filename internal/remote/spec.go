package remote

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// taskSpec is a task as the API takes it.
type taskSpec struct {
	Service        string            `json:"service"`
	Params         json.RawMessage   `json:"params,omitempty"`
	Key            string            `json:"key,omitempty"`
	Needs          []string          `json:"needs,omitempty"`
	Rule           weir.Rule         `json:"rule,omitempty"`
	Priority       int               `json:"priority,omitempty"`
	Labels         map[string]string `json:"labels,omitempty"`
	RunAt          time.Time         `json:"run_at,omitzero"`
	Hold           string            `json:"hold,omitempty"`
	Lane           string            `json:"lane,omitempty"`
	Rank           *int64            `json:"rank,omitempty"`
	Exclusive      bool              `json:"exclusive,omitempty"`
	Pool           string            `json:"pool,omitempty"`
	MaxAttempts    int               `json:"max_attempts,omitempty"`
	Timeout        period            `json:"timeout,omitzero"`
	Backoff        period            `json:"backoff,omitzero"`
	BackoffCap     period            `json:"backoff_cap,omitzero"`
	Orphan         weir.Orphan       `json:"orphan,omitempty"`
	IdempotencyKey string            `json:"idempotency_key,omitempty"`
	UniqueKey      string            `json:"unique_key,omitempty"`
	Trace          string            `json:"trace,omitempty"`
	Run            json.RawMessage   `json:"run,omitempty"`
}

// period is a duration as the API takes it.
type period time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (p period) MarshalText() ([]byte, error) { return []byte(time.Duration(p).String()), nil }

func specOf(t weir.Task) (taskSpec, error) {
	params, err := encode(t.Params)
	return taskSpec{
		Service: t.Service, Params: params, Key: t.Key, Needs: t.Needs, Rule: t.Rule, Priority: t.Priority, Labels: t.Labels, RunAt: t.RunAt, Hold: t.Hold, Lane: t.Lane,
		Rank: t.Rank, Exclusive: t.Exclusive, Pool: t.Pool, MaxAttempts: t.MaxAttempts, Timeout: period(t.Timeout), Backoff: period(t.Backoff),
		BackoffCap: period(t.BackoffCap), Orphan: t.Orphan, IdempotencyKey: t.IdempotencyKey, UniqueKey: t.UniqueKey, Trace: t.Trace, Run: t.Run,
	}, err
}

func specsOf(tasks []weir.Task) ([]taskSpec, error) {
	specs := make([]taskSpec, len(tasks))
	for i, t := range tasks {
		var err error
		if specs[i], err = specOf(t); err != nil {
			return nil, fmt.Errorf("task %d: %w", i+1, err)
		}
	}
	return specs, nil
}

// encode makes params JSON, as the SDK does.
func encode(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return v, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, problem.Refuse("params", "", "they do not become JSON: %s", err)
	}
	return text, nil
}
