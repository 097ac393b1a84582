package web

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

// perPage is how many rows a list shows.
const perPage = 50

// namesPage asks for one row more than is shown, to know whether there is a next
// page.
func namesPage(r *Request) view.Page {
	return view.Page{Limit: perPage + 1, After: r.Query("after")}
}

// namesPaged cuts a list by name to the page, and makes the links that lead on.
func namesPaged[T any](r *Request, rows []T, name func(T) string) (page []T, newest, older string) {
	next := ""
	if len(rows) > perPage {
		rows = rows[:perPage]
		next = name(rows[perPage-1])
	}
	newest, older = pages(r, next)
	return rows, newest, older
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

// chip is a choice of a filter that is one click away.
type chip struct {
	label, href string
	current     bool
}

// chips are the choices of a parameter of the address, the first one: all.
func chips(r *Request, name, prefix string, words []string, value string) []chip {
	ctx := r.Context()
	out := []chip{{label: ui.Say(ctx, "fleet.all"), href: ui.With(r.URL, name, "", "after", ""), current: value == ""}}
	for _, word := range words {
		out = append(out, chip{label: ui.Code(ctx, prefix, word), href: ui.With(r.URL, name, word, "after", ""), current: value == word})
	}
	return out
}

// gone says that what was looked for is not there.
func gone(err error) bool { return err != nil && problem.Explain(err).Kind == problem.NotFound }

// empty says that JSON holds nothing worth a look.
func empty(data json.RawMessage) bool {
	data = bytes.TrimSpace(data)
	return len(data) == 0 || string(data) == "{}" || string(data) == "null"
}

func timeOr(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
