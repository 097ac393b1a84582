package workpages

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"

	"github.com/a-h/templ"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// heldShown is how many held steps the head of a job lists.
const heldShown = 5

// jobFlow is what a job that is a run of a workflow has besides.
type jobFlow struct {
	edition
	// by is who asked for it, from the step that its rerun began with.
	by, from string
	// why is of a queued job what it waits for.
	why []work.Reason
	// held are steps that wait for a person or an event; asks is what each asks for.
	held []view.Task
	asks map[weir.ID]work.Reason
	// children are the jobs that its steps wait or waited for, newest first; child
	// has the newest of each step.
	children []view.Job
	child    map[weir.ID]view.Job

	// started is the trigger that started it, if one did; starts is what its end fired.
	started *workflow.StartedBy
	starts  []workflow.Firing

	mayRerun, mayRetry, mayRelease bool
}

// jobFlow reads what a job is a run of, and what it waits for.
func (w *pages) jobFlow(r *site.Request, j view.Job) (f jobFlow, err error) {
	if f.edition, err = w.flowOf(r.Context(), j); err != nil {
		return f, err
	}
	var asked struct {
		By    string `json:"by"`
		Rerun struct {
			From string `json:"from"`
		} `json:"rerun"`
	}
	// Options may be anything that somebody wrote by SQL.
	if json.Unmarshal(j.Options, &asked) == nil {
		f.by, f.from = asked.By, asked.Rerun.From
	}
	f.started = workflow.StartedByOf(j.Options)
	if w.Workflows != nil && j.Ended() && r.Can(auth.Read, "trigger") {
		if f.starts, err = w.Workflows.FiringsOf(r.Context(), j.ID); err != nil {
			return f, err
		}
	}
	f.mayRerun = f.known() && j.Ended() && r.Can(auth.Submit, "job")
	// A device is not tried again by hand: the fleet job is submitted again.
	f.mayRetry = j.Ended() && j.Failed+j.Canceled > 0 && j.Kind != "fleet" && r.Can(auth.Command, "job")
	f.mayRelease = r.Can(auth.Command, "task")
	if err = w.childJobs(r, j, &f); err != nil {
		return f, err
	}
	if j.Kind == "fleet" {
		return f, nil // why it is not further is on its own page, by device
	}
	if j.State == "queued" {
		f.why, err = w.whyJob(r, j)
		return f, err
	}
	if !j.Ended() {
		if f.why, err = w.stops(r, j); err != nil {
			return f, err
		}
		if f.held, _, err = w.Store.TaskPage(r.Context(), view.TaskFilter{Job: j.ID, Gate: "hold"}, view.Page{Limit: heldShown}); err == nil {
			err = w.heldAsks(r, &f)
		}
	}
	return f, err
}

// heldAsks reads what the held steps ask for: of whom, until when, and what happens then.
func (w *pages) heldAsks(r *site.Request, f *jobFlow) error {
	f.asks = map[weir.ID]work.Reason{}
	for _, t := range f.held {
		why, err := work.WhyTask.Call(r.Context(), w.Operations, &work.NamedTask{Task: t.ID.String()})
		if err != nil {
			return err
		}
		for _, x := range why.Items {
			if x.Gate == "hold" && (x.Code == "approval" || x.Code == "event_due") {
				f.asks[t.ID] = x
			}
		}
	}
	return nil
}

// startsNot says why the end of a job started nothing, in the language of the page.
func startsNot(ctx context.Context, f workflow.Firing) string {
	return f.Why.In(locale.From(ctx).Code, f.Reason)
}

// heldFor says what a held step waits for, in the language of the page.
func (f jobFlow) heldFor(ctx context.Context, t view.Task) string {
	if x, ok := f.asks[t.ID]; ok {
		return x.In(locale.From(ctx).Code)
	}
	return heldSaid(ctx, t)
}

// stops is what tasks of a running job wait for, but for one another and for
// people: who is asked stands in a box of its own.
func (w *pages) stops(r *site.Request, j view.Job) ([]work.Reason, error) {
	reasons, err := w.whyJob(r, j)
	return slices.DeleteFunc(reasons, func(x work.Reason) bool { return x.Open || x.Gate == "needs" || x.Gate == "hold" }), err
}

func (w *pages) whyJob(r *site.Request, j view.Job) ([]work.Reason, error) {
	found, err := work.WhyJob.Call(r.Context(), w.Operations, &work.NamedJob{Job: j.ID.String()})
	return found.Items, err
}

// childrenMost is how many jobs of its steps the page of a job knows.
const childrenMost = 100

// childJobs reads the jobs that the steps of a job stand for.
func (w *pages) childJobs(r *site.Request, j view.Job, f *jobFlow) (err error) {
	if f.steps == nil || !slices.ContainsFunc(f.steps.Steps, func(s definition.Step) bool { return s.Workflow != "" }) {
		return nil
	}
	if f.children, _, err = w.Store.JobPage(r.Context(), view.JobFilter{Of: j.ID}, view.Page{Limit: childrenMost}); err != nil {
		return err
	}
	f.child = map[weir.ID]view.Job{}
	for _, c := range slices.Backward(f.children) {
		f.child[c.Parent] = c
	}
	return nil
}

// follow is what may change the page of a job: what happens to it, and to the jobs
// of its steps.
func (v jobView) follow() *timeline.Filter {
	if len(v.child) == 0 {
		return &timeline.Filter{Job: v.ID}
	}
	known := map[weir.ID]bool{v.ID: true}
	for _, c := range v.children {
		known[c.ID] = true
	}
	return &timeline.Filter{Match: func(e *timeline.Event) bool { return known[e.Job] }}
}

// repeats says that the job does another again.
func (v jobView) repeats(ctx context.Context) string {
	if v.from != "" {
		return ui.Say(ctx, "job.repeatsfrom", ui.Line(v.from))
	}
	return ui.Say(ctx, "job.repeats")
}

func (w *pages) jobArtifacts(r *site.Request, v jobView) (templ.Component, error) {
	list, err := w.artifactList(r, view.ArtifactFilter{Job: v.ID})
	if err != nil {
		return nil, err
	}
	return artifactsTab(list), nil
}

func (w *pages) askRerun(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	j, f, err := w.flowJob(r)
	if err != nil {
		return ui.Question{}, err
	}
	what := ui.Field{Name: "what", Label: ui.Say(ctx, "word.what"), Type: "select", Focus: true, Options: []ui.Option{{Value: "all", Label: ui.Say(ctx, "word.allofit")}, {Value: "from", Label: ui.Say(ctx, "word.fromastepon")}}}
	if j.State != "done" {
		what.Options = append(what.Options, ui.Option{Value: "failed", Label: ui.Say(ctx, "word.whatdidnotendwell")})
		what.Value = "failed"
	}
	step := ui.Field{Name: "from", Label: ui.Say(ctx, "word.step"), Type: "select", Optional: true, Hint: ui.Say(ctx, "rerun.hint"), Options: []ui.Option{{Value: "", Label: "–"}}, Value: stem(r.Query("from"))}
	if f.steps != nil {
		for _, s := range f.steps.Steps[:min(len(f.steps.Steps), site.StepsShown)] {
			step.Options = append(step.Options, ui.Option{Value: s.Key, Label: ui.Line(s.Key)})
		}
	}
	if step.Value != "" {
		what.Value = "from"
	}
	on := ui.Field{Name: "on", Label: ui.Say(ctx, "word.version"), Type: "select", Optional: true, Options: []ui.Option{{Value: "", Label: ui.Say(ctx, "rerun.same", f.version)}, {Value: "newest", Label: ui.Say(ctx, "rerun.newest")}}}
	params := ui.Field{Name: "params", Label: ui.Say(ctx, "word.params"), Type: "area", Rows: 4, Optional: true, Hint: ui.Say(ctx, "rerun.params"), Example: `{"width": 1280}`}
	return ui.Question{
		Title: ui.Say(ctx, "rerun.title", ui.Cut(site.JobName(j), 80)), Button: ui.Say(ctx, "rerun.button"), Back: site.JobPath(j.ID), Fields: []ui.Field{what, step, on, params},
		Text: ui.Say(ctx, "rerun.text"),
	}, nil
}

var item = regexp.MustCompile(`\[[0-9]+\]$`)

// stem is the step that a task belongs to: of an item of a map, the map.
func stem(key string) string { return item.ReplaceAllString(key, "") }

// flowJob is the job of the path, which must be a run of a workflow.
func (w *pages) flowJob(r *site.Request) (view.Job, edition, error) {
	id, err := r.ID("id")
	if err != nil {
		return view.Job{}, edition{}, err
	}
	if _, err := w.Flows(); err != nil {
		return view.Job{}, edition{}, err
	}
	j, err := w.Store.Job(r.Context(), id)
	if err != nil {
		return view.Job{}, edition{}, err
	}
	f, err := w.flowOf(r.Context(), j)
	if err == nil && !f.known() {
		err = problem.New(problem.Conflict, "retry it, or submit its tasks again", "the job is not a run of a workflow")
	}
	return j, f, err
}

func (w *pages) rerunJob(r *site.Request) (site.Done, error) {
	ctx := r.Context()
	in := &workflow.Rerunning{Job: r.PathValue("id"), Body: new(workflow.RerunBody)}
	switch what := r.Field("what"); what {
	case "", "all":
	case "failed":
		in.Body.Failed = true
	case "from":
		if in.Body.From = r.Field("from"); in.Body.From == "" {
			return site.Done{}, problem.Refuse("from", "", "choose a step")
		}
	default:
		return site.Done{}, problem.Refuse("what", "choose one of the list", "%q is none", what)
	}
	switch on := r.Field("on"); on {
	case "", "newest":
		in.Body.Newest = on != ""
	default:
		return site.Done{}, problem.Refuse("on", "choose one of the list", "%q is none", on)
	}
	if text := r.Field("params"); text != "" {
		if err := json.Unmarshal([]byte(text), &in.Body.Params); err != nil {
			return site.Done{}, problem.Refuse("params", `write an object, such as {"width": 1280}`, "is not JSON: %s", err)
		}
	}
	made, err := workflow.Rerun.Call(r.Context(), w.Operations, in)
	if err != nil {
		return site.Done{}, err
	}
	n := 0
	for _, v := range made.Steps {
		if v.Reused {
			n++
		}
	}
	return site.Done{To: site.JobPath(made.ID), Say: ui.Say(ctx, "rerun.done", n, len(made.Steps))}, nil
}

func retriedJob(r *site.Request, out work.RetryJobOutput) site.Done {
	return site.Done{
		To:  "/jobs/" + url.PathEscape(r.PathValue("job")),
		Say: ui.Count(r.Context(), "said.job.retried", out.Tasks),
	}
}
