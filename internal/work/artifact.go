package work

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
)

// ListingArtifacts narrows a list of artifacts.
type ListingArtifacts struct {
	op.Paged
	Kind    string `query:"kind" enum:"input,output,log" doc:"Only artifacts of this kind."`
	Name    string `query:"name" maxLength:"1000" doc:"Only artifacts with this name."`
	Attempt int    `query:"attempt" minimum:"0" maximum:"32767" doc:"Only artifacts of this attempt."`
}

// ArtifactsOfJob names the job whose artifacts are listed.
type ArtifactsOfJob struct {
	Job string `path:"job" maxLength:"200" doc:"The id, whole or its end, or the name."`
	ListingArtifacts
}

// ArtifactsOfTask names the task whose artifacts are listed.
type ArtifactsOfTask struct {
	Task string `path:"task" maxLength:"64" doc:"The id, whole or its end."`
	ListingArtifacts
}

// NamedArtifact names an artifact.
type NamedArtifact struct {
	Artifact int64 `path:"artifact" minimum:"1"`
}

// Operations on artifacts. Their content is a stream, which is no operation.
var (
	JobArtifacts = listArtifacts("/jobs/{job}/artifacts", "List the artifacts of a job, newest first",
		func(ctx context.Context, s *Store, in *ArtifactsOfJob) (f view.ArtifactFilter, of *ListingArtifacts, err error) {
			if f.Job, err = s.findJob(ctx, in.Job); err != nil {
				return f, nil, err
			}
			_, err = s.View.Job(ctx, f.Job)
			return f, &in.ListingArtifacts, err
		})
	TaskArtifacts = listArtifacts("/tasks/{task}/artifacts", "List the artifacts of a task, newest first",
		func(ctx context.Context, s *Store, in *ArtifactsOfTask) (f view.ArtifactFilter, of *ListingArtifacts, err error) {
			if f.Task, err = s.View.TaskID(ctx, in.Task); err != nil {
				return f, nil, view.Blamed("task", err)
			}
			_, err = s.View.Task(ctx, f.Task)
			return f, &in.ListingArtifacts, err
		})
	ShowArtifact = op.New(onArtifact("show", "/artifacts/{artifact}", "Show an artifact"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedArtifact) (view.Artifact, error) {
			return s.View.Artifact(ctx, in.Artifact)
		})
)

// findJob resolves a job: its id or the end of it, or its name if it is unique among the
// jobs that have not ended, or else the newest ended job of that name.
func (s *Store) findJob(ctx context.Context, text string) (weir.ID, error) {
	return view.Find(ctx, s.View, "job", "job", "weir job list", text, func() (called []view.Called, _ error) {
		// A star at the end would mean every name that begins so.
		found, err := s.View.Jobs(ctx, view.JobFilter{Name: strings.TrimRight(text, "*")}, view.Page{Limit: 1000})
		for _, j := range found {
			called = append(called, view.Called{ID: j.ID, Name: j.Name, Ended: !j.FinishedAt.IsZero()})
		}
		return called, err
	})
}

func onArtifact(verb, path, summary string) op.Operation {
	return op.Operation{Noun: "artifact", Verb: verb, Method: http.MethodGet, Path: path, Right: auth.Read, Summary: summary}
}

// listArtifacts describes a list of the artifacts of an object.
func listArtifacts[In any](
	path, summary string, of func(context.Context, *Store, *In) (view.ArtifactFilter, *ListingArtifacts, error),
) *op.Op[*Store, In, op.Page[view.Artifact]] {
	return op.List(onArtifact("list", path, summary),
		func(ctx context.Context, s *Store, _ auth.Subject, in *In) ([]view.Artifact, error) {
			f, l, err := of(ctx, s, in)
			if err != nil {
				return nil, err
			}
			f.Kind, f.Name, f.Attempt = l.Kind, l.Name, l.Attempt
			list, err := s.View.Artifacts(ctx, f, l.Page())
			return list, view.Blamed("after", err)
		},
		func(a view.Artifact) string { return strconv.FormatInt(a.ID, 10) })
}
