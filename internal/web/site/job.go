package site

import (
	"strings"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/ui"
)

// TallyOf is how the tasks of a job stand.
func TallyOf(j view.Job) ui.Tally {
	return ui.Tally{Total: j.Total, Done: j.Done, Failed: j.Failed, Canceled: j.Canceled, Skipped: j.Skipped}
}

// JobName is what a job is called; without a name of its own, its kind.
func JobName(j view.Job) string {
	if name := strings.TrimSpace(ui.Line(j.Name)); name != "" {
		return name
	}
	return ui.Line(j.Kind) + " " + ui.Short(j.ID.String())
}

// JobEnd is when a job ended, or zero.
func JobEnd(j view.Job) time.Time {
	if j.Ended() {
		return j.FinishedAt
	}
	return time.Time{}
}

func maySubmit(r *Request) bool { return r.Can(auth.Submit, "task") }

// TaskName is what a task is called: its key, or else its service.
func TaskName(t view.Task) string {
	return Named(t.Key, t.Service)
}

// Named is the first of key and service that there is.
func Named(key, service string) string {
	if key = strings.TrimSpace(ui.Line(key)); key != "" {
		return key
	}
	return ui.Line(service)
}
