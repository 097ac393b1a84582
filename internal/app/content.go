package app

import (
	"context"
	"io"
	"iter"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// Content reads an artifact. The caller closes it.
func (s *Session) Content(ctx context.Context, a view.Artifact) (io.ReadCloser, error) {
	if s.server != nil {
		return s.server.Content(ctx, a)
	}
	bucket, err := s.bucket(ctx)
	if err != nil {
		return nil, err
	}
	body, _, err := bucket.Get(ctx, a.Key, 0, -1)
	if err != nil {
		return nil, err
	}
	return blob.Verify(body, a.SHA256, a.Size), nil
}

// Log gives the lines that an attempt printed, behind a place; with follow it waits for
// more until the attempt has ended. Attempt 0 is the newest. On a database it follows by
// looking: a command is not worth a listener of its own.
func (s *Session) Log(ctx context.Context, id weir.ID, attempt int, after joblog.Place, follow bool) iter.Seq2[joblog.Line, error] {
	if s.server != nil {
		return s.server.Log(ctx, id, attempt, after, follow)
	}
	return func(yield func(joblog.Line, error) bool) {
		bucket, err := s.bucket(ctx)
		if err != nil {
			yield(joblog.Line{}, err)
			return
		}
		task, err := s.view.Task(ctx, id)
		log := task.Log(attempt)
		if err == nil && attempt <= 0 {
			log, err = task.NewestLog(ctx, bucket)
		}
		if err != nil {
			yield(joblog.Line{}, err)
			return
		}
		lines := joblog.Read(ctx, bucket, log, after)
		if follow {
			lines = joblog.Follow(ctx, bucket, log, after, joblog.Live{Ended: s.view.LogEnded(id, log.Attempt)})
		}
		lines(yield)
	}
}

func (s *Session) bucket(ctx context.Context) (blob.Bucket, error) {
	at := s.Target.config.bucketURL(s.Target.private())
	if at == "" {
		return nil, problem.New(problem.Conflict, "say where the server keeps them: --bucket URL, or ask the server: --server URL",
			"it is not known here where artifacts and logs are kept")
	}
	return blob.Open(ctx, at)
}
