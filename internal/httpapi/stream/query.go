package stream

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
)

// query is what a client asks for.
type query struct {
	after  weir.Cursor
	filter timeline.Filter
	fold   *fold
}

// known are the parameters. Kind and type may be repeated.
var known = []string{"after", "fold", "job", "kind", "task", "type"}

// mostValues limits the kinds and types of one stream.
const mostValues = 50

func parse(r *http.Request) (q query, err error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, problem.Refuse("query", "escape what is not a letter or digit", "%v", err)
	}
	for name, list := range values {
		switch repeats := name == "kind" || name == "type"; {
		case !slices.Contains(known, name):
			return q, problem.Refuse(name, "there are after, fold, job, kind, task and type", "no such parameter")
		case !repeats && len(list) > 1:
			return q, problem.Refuse(name, "give it once", "it is there %d times", len(list))
		case len(list) > mostValues:
			return q, problem.Refuse(name, "leave it out for all", "at most %d values", mostValues)
		}
	}
	if q.filter.Job, err = id(values, "job"); err != nil {
		return q, err
	}
	if q.filter.Task, err = id(values, "task"); err != nil {
		return q, err
	}
	q.filter.Kinds, q.filter.Types = present(values["kind"]), present(values["type"])
	switch values.Get("fold") {
	case "":
	case "state":
		q.fold = &fold{states: map[weir.ID]weir.State{}}
	default:
		return q, problem.Refuse("fold", "leave it out for every event", "only state can be folded")
	}
	q.after = weir.Cursor(values.Get("after"))
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		q.after = weir.Cursor(last)
	}
	return q, nil
}

// everything reports whether the query filters nothing.
func (q *query) everything() bool {
	f := &q.filter
	return q.fold == nil && f.Job.IsZero() && f.Task.IsZero() && len(f.Kinds) == 0 && len(f.Types) == 0
}

func id(values url.Values, name string) (weir.ID, error) {
	text := values.Get(name)
	if text == "" {
		return weir.ID{}, nil
	}
	id, err := weir.ParseID(text)
	if err != nil {
		return id, problem.Refuse(name, "give the whole id, such as 01890a5d-ac96-774b-bcce-b302099a8057", "%.60q is not an id", text)
	}
	return id, nil
}

// present leaves out empty values, as a form sends them.
func present(list []string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}
