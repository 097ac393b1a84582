package workpages

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// barCount is up to how many a list counts what matches, each time it is shown.
const barCount = 1000

// bulkBar is above a list that is filtered: what can be done to all that match.
type bulkBar struct {
	// found is how many, in words; empty: there is no bar.
	found string
	acts  []act
}

// deed is how a person does something to many.
type deed struct {
	action, icon string
	// states are those in which it can work; to others it does nothing.
	states []string
	// override says that it takes the right to override.
	override, danger bool
	// text is the key of what names the consequence.
	text string
}

// all is what the button above a list says.
func (d deed) all(ctx context.Context) string {
	if d.action == bulk.Priority {
		return ui.Say(ctx, "bulk.setpriority")
	}
	return ui.Say(ctx, "bulk.all."+d.action)
}

var (
	taskDeeds = []deed{
		{action: bulk.Retry, icon: "retry", states: []string{"failed", "canceled", "skipped"}, text: "bulk.text.task.retry"},
		{action: bulk.Release, icon: "play", states: []string{"pending"}, text: "bulk.text.task.release"},
		{action: bulk.Hold, icon: "pause", states: []string{"pending", "available"}, text: "bulk.text.task.hold"},
		{action: bulk.Priority, icon: "up", states: []string{"pending", "available"}, text: "ask.task.priority.text"},
		{action: bulk.Skip, icon: "skipped", states: []string{"pending", "available", "failed"}, override: true, danger: true, text: "bulk.text.task.skip"},
		{action: bulk.Cancel, icon: "stop", states: []string{"pending", "available", "running"}, danger: true, text: "bulk.text.task.cancel"},
	}
	jobDeeds = []deed{
		{action: bulk.Retry, icon: "retry", states: []string{"failed", "canceled"}, text: "bulk.text.job.retry"},
		{action: bulk.Cancel, icon: "stop", states: []string{"queued", "running"}, danger: true, text: "bulk.text.job.cancel"},
	}
)

// bar is what the reader may do to all that a list found. Lists that nobody
// narrowed have none, and neither has one that is empty.
// The rest of the filter, beside what the address says, is in with.
func (w *pages) bar(r *site.Request, kind string, deeds []deed, state string, with url.Values, count func(most int) (int, bool, error)) (b bulkBar, err error) {
	ctx := r.Context()
	if !r.Can(auth.Command, kind) || len(filterWords(r.URL.Query())) == 0 {
		return b, nil
	}
	query := r.URL.Query()
	query.Del("after")
	query.Del("items")
	back := (&url.URL{Path: r.URL.Path, RawQuery: query.Encode()}).String()
	maps.Copy(query, with)
	query.Set("back", back)
	for _, d := range deeds {
		if state != "" && !slices.Contains(d.states, state) || d.override && !r.Can(auth.Override, kind) {
			continue
		}
		b.acts = append(b.acts, act{Label: d.all(ctx), Icon: d.icon, Href: "/bulk/" + kind + "s/" + d.action + "?" + query.Encode(), Ask: true, Danger: d.danger})
	}
	if len(b.acts) == 0 {
		return bulkBar{}, nil
	}
	n, more, err := count(barCount)
	if err != nil || n == 0 && !more {
		return bulkBar{}, err
	}
	b.found = ui.Say(r.Context(), "bulk.match", countWords(r.Context(), n, more))
	if n == 1 && !more {
		b.found = ui.Say(r.Context(), "bulk.match.one")
	}
	return b, nil
}

// countWords is a count that may have ended early.
func countWords(ctx context.Context, n int, more bool) string {
	if more {
		return ui.Say(ctx, "bulk.ormore", ui.Number(n))
	}
	return ui.Number(n)
}

// bulkOf is the deed of the path.
func bulkOf(r *site.Request, deeds []deed) (deed, error) {
	action := r.PathValue("action")
	i := slices.IndexFunc(deeds, func(d deed) bool { return d.action == action })
	if i < 0 {
		return deed{}, problem.New(problem.NotFound, "check the address", "%q cannot be done to many", action)
	}
	return deeds[i], nil
}

// changer does an order to what the address asks for.
type changer func(bulk.Order) (bulk.Result, error)

func (w *pages) bulkTasks(r *site.Request) (changer, deed, error) {
	d, err := bulkOf(r, taskDeeds)
	if err == nil && d.override {
		err = r.Allow(auth.Override, "task", false)
	}
	if err != nil {
		return nil, d, err
	}
	f, err := w.taskFilter(r)
	return func(o bulk.Order) (bulk.Result, error) {
		out, err := work.ChangeTasks.Call(r.Context(), w.Operations, work.OrderTasks(work.TasksOf(f), o))
		return out.Result, err
	}, d, err
}

func (w *pages) bulkJobs(r *site.Request) (changer, deed, error) {
	d, err := bulkOf(r, jobDeeds)
	if err != nil {
		return nil, d, err
	}
	f, err := jobFilter(r)
	return func(o bulk.Order) (bulk.Result, error) {
		out, err := work.ChangeJobs.Call(r.Context(), w.Operations, work.OrderJobs(work.JobsOf(f), o))
		return out.Result, err
	}, d, err
}

// askBulk names how many there are and shows some of them.
func askBulk(kind string, open func(*site.Request) (changer, deed, error)) func(*site.Request) (ui.Question, error) {
	return func(r *site.Request) (ui.Question, error) {
		ctx := r.Context()
		change, d, err := open(r)
		if err != nil {
			return ui.Question{}, err
		}
		found, err := change(bulk.Order{Action: d.action, DryRun: true})
		if err != nil {
			return ui.Question{}, err
		}
		n := thingWords(ctx, kind, found)
		q := ui.Question{
			Title: ui.Say(ctx, "bulk.ask."+d.action, n), Button: ui.Say(ctx, "bulk.do."+d.action, n), Text: ui.Say(ctx, d.text),
			Danger: d.danger, Back: backTo(r, "/"+kind+"s"),
			More: bulkSample(kind, r.URL.Query(), found), Fields: site.ReasonField(ctx, ui.Say(ctx, "ask.timeline"),
				d.action != bulk.Skip),
		}
		switch d.action {
		case bulk.Priority:
			q.Title = q.Button
			q.Fields = []ui.Field{{Name: "priority", Label: ui.Say(ctx, "word.priority"), Type: "number", Value: "0", Hint: ui.Say(ctx, "ask.task.priority.hint"), Focus: true}}
		case bulk.Retry, bulk.Release:
			if kind == "task" { // nobody asks for a reason when it is one
				q.Fields = nil
			}
		}
		return q, nil
	}
}

func thingWords(ctx context.Context, kind string, found bulk.Result) string {
	if found.Next == "" {
		return ui.Count(ctx, "bulk.n."+kind, found.Matched)
	}
	return ui.Say(ctx, "bulk.more."+kind, ui.Number(found.Matched))
}

// doBulk does it until nothing is left, or this request has done enough: then it
// says so, and the same button does the rest.
func doBulk(kind string, open func(*site.Request) (changer, deed, error)) func(*site.Request) (site.Done, error) {
	return func(r *site.Request) (site.Done, error) {
		change, d, err := open(r)
		if err != nil {
			return site.Done{}, err
		}
		order := bulk.Order{Action: d.action, Decision: r.Decision(), Limit: bulk.LimitMost}
		if d.action == bulk.Priority {
			if order.Priority, err = strconv.Atoi(r.Field("priority")); err != nil {
				return site.Done{}, problem.Refuse("priority", "give a number from -100 to 100", "%q is not a number", r.Field("priority"))
			}
		}
		result, err := change(order)
		if err != nil {
			return site.Done{}, err
		}
		return site.Done{To: backTo(r, "/"+kind+"s"), Say: bulkSaid(r.Context(), kind, result)}, nil
	}
}

func bulkSaid(ctx context.Context, kind string, r bulk.Result) string {
	parts := []string{ui.Count(ctx, "bulk.changed."+kind, r.Changed)}
	if r.Moved > 0 {
		parts = append(parts, ui.Say(ctx, "bulk.moved", ui.Number(r.Moved)))
	}
	if n := len(r.Refused); n > 0 {
		parts = append(parts, ui.Say(ctx, "bulk.refused", ui.Number(n), ui.Cut(ui.Line(r.Refused[0].Why), 160)))
	}
	text := strings.Join(parts, "; ") + "."
	if r.Next != "" {
		text += " " + ui.Say(ctx, "bulk.again")
	}
	return text
}

// filterWords are the parts of a filter in an address.
func filterWords(query url.Values) []string {
	var out []string
	for _, name := range []string{"state", "service", "gate", "pool", "lane", "key", "node", "job", "kind", "name", "workflow", "schedule", "of", "since"} {
		if v := strings.TrimSpace(query.Get(name)); v != "" {
			out = append(out, name+" "+ui.Cut(ui.Line(v), 60))
		}
	}
	return out
}
