package site

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

// PerPage is how many rows a list shows.
const PerPage = 50

// NamesPage asks for one row more than is shown, to know whether there is a next
// page.
func NamesPage(r *Request) view.Page {
	return view.Page{Limit: PerPage + 1, After: r.Query("after")}
}

// NamesPaged cuts a list by name to the page, and makes the links that lead on.
func NamesPaged[T any](r *Request, rows []T, name func(T) string) (page []T, newest, older string) {
	next := ""
	if len(rows) > PerPage {
		rows = rows[:PerPage]
		next = name(rows[PerPage-1])
	}
	newest, older = Paging(r, next)
	return rows, newest, older
}

// Paging are the links to the beginning of a list and to its next page.
func Paging(r *Request, next string) (newest, older string) {
	if r.Query("after") != "" {
		newest = ui.With(r.URL, "after", "")
	}
	if next != "" {
		older = ui.With(r.URL, "after", next)
	}
	return newest, older
}

// Chip is a choice of a filter that is one click away.
type Chip struct {
	Label, Href string
	Current     bool
}

// Chips are the choices of a parameter of the address, the first one: all.
func Chips(r *Request, name, prefix string, words []string, value string) []Chip {
	ctx := r.Context()
	out := []Chip{{Label: ui.Say(ctx, "fleet.all"), Href: ui.With(r.URL, name, "", "after", ""), Current: value == ""}}
	for _, word := range words {
		out = append(out, Chip{Label: ui.Code(ctx, prefix, word), Href: ui.With(r.URL, name, word, "after", ""), Current: value == word})
	}
	return out
}

// Gone says that what was looked for is not there.
func Gone(err error) bool { return err != nil && problem.Explain(err).Kind == problem.NotFound }

// EmptyJSON says that JSON holds nothing worth a look.
func EmptyJSON(data json.RawMessage) bool {
	data = bytes.TrimSpace(data)
	return len(data) == 0 || string(data) == "{}" || string(data) == "null"
}

// TimeOr is a time that may be missing, or zero.
func TimeOr(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// StepsShown is how many steps the page of a workflow draws and lists.
const StepsShown = 300
