package web

import (
	"strings"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/ui"
)

// jobsView is a list of jobs.
type jobsView struct {
	filter        view.JobFilter
	jobs          []view.Job
	newest, older string
}

// narrow says that a filter is set.
func (v jobsView) narrow() bool { return v.filter != view.JobFilter{} }

func (w *Web) jobs(r *Request) (View, error) {
	state, err := r.OneOf("state", view.JobStates)
	if err != nil {
		return View{}, err
	}
	v := jobsView{filter: view.JobFilter{State: state, Kind: r.Query("kind"), Name: r.Query("name"), Workflow: r.Query("workflow"), Schedule: r.Query("schedule")}}
	var next string
	if v.jobs, next, err = w.config.Store.JobPage(r.Context(), v.filter, r.Page()); err != nil {
		return View{}, err
	}
	v.newest, v.older = pages(r, next)
	return View{
		Head: ui.Head{Title: "Jobs", Actions: submitButton(r)}, Body: jobsPage(v),
		Follow: &timeline.Filter{Kinds: []string{"job", "task"}},
	}, nil
}

// pages are the links to the beginning of a list and to its next page.
func pages(r *Request, next string) (newest, older string) {
	if r.Query("after") != "" {
		newest = ui.With(r.URL, "after", "")
	}
	if next != "" {
		older = ui.With(r.URL, "after", next)
	}
	return newest, older
}

func tallyOf(j view.Job) ui.Tally {
	return ui.Tally{Total: j.Total, Done: j.Done, Failed: j.Failed, Canceled: j.Canceled, Skipped: j.Skipped}
}

// jobName is what a job is called; without a name of its own, its kind.
func jobName(j view.Job) string {
	if name := strings.TrimSpace(plain(j.Name)); name != "" {
		return name
	}
	return plain(j.Kind) + " " + ui.Short(j.ID.String())
}

// jobEnd is when a job ended, or zero.
func jobEnd(j view.Job) time.Time {
	if j.Ended() {
		return j.FinishedAt
	}
	return time.Time{}
}

func maySubmit(r *Request) bool { return r.Can(auth.Submit, "task") }
