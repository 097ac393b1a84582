package workcmd

import (
	"context"
	"errors"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/timeline"
)

var archiveListing = command.Listing[timeline.Archived]{
	Name:  func(a timeline.Archived) string { return a.Partition },
	Empty: []string{"Nothing was archived yet.", "What is older than the retention is written there before it is dropped."},
	Columns: []command.Column[timeline.Archived]{
		{Title: "PARTITION", Value: func(_ *command.Output, a timeline.Archived) string { return a.Partition }},
		{Title: "SIZE", Value: func(_ *command.Output, a timeline.Archived) string { return command.BytesText(a.Size) }},
		{Title: "WRITTEN", Ages: true, Value: func(o *command.Output, a timeline.Archived) string { return o.Ago(a.At) }},
	},
}

// readArchive prints what was written away before it was dropped: the list of
// partitions, or the events of one.
func readArchive(ctx context.Context, o *command.Output, s *app.Session, partition string, filter weir.Filter) (err error) {
	bucket, err := s.Archive(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blob.Close(bucket)) }()
	if partition == "list" {
		found, err := timeline.ListArchive(ctx, bucket)
		if err != nil {
			return err
		}
		return archiveListing.Print(o, found)
	}
	for event, err := range timeline.Events(timeline.ReadExport(ctx, bucket, partition)) {
		if err != nil {
			return err
		}
		if !filter.Job.IsZero() && event.Job != filter.Job || !filter.Task.IsZero() && event.Task != filter.Task {
			continue
		}
		if err := printEvent(o, view.Event{
			Cursor: string(event.Cursor), Seq: event.Seq, At: event.At, Type: event.Type, Kind: event.Kind, Subject: event.Subject, Job: event.Job, Task: event.Task,
			Attempt: event.Attempt, Worker: event.Worker, Source: event.Source, Level: event.Level, Message: event.Message, Data: event.Data,
		}); err != nil {
			return err
		}
	}
	return nil
}
