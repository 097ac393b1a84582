package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/workflow/definition"
)

// patience is how long a task waits for a worker: the JSON that
// weir._set_wait_limits takes.
type patience struct {
	Key    string            `json:"key"`
	Relax  string            `json:"relax,omitempty"`
	Labels map[string]string `json:"labels"`
	Fail   string            `json:"fail,omitempty"`
}

// patienceOf returns null if all tasks wait forever.
func patienceOf(tasks []definition.Task) json.RawMessage {
	var list []patience
	for i := range tasks {
		if p := tasks[i].Patience; p != nil {
			list = append(list, patience{Key: tasks[i].Key, Relax: interval(p.Relax), Labels: p.Labels, Fail: interval(p.Fail)})
		}
	}
	if list == nil {
		return nil
	}
	text, _ := json.Marshal(list) // strings
	return text
}

// interval returns a duration in the form of PostgreSQL; zero means none.
func interval(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return strconv.FormatInt(d.Microseconds(), 10) + " us"
}

// bear relaxes and ends tasks that no worker takes.
func (l *leader) bear(ctx context.Context, _ time.Time) (more bool, err error) {
	if _, err := l.write(ctx, patienceSQL); err != nil {
		return false, fmt.Errorf("look at tasks that nobody takes: %w", err)
	}
	return false, nil
}

// settle ends or releases held tasks that were not decided in time.
func (l *leader) settle(ctx context.Context, _ time.Time) (more bool, err error) {
	if _, err := l.write(ctx, asksSQL); err != nil {
		return false, fmt.Errorf("look at tasks that ask for a decision: %w", err)
	}
	return false, nil
}

// tidy drops the pools of maps that ended without their planner, such as canceled ones.
func (l *leader) tidy(ctx context.Context, _ time.Time) (more bool, err error) {
	names, err := l.emptyPools(ctx)
	if err != nil {
		return false, fmt.Errorf("look for pools of maps: %w", err)
	}
	for _, name := range names {
		if err := l.did(ctx, dropPoolSQL, name); err != nil {
			return false, fmt.Errorf("drop pool %s: %w", name, err)
		}
	}
	return false, nil
}
