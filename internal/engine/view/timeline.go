package view

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirhq/weir"
)

// TimelineFilter narrows the timeline. The zero value is everything.
type TimelineFilter struct {
	Kind, Type, Level, Subject string
	Job, Task                  weir.ID
	// NotKinds leaves kinds out, such as those that the reader may not see.
	NotKinds []string
}

// Levels are those of events.
var Levels = []string{"debug", "info", "warn", "error"}

// place is where a page of the timeline ended: a row, and a line of it, for a row
// that tells of a batch is many lines.
type place struct {
	xid, seq int64
	line     int
}

func (p place) String() string { return fmt.Sprintf("%d.%d+%d", p.xid, p.seq, p.line) }

func parsePlace(text string) (p place, err error) {
	var rest string
	if n, _ := fmt.Sscanf(text+"\n", "%d.%d+%d\n%s", &p.xid, &p.seq, &p.line, &rest); n != 3 || p.String() != text || p.xid < 0 || p.seq < 0 || p.line < 1 || p.line > math.MaxInt32 {
		return place{}, refuse("before", "%q is not one of ours: give the next of the page before", text)
	}
	return p, nil
}

// Timeline reads the timeline backwards, newest first, from before a place;
// empty: from its end. next is the place of the page after, empty when there is
// none. A filter that no index answers looks at so many events at a time: its
// page may be short, or even empty, and yet not be the last.
func (s *Store) Timeline(ctx context.Context, f TimelineFilter, before string, limit int) (events []Event, next string, err error) {
	var from place
	if before != "" {
		if from, err = parsePlace(before); err != nil {
			return nil, "", err
		}
	}
	if f.Level != "" && !slices.Contains(Levels, f.Level) {
		return nil, "", refuse("level", "%q is none of %s", f.Level, strings.Join(Levels, ", "))
	}
	limit = Page{Limit: limit}.Most()
	if id, err := weir.ParseID(f.Subject); err == nil && f.Kind == "task" {
		f.Task, f.Kind, f.Subject = id, "", ""
	}
	if !f.Task.IsZero() {
		return s.taskTimeline(ctx, f, from, limit)
	}
	w, err := s.eventWalk(ctx, f)
	if err != nil {
		return nil, "", err
	}
	return w.read(ctx, s, from, limit)
}

// taskTimeline is that of one task, as far as [Store.TaskEvents] reads it.
func (s *Store) taskTimeline(ctx context.Context, f TimelineFilter, from place, limit int) ([]Event, string, error) {
	events, err := s.TaskEvents(ctx, f.Task)
	if err != nil {
		return nil, "", err
	}
	slices.Reverse(events)
	events = slices.DeleteFunc(events, func(e Event) bool {
		return from.seq > 0 && e.Seq >= from.seq || f.Type != "" && e.Type != f.Type || f.Level != "" && e.Level != f.Level ||
			f.Kind != "" && e.Kind != f.Kind || slices.Contains(f.NotKinds, e.Kind)
	})
	if len(events) <= limit {
		return events, "", nil
	}
	return events[:limit], place{0, events[limit-1].Seq, 1}.String(), nil
}
