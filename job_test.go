package weir_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weirhq/weir"
)

// jobTasks are the tasks of a job by key.
func (w *world) jobTasks(t testing.TB, job weir.ID) map[string]weir.TaskInfo {
	t.Helper()
	rows, err := w.Pool.Query(t.Context(), `select id from weir.task where job = $1`, job)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var ids []weir.ID
	for rows.Next() {
		var id weir.ID
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	tasks := map[string]weir.TaskInfo{}
	for _, id := range ids {
		info := w.task(t, id)
		tasks[info.Key] = info
	}
	return tasks
}

func (w *world) waitJob(t testing.TB, job weir.ID) weir.JobInfo {
	t.Helper()
	var info weir.JobInfo
	until(t, "the job ends", func() bool {
		var err error
		if info, err = w.client.Job(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		return !info.FinishedAt.IsZero()
	})
	return info
}

func TestNeedsAndRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "ok", nothing)
	handle(worker, "bad", func(context.Context, *weir.Run[struct{}]) (any, error) {
		return nil, weir.Permanent(errors.New("broken pipe"))
	})
	w.run(t, worker)
	job, err := w.client.SubmitJob(t.Context(), weir.Job{Name: "rules", Tasks: []weir.Task{
		{Key: "good", Service: "ok"},
		{Key: "bad", Service: "bad"},
		{Key: "after good", Service: "ok", Needs: []string{"good"}},
		{Key: "after both", Service: "ok", Needs: []string{"good", "bad"}},
		{Key: "cascade", Service: "ok", Needs: []string{"after both"}},
		{Key: "cleanup", Service: "ok", Needs: []string{"good", "bad"}, Rule: weir.AllDone},
		{Key: "alarm", Service: "ok", Needs: []string{"good", "bad"}, Rule: weir.OneFailed},
		{Key: "no alarm", Service: "ok", Needs: []string{"good"}, Rule: weir.OneFailed},
	}})
	if err != nil {
		t.Fatal(err)
	}
	info := w.waitJob(t, job)
	if info.State != "failed" || info.Done != 4 || info.Failed != 1 || info.Skipped != 3 || !strings.Contains(info.Cause, "broken pipe") {
		t.Errorf("the job: %+v", info)
	}
	tasks := w.jobTasks(t, job)
	for key, want := range map[string]struct {
		state weir.State
		cause string
	}{
		"good": {weir.Done, ""}, "bad": {weir.Failed, "broken pipe"}, "after good": {weir.Done, ""},
		"after both": {weir.Skipped, "need bad is failed"}, "cascade": {weir.Skipped, "need after both is skipped"},
		"cleanup": {weir.Done, ""}, "alarm": {weir.Done, ""}, "no alarm": {weir.Skipped, "no need failed"},
	} {
		if got := tasks[key]; got.State != want.state || !strings.Contains(got.Cause, want.cause) {
			t.Errorf("%s is %s: %q", key, got.State, got.Cause)
		}
	}

	// A person decides that the failure does not matter.
	if err := w.client.Skip(t.Context(), tasks["bad"].ID, weir.Decision{By: "ann", Reason: "known"}); err != nil {
		t.Fatal(err)
	}
	if got := w.wait(t, tasks["cascade"].ID); got.State != weir.Done {
		t.Errorf("after the skip the cascade is %+v", got)
	}
	if info := w.waitJob(t, job); info.State != "done" {
		t.Errorf("after the skip the job is %+v", info)
	}
}

func TestCancelJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	begun := make(chan struct{})
	handle(worker, "long", func(ctx context.Context, _ *weir.Run[struct{}]) (any, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	w.run(t, worker)
	job, err := w.client.SubmitJob(t.Context(), weir.Job{Name: "j", Kind: "demo", Priority: 5, Params: map[string]int{"n": 1}, Tasks: []weir.Task{
		{Key: "one", Service: "long"}, {Key: "two", Service: "long", Needs: []string{"one"}}, {Key: "three", Service: "elsewhere"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	receive(t, "the first task begins", begun)
	ended, asked, err := w.client.CancelJob(t.Context(), job, weir.Decision{By: "ann"})
	if err != nil || ended != 2 || asked != 1 {
		t.Errorf("ended %d, asked %d, %v", ended, asked, err)
	}
	if info := w.waitJob(t, job); info.State != "canceled" || info.Canceled != 3 || info.Kind != "demo" || string(info.Params) != `{"n": 1}` {
		t.Errorf("the job: %+v", info)
	}
	if _, _, err := w.client.CancelJob(t.Context(), job, weir.Decision{}); err != nil {
		t.Errorf("canceled again: %v", err)
	}
}
