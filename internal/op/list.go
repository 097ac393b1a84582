package op

import (
	"context"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
)

// Paged selects a page of a list. The input of a list embeds it.
type Paged struct {
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many at most."`
	After string `query:"after" maxLength:"300" doc:"The next of the page before."`
}

// Page returns the page in the form that the store takes.
func (p Paged) Page() view.Page { return view.Page{Limit: p.Limit, After: p.After} }

func (p *Paged) paged() *Paged { return p }

// Page is a part of a list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty" doc:"Send it as after to get the next page; absent at the end. A page may be short before the end."`
}

// Onward is implemented by the input of a list whose next page is not always selected by
// "after".
type Onward interface {
	// Onward returns the parameter that takes the Next of the page before.
	Onward() string
}

// PageOf returns a page with the start of the next one; empty means that there is none.
func PageOf[T any](items []T, next string) Page[T] {
	if items == nil {
		items = []T{}
	}
	return Page[T]{items, next}
}

// List describes a list: do reads a page of it, and key names a row. The page after a full
// one begins behind the key of its last row.
func List[Store, In, Row any](o Operation, do func(ctx context.Context, store Store, who auth.Subject, in *In) ([]Row, error), key func(Row) string) *Op[Store, In, Page[Row]] {
	return New(o, func(ctx context.Context, store Store, who auth.Subject, in *In) (Page[Row], error) {
		rows, err := do(ctx, store, who, in)
		if err != nil {
			return Page[Row]{}, err
		}
		next := ""
		if bounds := PagedOf(in); len(rows) > 0 && len(rows) >= bounds.Page().Most() {
			next = key(rows[len(rows)-1])
		}
		return PageOf(rows, next), nil
	})
}

// PagedOf returns the page in the input of a list, or nil if it is no list.
func PagedOf(in any) *Paged {
	if p, ok := in.(interface{ paged() *Paged }); ok {
		return p.paged()
	}
	return nil
}

// Full reads a list until a page is full, because a page of the store may be short before the
// end.
func Full[Store, In, Row any](ctx context.Context, c Caller, o *Op[Store, In, Page[Row]], in In) ([]Row, error) {
	bounds := PagedOf(&in)
	all := []Row{}
	for want := bounds.Page().Most(); ; {
		bounds.Limit = want - len(all)
		page, err := o.Call(ctx, c, &in)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if bounds.After = page.Next; page.Next == "" || len(all) >= want {
			return all, nil
		}
	}
}

// Each reads a whole list, page by page.
func Each[Store, In, Row any](ctx context.Context, c Caller, o *Op[Store, In, Page[Row]], in In) ([]Row, error) {
	bounds := PagedOf(&in)
	bounds.Limit = 1000
	var all []Row
	for {
		page, err := o.Call(ctx, c, &in)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if bounds.After = page.Next; page.Next == "" {
			return all, nil
		}
	}
}
