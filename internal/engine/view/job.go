package view

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
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
}

// Ended says that nothing of the job will happen any more, unless somebody
// retries a task.
func (j Job) Ended() bool { return !j.FinishedAt.IsZero() }

const jobColumns = `j.id, j.state, j.kind, j.name, j.priority, j.total, j.done, j.failed, j.canceled, j.skipped, j.progress, j.cause, j.params, j.created_at, j.finished_at`

func jobInto(j *Job) []any {
	return []any{
		&j.ID, &j.State, &j.Kind, &j.Name, &j.Priority, &j.Total, &j.Done, &j.Failed, &j.Canceled, &j.Skipped, &j.Progress, (*maybe)(&j.Cause), (*[]byte)(&j.Params),
		(*moment)(&j.CreatedAt), (*moment)(&j.FinishedAt),
	}
}

// JobStates are those a job can be in.
var JobStates = []string{"running", "canceling", "done", "failed", "canceled"}

// JobFilter narrows a list of jobs. The zero value is everything.
type JobFilter struct {
	State, Kind string
	// Name is how the name begins.
	Name string
}

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
	if f.State != "" && !slices.Contains(JobStates, f.State) {
		return nil, "", fmt.Errorf("%w: state %q: choose one of %s", weir.ErrInvalid, f.State, strings.Join(JobStates, ", "))
	}
	w, err := s.jobWalk(ctx, op, f)
	if err != nil {
		return nil, "", err
	}
	ids, next, err := w.ids(ctx, s, op, page)
	if err != nil {
		return nil, "", err
	}
	jobs, err = s.listedJobs(ctx, op, ids)
	return jobs, next, err
}

// listedJobs reads jobs in the order of their ids here.
func (s *Store) listedJobs(ctx context.Context, op string, ids []weir.ID) ([]Job, error) {
	if len(ids) == 0 {
		return []Job{}, nil
	}
	return list(ctx, s, op, `select `+jobColumns+` from unnest($1::uuid[]) with ordinality u (id, n), lateral (select * from weir.job j where j.id = u.id offset 0) j order by u.n`,
		[]any{ids}, jobInto)
}

// jobWalk chooses the table to walk: jobs by name if few have it, else that of
// the state if few are in it, else all of the kind.
func (s *Store) jobWalk(ctx context.Context, op string, f JobFilter) (*walk, error) {
	w := &walk{from: "weir.jobs", id: "s.id"}
	var named []weir.ID
	ok := false
	if f.Name != "" {
		var err error
		if named, ok, err = s.fewIDs(ctx, op, `select j.id from weir.jobs j where `+begins(`left(j.name, 200)`), beginning(f.Name)...); err != nil {
			return nil, err
		}
	}
	asked := w.hold
	switch {
	case ok:
		w.key("s.id = any (%s)", named)
		w.state(f.State)
	case f.State == "" || f.State == "done" && f.Kind+f.Name != "":
		w.state(f.State)
	default:
		w.from, w.id, asked = "weir.job_finished", "s.job", w.look
		w.also = `, lateral (select * from weir.jobs q where q.id = s.walked offset 0) q`
		switch f.State {
		case "running", "canceling":
			w.from = "weir.job_live"
			w.hold("(s.cancel_at is not null) = %s", f.State == "canceling")
		case "done":
			w.hold("s.outcome = 'done'", nil)
		default:
			w.key("s.outcome = '"+f.State+"'", nil) // one of JobStates; a parameter would not find the index
		}
	}
	if f.Kind != "" && w.id == "s.id" && !ok {
		// A range of one, so that only the index on (kind, id) has the order.
		w.key("s.kind between %[1]s and %[1]s", f.Kind)
		w.order = "s.kind desc, "
	} else if f.Kind != "" {
		asked("s.kind = %s", f.Kind)
	}
	if f.Name != "" {
		asked("s.name ^@ %s", f.Name)
	}
	return w, nil
}

// state holds the jobs walked against the table that has the state.
func (w *walk) state(state string) {
	switch state {
	case "":
	case "running", "canceling":
		w.hold("(select (l.cancel_at is not null) = %s from weir.job_live l where l.job = s.id)", state == "canceling")
	default:
		w.hold("(select f.outcome = %s::text::weir.state from weir.job_finished f where f.job = s.id)", state)
	}
}

// Job reads one job.
func (s *Store) Job(ctx context.Context, id weir.ID) (Job, error) {
	rows, err := list(ctx, s, "read job", `select `+jobColumns+` from weir.job j where j.id = $1`, []any{id}, jobInto)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%w: there is no job %s", weir.ErrNotFound, id)
	}
	if err != nil {
		return Job{}, err
	}
	return rows[0], nil
}
