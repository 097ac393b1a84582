package view

import (
	"context"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
)

// Artifact is an object in a bucket that belongs to an attempt of a task.
type Artifact struct {
	ID   int64   `json:"id"`
	Job  weir.ID `json:"job,omitzero"`
	Task weir.ID `json:"task"`
	// TaskKey is the task's key in its job. Empty: it has none, or is gone.
	TaskKey     string    `json:"task_key,omitempty"`
	Attempt     int       `json:"attempt"`
	Kind        string    `json:"kind"`
	Name        string    `json:"name"`
	Bucket      string    `json:"bucket"`
	Key         string    `json:"key"`
	Size        int64     `json:"size"`
	ContentType string    `json:"content_type"`
	SHA256      string    `json:"sha256,omitempty"`
	At          time.Time `json:"at"`
}

// Placed says that its key is one that it can have: see [blob.Owned].
func (a Artifact) Placed() bool {
	job := ""
	if !a.Job.IsZero() {
		job = a.Job.String()
	}
	return blob.Owned(a.Key, a.Kind, job, a.Task.String(), a.Attempt)
}

// ArtifactFilter says which artifacts are wanted: those of a job or of a task, or
// all. Zero fields do not matter.
type ArtifactFilter struct {
	Job, Task weir.ID
	// Attempt is one attempt of the task.
	Attempt int
	// Kind is input, output or log; Name the whole name.
	Kind, Name string
}

const (
	artifactColumns = `a.id, a.job, a.task, t.key, a.attempt::int, a.kind, a.name, a.bucket, a.key, a.size, a.content_type, a.sha256, a.at`
	artifactTables  = ` left join lateral (select t.key from weir.tasks t where t.id = a.task) t on true`
)

func artifactInto(a *Artifact) []any {
	return []any{&a.ID, &a.Job, &a.Task, (*maybe)(&a.TaskKey), &a.Attempt, &a.Kind, &a.Name, &a.Bucket, &a.Key, &a.Size, &a.ContentType, (*maybe)(&a.SHA256), (*moment)(&a.At)}
}

// Artifacts lists artifacts, the newest first. A page goes on after the id of its
// last one.
func (s *Store) Artifacts(ctx context.Context, f ArtifactFilter, page Page) ([]Artifact, error) {
	var q query
	if page.After != "" {
		after, err := strconv.ParseInt(page.After, 10, 64)
		if err != nil {
			return nil, refuse("after", "%.40q is not the id of an artifact", page.After)
		}
		q.where("a.id < %s", after)
	}
	if !f.Job.IsZero() {
		q.where("a.job = %s", f.Job)
	}
	if !f.Task.IsZero() {
		q.where("a.task = %s", f.Task)
	}
	if f.Attempt > 0 {
		q.where("a.attempt = %s", f.Attempt)
	}
	if f.Kind != "" {
		q.where("a.kind = %s", f.Kind)
	}
	if f.Name != "" {
		q.where("a.name = %s", f.Name)
	}
	// The page first, then the keys of its tasks.
	sql := `select ` + artifactColumns + ` from (select * from weir.artifacts a` + q.text() + ` order by a.id desc limit ` + q.arg(page.Most()) + `) a` + artifactTables + ` order by a.id desc`
	return list(ctx, s, "list artifacts", sql, q.args, artifactInto)
}

// Artifact reads one artifact.
func (s *Store) Artifact(ctx context.Context, id int64) (Artifact, error) {
	rows, err := list(ctx, s, "read artifact", `select `+artifactColumns+` from weir.artifacts a`+artifactTables+` where a.id = $1`, []any{id}, artifactInto)
	if err == nil && len(rows) == 0 {
		err = missing("there is no artifact %d, or it went with its job", id)
	}
	if err != nil {
		return Artifact{}, err
	}
	return rows[0], nil
}
