package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// waitFirst and waitLast bound the time between two looks for tasks that
	// somebody waits for.
	waitFirst, waitLast = 5 * time.Millisecond, 500 * time.Millisecond
)

// Outcome is how a task ended.
type Outcome struct {
	ID      ID
	State   State
	Attempt int
	// Result is what the handler returned, as JSON; nil if it was nothing.
	Result json.RawMessage
	// Cause says why the task is not done.
	Cause string
}

// Err is nil for a task that is done, else an error with its state and cause.
func (o Outcome) Err() error {
	if o.State == Done {
		return nil
	}
	return fmt.Errorf("weir: task %s is %s: %s", o.ID, o.State, o.Cause)
}

// Decode reads the result into v.
func (o Outcome) Decode(v any) error {
	if err := o.Err(); err != nil {
		return err
	}
	return json.Unmarshal(o.Result, v)
}

// Wait waits until a task has ended. All who wait share one statement per look,
// and a task that ends in this process is seen at once.
func (c *Client) Wait(ctx context.Context, task ID) (Outcome, error) {
	answer := make(chan answer, 1)
	if !c.waiters.add(task, answer) {
		return Outcome{}, fmt.Errorf("weir: wait: the client is closed")
	}
	defer c.waiters.remove(task, answer)
	select {
	case a := <-answer:
		return a.outcome, a.err
	case <-ctx.Done():
		return Outcome{}, fmt.Errorf("weir: wait for task %s: %w", task, context.Cause(ctx))
	case <-c.life.Done():
		return Outcome{}, fmt.Errorf("weir: wait: the client is closed")
	}
}

type answer struct {
	outcome Outcome
	err     error
}

// waiters looks for the end of tasks on behalf of all calls of Wait.
type waiters struct {
	client *Client
	kick   chan struct{}
	count  atomic.Int64

	mu     sync.Mutex
	active bool
	asked  map[ID][]chan answer
}

func (w *waiters) add(task ID, c chan answer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == nil {
		w.asked = map[ID][]chan answer{}
	}
	w.asked[task] = append(w.asked[task], c)
	w.count.Add(1)
	w.nudge()
	if !w.active {
		w.active = w.client.background(w.run)
	}
	return w.active
}

func (w *waiters) remove(task ID, c chan answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count.Add(-1)
	list := w.asked[task]
	for i := range list {
		if list[i] == c {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(w.asked, task)
	} else {
		w.asked[task] = list
	}
}

// nudge says that tasks may have ended. It is called for every batch that a
// worker of this client finishes, so it must cost nothing when nobody waits.
func (w *waiters) nudge() {
	if w.count.Load() == 0 {
		return
	}
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// run looks until nobody waits any more.
func (w *waiters) run(ctx context.Context) {
	for quiet := waitFirst; ; quiet = min(2*quiet, waitLast) {
		ids := w.wanted()
		if len(ids) == 0 {
			return
		}
		if err := w.look(ctx, ids); err != nil && ctx.Err() == nil {
			w.client.log.Warn("looking for the end of tasks failed; it goes on", "error", wrap("wait", err))
		}
		timer := time.NewTimer(quiet)
		select {
		case <-timer.C:
		case <-w.kick:
			quiet = waitFirst
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

func (w *waiters) wanted() []ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := make([]ID, 0, len(w.asked))
	for id := range w.asked {
		ids = append(ids, id)
	}
	w.active = len(ids) > 0
	return ids
}

func (w *waiters) look(ctx context.Context, ids []ID) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	rows, err := w.client.pool.Query(ctx, `select u.id, t.state, t.attempt, t.result, t.cause from unnest($1::uuid[]) u (id)
		left join lateral (select t.state::text, t.attempt, t.result, t.cause from weir.task t where t.id = u.id offset 0) t on true`, ids)
	type row struct {
		Outcome
		attempt *int
	}
	list, err := collect("wait", rows, err, func(r *row) []any {
		return []any{&r.ID, (*maybe)(&r.State), &r.attempt, (*[]byte)(&r.Result), (*maybe)(&r.Cause)}
	})
	if err != nil {
		return err
	}
	for _, r := range list {
		switch {
		case r.State == "":
			_, err := only("task", r.ID, []TaskInfo(nil), nil)
			w.tell(r.ID, answer{err: err})
		case r.State.Ended():
			r.Attempt = *r.attempt
			w.tell(r.ID, answer{outcome: r.Outcome})
		}
	}
	return nil
}

func (w *waiters) tell(id ID, a answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.asked[id] {
		c <- a // has room for its one answer
	}
	delete(w.asked, id)
}
