package timeline

import (
	"slices"
	"time"

	"github.com/weirhq/weir"
)

// row is a row of the timeline as one read returns it. A row of a batch has a line per
// task.
type row struct {
	xid, seq int64
	// lines is the number of lines; tasks are those from the line first on.
	lines, first int
	tasks        []weir.ID

	at            time.Time
	kind, typ     string
	subject       string
	job           weir.ID
	attempt       int
	worker        string
	source, level string
	message       string
	data          []byte
}

// expand adds the lines that lie behind after and that the filter selects.
func (r *row) expand(events []*Event, after place, filter *Filter) []*Event {
	data := slices.Clone(r.data)
	for i, task := range r.tasks {
		e := r.line(r.first+i, task)
		e.Data = data
		if after.before(e.place) && filter.wants(e) {
			events = append(events, e)
		}
	}
	return events
}

func (r *row) line(n int, task weir.ID) *Event {
	e := &Event{
		place: r.place(n), Seq: r.seq, At: r.at, Type: r.typ, Kind: r.kind, Subject: r.subject, Job: r.job, Task: task,
		Attempt: r.attempt, Worker: r.worker, Source: r.source, Level: r.level, Message: r.message,
	}
	if e.Subject == "" && !task.IsZero() {
		e.Subject = task.String()
	}
	e.Cursor = e.place.cursor()
	return e
}

// place returns the place behind the line n.
func (r *row) place(n int) place {
	if n >= r.lines {
		n = wholeRow
	}
	return place{r.xid, r.seq, n}
}

// end returns the place behind the last line that was returned.
func (r *row) end() place { return r.place(r.first + len(r.tasks) - 1) }
