package remote_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

var errEnough = errors.New("enough")

// Connections that break lose no event and repeat none.
func TestFollowResumes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.as(auth.Admin)
	tail, err := work.ShowTail.Call(t.Context(), c, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	const rounds, each = 8, 25
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	next := make(chan struct{}, rounds)
	next <- struct{}{}
	go func() {
		for i := range rounds {
			select {
			case <-next:
			case <-ctx.Done():
				return
			}
			// One row of the timeline describes a whole batch.
			tasks := make([]weir.Task, each)
			for j := range tasks {
				tasks[j] = weir.Task{Service: fmt.Sprintf("s%d", i)}
			}
			if _, err := r.sdk.SubmitMany(ctx, tasks); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}()
	err = c.Follow(ctx, tail.Cursor, weir.Filter{}, func(e weir.Event) error {
		if e.Type != "submitted" {
			return nil
		}
		got = append(got, e.Task.String())
		switch len(got) {
		case rounds * each:
			return errEnough
		}
		if len(got)%each == each/2 { // in the middle of a batch
			r.server.CloseClientConnections()
		}
		if len(got)%each == 0 {
			next <- struct{}{}
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	tasks, err := r.store.Tasks(t.Context(), view.TaskFilter{}, view.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, task := range tasks {
		want = append(want, task.ID.String())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d events for %d tasks", len(got), len(want))
	}
}

// From the beginning, and for one job or task alone, it returns the same as the database.
func TestFollowFilters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	f := r.live()
	c := r.as(auth.Admin)
	for name, filter := range map[string]weir.Filter{"everything": {}, "job": {Job: f.job}, "task": {Task: f.running}} {
		want, err := r.store.EventsAfter(t.Context(), "0.0", filter.Job, filter.Task, 1000)
		if err != nil || len(want) == 0 {
			t.Fatalf("%s: %d events, %v", name, len(want), err)
		}
		var got []string
		err = c.Follow(t.Context(), "", filter, func(e weir.Event) error {
			got = append(got, fmt.Sprint(e.Seq, e.Type, e.Kind, e.Subject, e.Task, e.Job, e.Attempt, e.Worker, e.Source, e.Level, e.Message, e.At.UnixMicro()))
			if len(got) == len(want) {
				return errEnough
			}
			return nil
		})
		if !errors.Is(err, errEnough) {
			t.Fatal(err)
		}
		for i, e := range want {
			if x := fmt.Sprint(e.Seq, e.Type, e.Kind, e.Subject, e.Task, e.Job, e.Attempt, e.Worker, e.Source, e.Level, e.Message, e.At.UnixMicro()); x != got[i] {
				t.Errorf("%s: event %d is %s, want %s", name, i, got[i], x)
			}
		}
	}
}

func TestFollowRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	err := r.client("").Follow(t.Context(), "", weir.Filter{}, func(weir.Event) error { return nil })
	if problem.Explain(err).Kind != problem.Unauthenticated {
		t.Errorf("nobody: %v", err)
	}
	err = r.as(auth.Admin).Follow(t.Context(), "nonsense", weir.Filter{}, func(weir.Event) error { return nil })
	if problem.Explain(err).Kind != problem.Invalid {
		t.Errorf("a wrong cursor: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	if err := r.client("").Follow(ctx, "", weir.Filter{}, func(weir.Event) error { return nil }); !errors.Is(err, errEnough) {
		t.Errorf("canceled: %v", err)
	}
}
