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
type JobFilter struct{ State, Kind, Name string }

// jobSources finds the ids of jobs in a state in the table that holds it.
var jobSources = map[string]struct{ from, id string }{
	"":      {`weir.jobs q`, "q.id"},
	"live":  {`weir.job_live s join weir.jobs q on q.id = s.job`, "s.job"},
	"ended": {`weir.job_finished s join weir.jobs q on q.id = s.job`, "s.job"},
}

// Jobs lists jobs, newest first.
func (s *Store) Jobs(ctx context.Context, f JobFilter, page Page) ([]Job, error) {
	var q query
	source := ""
	switch {
	case f.State == "":
	case !slices.Contains(JobStates, f.State):
		return nil, fmt.Errorf("%w: state %q: choose one of %s", weir.ErrInvalid, f.State, strings.Join(JobStates, ", "))
	case f.State == "running" || f.State == "canceling":
		source = "live"
		q.where("(s.cancel_at is not null) = %s", f.State == "canceling")
	default:
		source = "ended"
		q.where("s.outcome = %s::text::weir.state", f.State)
	}
	if f.Kind != "" {
		q.where("q.kind = %s", f.Kind)
	}
	if f.Name != "" {
		q.where("q.name = %s", f.Name)
	}
	from := jobSources[source]
	if page.After != "" {
		after, err := weir.ParseID(page.After)
		if err != nil {
			return nil, fmt.Errorf("%w: after: %w", weir.ErrInvalid, err)
		}
		q.where(from.id+" < %s", after)
	}
	sql := fmt.Sprintf(`select %s from (select %s as id from %s%s order by 1 desc limit %s) x,
		lateral (select * from weir.job j where j.id = x.id offset 0) j order by j.id desc`, jobColumns, from.id, from.from, q.text(), q.arg(page.limit()))
	return list(ctx, s, "list jobs", sql, q.args, jobInto)
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
