package view

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// TestWhere lists and counts what runs by worker and by node.
func TestWhere(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	s := New(db.Pool)
	do(t, db, `select weir.register_node('n1', capacity => '{"a": 5}')`, `select weir.register_node('n2')`,
		`select weir.register_worker('w1', '{a,b}', 'n1')`, `select weir.register_worker('w2', '{a}', 'n1')`, `select weir.register_worker('w3', '{a}', 'n2')`,
		`select weir.submit('a') from generate_series(1, 6)`, `select weir.submit('b')`,
		`select weir.submit_job('[{"service": "job", "key": "one"}, {"service": "job", "key": "two"}]', 'j')`,
		`select count(*) from weir.claim('w1', '{a}', 2)`, `select count(*) from weir.claim('w1', '{b}', 1)`, `select count(*) from weir.claim('w2', '{a}', 1)`,
		`select count(*) from weir.claim('w3', '{a}', 2)`, `select count(*) from weir.claim('w3', '{job}', 1)`)
	job := ask[weir.ID](t, db, `select id from weir.jobs`)
	for name, c := range map[string]struct {
		filter TaskFilter
		want   int
	}{
		"worker":              {TaskFilter{Worker: "w1"}, 3},
		"worker and state":    {TaskFilter{Worker: "w1", State: "running"}, 3},
		"worker and service":  {TaskFilter{Worker: "w1", Service: "a"}, 2},
		"node":                {TaskFilter{Node: "n1"}, 4},
		"worker elsewhere":    {TaskFilter{Worker: "w1", Node: "n2"}, 0},
		"no such worker":      {TaskFilter{Worker: "w9"}, 0},
		"no such node":        {TaskFilter{Node: "n9"}, 0},
		"job and worker":      {TaskFilter{Job: job, Worker: "w3"}, 1},
		"job and node":        {TaskFilter{Job: job, Node: "n2"}, 1},
		"job, another worker": {TaskFilter{Job: job, Worker: "w1"}, 0},
		"job, another node":   {TaskFilter{Job: job, Node: "n1"}, 0},
	} {
		tasks, _, err := s.TaskPage(t.Context(), c.filter, Page{})
		if err != nil || len(tasks) != c.want {
			t.Errorf("%s: %d tasks, want %d: %v", name, len(tasks), c.want, err)
		}
	}
	if _, _, err := s.TaskPage(t.Context(), TaskFilter{Worker: "w1", State: "done"}, Page{}); !errors.Is(err, weir.ErrInvalid) {
		t.Errorf("a task that is done and runs: %v", err)
	}
	slots, err := s.Slots(t.Context(), []string{"n1", "none"})
	if want := "[{n1 a 3} {n1 b 1}]"; err != nil || fmt.Sprint(slots) != want {
		t.Errorf("slots are %v, want %s: %v", slots, want, err)
	}
}

// TestModeAt says when somebody set the mode of a node.
func TestModeAt(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	s := New(db.Pool)
	do(t, db, `select weir.register_node('n')`)
	if n, err := s.Node(t.Context(), "n"); err != nil || !n.ModeAt.IsZero() {
		t.Errorf("nobody set it, and it was set at %v: %v", n.ModeAt, err)
	}
	do(t, db, `select weir.set_node_mode('n', 'paused')`)
	if n, err := s.Node(t.Context(), "n"); err != nil || n.ModeAt.IsZero() {
		t.Errorf("it was set, and nobody knows when: %v", err)
	}
}

// TestTaskEventsBounded lets a task say very much: its moves are all there, and
// of the rest the newest lines.
func TestTaskEventsBounded(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	s := New(db.Pool)
	s.lines = 10
	do(t, db, `select weir.submit('s', max_attempts => 5)`)
	speak := `select count(*) from weir.claim('w', '{s}', 1) c, generate_series(1, 300) i, weir.record(c.task, c.attempt, c.token, 'said', i::text)`
	do(t, db, speak, `select weir.fail(r.task, r.attempt, r.token, 'no', retry_at => now()) from weir.running r`, `select weir.tend()`, speak)
	task := ask[weir.ID](t, db, `select task from weir.running`)
	events, err := s.TaskEvents(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	said, moves := []string{}, []string{}
	for i, e := range events {
		if i > 0 && e.Seq <= events[i-1].Seq {
			t.Errorf("event %d stands after %d", e.Seq, events[i-1].Seq)
		}
		if e.Type == "said" {
			said = append(said, e.Message)
		} else {
			moves = append(moves, e.Type)
		}
	}
	if len(said) != 10 || said[0] != "291" || said[9] != "300" {
		t.Errorf("it said %q, want the last ten lines", said)
	}
	// The first failure lies between what is looked at, its claims do not.
	if n := len(moves); n < 3 || moves[0] != "submitted" || moves[n-1] != "claimed" {
		t.Errorf("its moves are %q", moves)
	}
	if all := ask[int](t, db, `select count(*) from weir.task_events($1)`, task); all < 600 {
		t.Errorf("weir.task_events has %d events, it has all of them", all)
	}
	s.lines = 100
	if events, err = s.TaskEvents(t.Context(), task); err != nil || len(AttemptsOf(events)) != 2 {
		t.Errorf("%d attempts, want 2: %v", len(AttemptsOf(events)), err)
	}
}
