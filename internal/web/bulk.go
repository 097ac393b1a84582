package web

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/problem"
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
	action, label, icon string
	// states are those in which it can work; to others it does nothing.
	states []string
	// override says that it takes the right to override.
	override, danger bool
	// text names the consequence.
	text string
}

// all is what the button above a list says.
func (d deed) all() string {
	if d.action == bulk.Priority {
		return "Set priority"
	}
	return d.label + " all"
}

var (
	taskDeeds = []deed{
		{action: bulk.Retry, label: "Retry", icon: "retry", states: []string{"failed", "canceled", "skipped"}, text: "They run again, and with them what was skipped because of them."},
		{action: bulk.Release, label: "Release", icon: "play", states: []string{"pending"}, text: "Those that are held go on to their next gate. Others are left alone."},
		{action: bulk.Hold, label: "Hold", icon: "pause", states: []string{"pending", "available"}, text: "They do not start until somebody releases them."},
		{action: bulk.Priority, label: "Priority", icon: "up", states: []string{"pending", "available"}, text: "Of the tasks of a service, those with the higher priority start first."},
		{action: bulk.Skip, label: "Skip", icon: "skipped", states: []string{"pending", "available", "failed"}, override: true, danger: true, text: "They do not run. What needs them goes on as if they were done."},
		{action: bulk.Cancel, label: "Cancel", icon: "stop", states: []string{"pending", "available", "running"}, danger: true, text: "Those that wait end now; the workers of those that run are asked to stop them. What needs them is skipped."},
	}
	jobDeeds = []deed{
		{action: bulk.Retry, label: "Retry", icon: "retry", states: []string{"failed", "canceled"}, text: "What failed or was canceled in them runs again. What is done stays done."},
		{action: bulk.Cancel, label: "Cancel", icon: "stop", states: []string{"queued", "running"}, danger: true, text: "Tasks that wait end now; the workers of those that run are asked to stop them. What is done stays done."},
	}
)

// bar is what the reader may do to all that a list found. Lists that nobody
// narrowed have none, and neither has one that is empty.
// The rest of the filter, beside what the address says, is in with.
func (w *Web) bar(r *Request, kind string, deeds []deed, state string, with url.Values, count func(most int) (int, bool, error)) (b bulkBar, err error) {
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
		b.acts = append(b.acts, act{Label: d.all(), Icon: d.icon, Href: "/bulk/" + kind + "s/" + d.action + "?" + query.Encode(), Ask: true, Danger: d.danger})
	}
	if len(b.acts) == 0 {
		return bulkBar{}, nil
	}
	n, more, err := count(barCount)
	if err != nil || n == 0 && !more {
		return bulkBar{}, err
	}
	b.found = countWords(n, more) + " match"
	if n == 1 && !more {
		b.found += "es"
	}
	return b, nil
}

// countWords is a count that may have ended early.
func countWords(n int, more bool) string {
	if more {
		return ui.Number(n) + " or more"
	}
	return ui.Number(n)
}

// bulkOf is the deed of the path.
func bulkOf(r *Request, deeds []deed) (deed, error) {
	action := r.PathValue("action")
	i := slices.IndexFunc(deeds, func(d deed) bool { return d.action == action })
	if i < 0 {
		return deed{}, problem.New(problem.NotFound, "check the address", "%q cannot be done to many", action)
	}
	return deeds[i], nil
}

// changer does an order to what the address asks for.
type changer func(bulk.Order) (bulk.Result, error)

func (w *Web) bulkTasks(r *Request) (changer, deed, error) {
	d, err := bulkOf(r, taskDeeds)
	if err == nil && d.override {
		err = r.allow(auth.Override, "task", false)
	}
	if err != nil {
		return nil, d, err
	}
	f, err := w.taskFilter(r)
	return func(o bulk.Order) (bulk.Result, error) {
		out, err := work.ChangeTasks.Call(r.Context(), w.config.Operations, work.OrderTasks(work.TasksOf(f), o))
		return out.Result, err
	}, d, err
}

func (w *Web) bulkJobs(r *Request) (changer, deed, error) {
	d, err := bulkOf(r, jobDeeds)
	if err != nil {
		return nil, d, err
	}
	f, err := jobFilter(r)
	return func(o bulk.Order) (bulk.Result, error) {
		out, err := work.ChangeJobs.Call(r.Context(), w.config.Operations, work.OrderJobs(work.JobsOf(f), o))
		return out.Result, err
	}, d, err
}

// askBulk names how many there are and shows some of them.
func askBulk(kind string, open func(*Request) (changer, deed, error)) func(*Request) (ui.Question, error) {
	return func(r *Request) (ui.Question, error) {
		change, d, err := open(r)
		if err != nil {
			return ui.Question{}, err
		}
		found, err := change(bulk.Order{Action: d.action, DryRun: true})
		if err != nil {
			return ui.Question{}, err
		}
		n := thingWords(kind, found)
		q := ui.Question{
			Title: d.label + " " + n + "?", Button: d.label + " " + n, Text: d.text, Danger: d.danger, Back: backTo(r, "/"+kind+"s"),
			More: bulkSample(kind, r.URL.Query(), found), Fields: reasonField("It goes to the timeline.", d.action != bulk.Skip),
		}
		switch d.action {
		case bulk.Priority:
			q.Title, q.Button = "Set the priority of "+n, "Set the priority of "+n
			q.Fields = []ui.Field{{Name: "priority", Label: "Priority", Type: "number", Value: "0", Hint: "From -100 to 100.", Focus: true}}
		case bulk.Retry, bulk.Release:
			if kind == "task" { // nobody asks for a reason when it is one
				q.Fields = nil
			}
		}
		return q, nil
	}
}

func thingWords(kind string, found bulk.Result) string {
	if found.Matched == 1 && found.Next == "" {
		return "1 " + kind
	}
	return countWords(found.Matched, found.Next != "") + " " + kind + "s"
}

// doBulk does it until nothing is left, or this request has done enough: then it
// says so, and the same button does the rest.
func doBulk(kind string, open func(*Request) (changer, deed, error)) func(*Request) (Done, error) {
	return func(r *Request) (Done, error) {
		change, d, err := open(r)
		if err != nil {
			return Done{}, err
		}
		order := bulk.Order{Action: d.action, Decision: r.decision(), Limit: bulk.LimitMost}
		if d.action == bulk.Priority {
			if order.Priority, err = strconv.Atoi(r.Field("priority")); err != nil {
				return Done{}, problem.Refuse("priority", "give a number from -100 to 100", "%q is not a number", r.Field("priority"))
			}
		}
		result, err := change(order)
		if err != nil {
			return Done{}, err
		}
		return Done{To: backTo(r, "/"+kind+"s"), Say: bulkSaid(kind, result)}, nil
	}
}

func bulkSaid(kind string, r bulk.Result) string {
	say := []string{ui.Plural(r.Changed, kind+" changed", kind+"s changed")}
	if r.Moved > 0 {
		say = append(say, ui.Number(r.Moved)+" had moved on by themselves")
	}
	if n := len(r.Refused); n > 0 {
		say = append(say, fmt.Sprintf("%s refused, the first because %s", ui.Number(n), ui.Cut(plain(r.Refused[0].Why), 160)))
	}
	text := strings.Join(say, "; ") + "."
	if r.Next != "" {
		text += " There are more: do it again for the rest."
	}
	return text
}

// filterWords are the parts of a filter in an address.
func filterWords(query url.Values) []string {
	var out []string
	for _, name := range []string{"state", "service", "gate", "pool", "lane", "key", "node", "job", "kind", "name", "workflow", "schedule", "of", "since"} {
		if v := strings.TrimSpace(query.Get(name)); v != "" {
			out = append(out, name+" "+ui.Cut(plain(v), 60))
		}
	}
	return out
}
