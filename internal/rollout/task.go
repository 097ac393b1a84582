package rollout

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/reason"
	"github.com/weirhq/weir/internal/rollout/target"
)

// The statuses of a task, which are those of its newest run, and two of its own.
const (
	NotStarted = "NOT_STARTED"
	Pending    = "PENDING"
	Available  = "AVAILABLE"
	Running    = "RUNNING"
	Done       = "DONE"
	Failed     = "FAILED"
	Canceled   = "CANCELED"
	Unknown    = "UNKNOWN"
	Skipped    = "SKIPPED"
)

// Statuses are all of them, in the order in which they are shown.
var Statuses = []string{NotStarted, Pending, Available, Running, Done, Failed, Canceled, Unknown, Skipped}

// Task is one change for one database.
type Task struct {
	// ID and Key are those of the engine's task.
	ID       weir.ID `json:"id"`
	Rollout  weir.ID `json:"rollout"`
	Key      string  `json:"key"`
	Stage    string  `json:"stage"`
	Database string  `json:"database"`
	// Change is the name of the change, Version its version if it has one.
	Change  string `json:"change"`
	Version string `json:"version,omitempty"`
	Kind    string `json:"kind"`
	Canary  bool   `json:"canary,omitempty"`
	Status  string `json:"status"`
	// Cause says why a task waits, how it failed, why it was skipped, or why nothing
	// had to be run. RUNNING has one while it waits for a lock; AVAILABLE has none.
	Cause string `json:"cause,omitempty"`
	// Reason is what a task waits for, for programs.
	Reason *reason.Coded `json:"reason,omitempty"`
	// Blocker is the task that it waits for, if it is one.
	Blocker weir.ID   `json:"blocker,omitzero"`
	Since   time.Time `json:"since"`
	// Attempt counts runs; zero: none yet.
	Attempt    int        `json:"attempt"`
	Phase      string     `json:"phase,omitempty"`
	Code       string     `json:"code,omitempty"`
	Error      string     `json:"error,omitempty"`
	Worker     string     `json:"worker,omitempty"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
	// Stopping: it runs and was asked to stop.
	Stopping bool `json:"stopping,omitempty"`
}

// RunReport is one run with all that it said.
type RunReport struct {
	Task     Task      `json:"task"`
	Attempt  int       `json:"attempt"`
	Attempts []Attempt `json:"attempts"`
	// Log is what the attempt said: statements, waits and retries, in order.
	Log []LogLine `json:"log"`
	// Sessions are those of the attempt in the database now, with who blocks whom.
	// Empty when it does not run; SessionsFault says why they could not be read.
	Sessions      []target.Session `json:"sessions,omitempty"`
	SessionsFault string           `json:"sessions_fault,omitempty"`
	SQL           string           `json:"sql"`
}

// Attempt is one run of a task in a line.
type Attempt struct {
	Attempt int `json:"attempt"`
	// Status is RUNNING, DONE, FAILED, CANCELED or UNKNOWN.
	Status    string     `json:"status"`
	Phase     string     `json:"phase,omitempty"`
	Code      string     `json:"code,omitempty"`
	Note      string     `json:"note,omitempty"`
	Worker    string     `json:"worker,omitempty"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	// ResolvedBy is who told what became of an unknown run.
	ResolvedBy string `json:"resolved_by,omitempty"`
}

// LogLine is one line of a run's log.
type LogLine struct {
	At time.Time `json:"at"`
	// Type is statement, waiting, retry, or an event of the engine.
	Type    string `json:"type"`
	Level   string `json:"level,omitempty"`
	Message string `json:"message,omitempty"`
	// Statement is set in lines of type statement.
	Statement *StatementDone  `json:"statement,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
}

// TaskFilter narrows the tasks of a rollout. Zero fields match everything.
type TaskFilter struct {
	Status   string `query:"status" enum:"NOT_STARTED,PENDING,AVAILABLE,RUNNING,DONE,FAILED,CANCELED,UNKNOWN,SKIPPED" doc:"Only tasks of this status."`
	Stage    string `query:"stage" maxLength:"200" doc:"Only tasks of this stage."`
	Database string `query:"database" maxLength:"200" doc:"Only tasks of this database."`
	Key      string `query:"key" maxLength:"300" doc:"Only the task STAGE/DATABASE/VERSION."`
}

// TaskPage lists tasks of a rollout, in the order of the plan. After is the id of the
// last one of the page before.
func (s *Store) TaskPage(ctx context.Context, id weir.ID, f TaskFilter, page view.Page) ([]Task, error) {
	after, err := page.AfterID()
	if err != nil {
		return nil, err
	}
	list, err := s.tasks(ctx, taskPage, id, after, f.Key, f.Database, f.Stage, f.Status, page.Most())
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	if len(list) > 0 {
		return list, nil
	}
	there, has, err := s.hasTask(ctx, id, after)
	switch {
	case err != nil:
		return nil, fmt.Errorf("list tasks: %w", err)
	case !there:
		return nil, notFound("rollout", id.String(), "see what there is", "weir rollout list")
	case after != nil && !has:
		return nil, problem.Refuse("after", "use the id of the last row of the page before", "rollout %s has no task %s", id, after)
	}
	return nil, nil
}

// Task reads one.
func (s *Store) Task(ctx context.Context, task weir.ID) (Task, error) {
	list, err := s.tasks(ctx, taskOf, task)
	if err == nil && len(list) == 0 {
		err = notFound("task of a rollout", task.String(), "see what a rollout has", "weir rollout show ID")
	}
	if err != nil {
		return Task{}, fmt.Errorf("read task: %w", err)
	}
	return list[0], nil
}

// byWeight are the statuses in the order in which they matter to whoever looks.
var byWeight = []string{Failed, Unknown, Running, Available, Pending, NotStarted, Canceled, Skipped, Done}

// Board reads at most so many tasks of each stage: those that failed first, then what
// nobody knows, what runs, what waits, and what is over. Stages are in their order.
func (s *Store) Board(ctx context.Context, id weir.ID, most int) ([]Task, error) {
	list, err := s.tasks(ctx, boardOf, id, byWeight, most)
	if err != nil {
		return nil, fmt.Errorf("read board: %w", err)
	}
	return list, nil
}

// TasksByID reads some, of any rollout. Those that are no tasks of one are left out.
func (s *Store) TasksByID(ctx context.Context, ids []weir.ID) ([]Task, error) {
	list, err := s.tasks(ctx, tasksNamed, ids)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	return list, nil
}

// Run reads one run of a task; attempt 0 is the newest. Sessions are asked of the
// database itself if the run goes on.
func (s *Store) Run(ctx context.Context, task weir.ID, attempt int) (RunReport, error) {
	t, err := s.Task(ctx, task)
	if err != nil {
		return RunReport{}, err
	}
	r := RunReport{Task: t, Attempt: attempt}
	if r.Attempts, err = s.attempts(ctx, task); err != nil {
		return r, fmt.Errorf("read runs: %w", err)
	}
	if attempt == 0 && len(r.Attempts) > 0 {
		r.Attempt = r.Attempts[len(r.Attempts)-1].Attempt
	}
	if attempt != 0 && !slices.ContainsFunc(r.Attempts, func(a Attempt) bool { return a.Attempt == attempt }) {
		return r, notFound("attempt", strconv.Itoa(attempt)+" of "+t.Key, "it has "+strconv.Itoa(len(r.Attempts)), "")
	}
	if r.Log, err = s.lines(ctx, task, r.Attempt); err != nil {
		return r, fmt.Errorf("read log: %w", err)
	}
	change, err := s.Change(ctx, t.Rollout, cmp.Or(t.Version, t.Change))
	if err != nil {
		return r, err
	}
	r.SQL = change.SQL
	if t.Status == Running && r.Attempt == t.Attempt {
		r.Sessions, err = s.sessions(ctx, t)
		if err != nil {
			r.SessionsFault = said(err)
		}
	}
	return r, nil
}

// sessions asks the database what a run is doing there.
func (s *Store) sessions(ctx context.Context, t Task) (list []target.Session, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	err = s.with(ctx, t.Database, func(db target.Target) (err error) {
		list, err = db.Activity(ctx, target.ApplicationName(t.ID.String(), t.Attempt))
		return err
	})
	return list, err
}
