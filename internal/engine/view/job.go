package view

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/reason"
)

// Job is a row of the view weir.job.
type Job struct {
	ID         weir.ID         `json:"id"`
	State      string          `json:"state"`
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Priority   int             `json:"priority"`
	Total      int             `json:"total"`
	Done       int             `json:"done"`
	Failed     int             `json:"failed"`
	Canceled   int             `json:"canceled"`
	Skipped    int             `json:"skipped"`
	Progress   float64         `json:"progress"`
	Cause      string          `json:"cause,omitempty"`
	Params     json.RawMessage `json:"params,omitempty"`
	CreatedAt  time.Time       `json:"created_at"`
	FinishedAt time.Time       `json:"finished_at,omitzero"`
	// ScheduledAt is the time that the job stands for, Due when a queued one may
	// get its tasks. Note says what else it waits for.
	ScheduledAt time.Time `json:"scheduled_at,omitzero"`
	Due         time.Time `json:"due,omitzero"`
	Note        string    `json:"note,omitempty"`
	// Waits is in lists what a running job waits for of which nothing runs.
	Waits string `json:"waits,omitempty"`
	// Reason is Waits for programs.
	Reason *reason.Coded `json:"reason,omitempty"`
	// Definition is what the job is a run of, and Options what was given to it.
	Definition weir.ID         `json:"definition,omitzero"`
	Schedule   string          `json:"schedule,omitempty"`
	Options    json.RawMessage `json:"options,omitempty"`
	// Parent is the task that waits for the job, Origin the job that it repeats.
	Parent weir.ID `json:"parent,omitzero"`
	Origin weir.ID `json:"origin,omitzero"`
}

// Ended says that nothing of the job will happen any more, unless somebody
// retries a task.
func (j Job) Ended() bool { return !j.FinishedAt.IsZero() }

const jobColumns = `j.id, j.state, j.kind, j.name, j.priority, j.total, j.done, j.failed, j.canceled, j.skipped, j.progress, j.cause, j.params, j.created_at, j.finished_at,
	j.scheduled_at, j.due, j.note, j.definition, j.schedule, j.options, j.parent, j.origin`

func jobInto(j *Job) []any {
	return []any{
		&j.ID, &j.State, &j.Kind, &j.Name, &j.Priority, &j.Total, &j.Done, &j.Failed, &j.Canceled, &j.Skipped, &j.Progress, (*maybe)(&j.Cause), (*[]byte)(&j.Params),
		(*moment)(&j.CreatedAt), (*moment)(&j.FinishedAt), (*moment)(&j.ScheduledAt), (*moment)(&j.Due), (*maybe)(&j.Note), &j.Definition, (*maybe)(&j.Schedule),
		(*[]byte)(&j.Options), &j.Parent, &j.Origin,
	}
}

// JobStates are those a job can be in.
var JobStates = []string{"queued", "running", "canceling", "done", "failed", "canceled"}

// Jobs lists jobs, newest first. It looks until the page is full or there is no
// more, however long that takes.
func (s *Store) Jobs(ctx context.Context, f JobFilter, page Page) ([]Job, error) {
	return full(page, func(p Page) ([]Job, string, error) { return s.JobPage(ctx, f, p) })
}

// JobPage lists jobs as [Store.Jobs] does, in a bounded time. next is where the
// page after begins, empty when this is the last. A page may be short and yet
// not be the last, as that of [Store.TaskPage].
func (s *Store) JobPage(ctx context.Context, f JobFilter, page Page) (jobs []Job, next string, err error) {
	const op = "list jobs"
	ids, next, err := s.jobIDs(ctx, op, f, page)
	if err != nil {
		return nil, "", err
	}
	if jobs, err = s.listedJobs(ctx, op, ids); err == nil {
		err = s.explain(ctx, op, jobs)
	}
	return jobs, next, err
}

// jobIDs is a page of the ids of jobs.
func (s *Store) jobIDs(ctx context.Context, op string, f JobFilter, page Page) (ids []weir.ID, next string, err error) {
	if f.State != "" && !slices.Contains(JobStates, f.State) {
		return nil, "", refuse("state", "%q is none of %s", f.State, strings.Join(JobStates, ", "))
	}
	w, err := s.jobWalk(ctx, op, f)
	if err != nil {
		return nil, "", err
	}
	return w.ids(ctx, s, op, page)
}

// listedJobs reads jobs in the order of their ids here.
func (s *Store) listedJobs(ctx context.Context, op string, ids []weir.ID) ([]Job, error) {
	if len(ids) == 0 {
		return []Job{}, nil
	}
	return list(ctx, s, op, `select `+jobColumns+` from unnest($1::uuid[]) with ordinality u (id, n), lateral (select * from weir.job j where j.id = u.id offset 0) j order by u.n`,
		[]any{ids}, jobInto)
}

// Job reads one job.
func (s *Store) Job(ctx context.Context, id weir.ID) (Job, error) {
	rows, err := list(ctx, s, "read job", `select `+jobColumns+` from weir.job j where j.id = $1`, []any{id}, jobInto)
	if err == nil && len(rows) == 0 {
		err = noSuch("job", id)
	}
	if err != nil {
		return Job{}, err
	}
	return rows[0], nil
}
