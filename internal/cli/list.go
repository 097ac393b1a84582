package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
)

// list is what a command shows: how to read its rows, and what to follow to
// hear that they may have changed.
type list[T any] struct {
	// read also says how to show what it found: an empty list may have a reason.
	read   func(ctx context.Context) ([]T, listing[T], error)
	follow weir.Filter
	// page is how much of the list is shown; after names the last row of a page.
	page  view.Page
	after func(T) string
}

// listCommand is a verb that shows a list, once or until somebody has enough.
func listCommand[T any](e *env, c *cobra.Command, open func(ctx context.Context, s *app.Session, args []string) (list[T], error)) *cobra.Command {
	var watch bool
	if c.Use == "" {
		c.Use, c.Args = "list", e.noArgs
	}
	if c.Name() == "list" {
		c.Aliases = []string{"ls"}
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "keep it up to date until q or Ctrl-C; off a terminal: print each row that is new or changed")
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		l, err := open(ctx, s, args)
		if err != nil {
			return err
		}
		o := e.output()
		if watch {
			return watchList(ctx, o, s, l)
		}
		rows, listing, err := l.read(ctx)
		if err != nil {
			return err
		}
		if err := listing.print(o, rows); err != nil {
			return err
		}
		if o.table() && len(rows) > 0 && len(rows) == l.page.Limit && l.after != nil {
			o.say("More with: --after %s", clean(l.after(rows[len(rows)-1])))
		}
		return nil
	})
	return c
}

// plainList is a list by name whose listing never changes.
func plainList[T any](page view.Page, l listing[T], read func(ctx context.Context, page view.Page) ([]T, error)) list[T] {
	return list[T]{page: page, after: l.name, read: func(ctx context.Context) ([]T, listing[T], error) {
		rows, err := read(ctx, page)
		return rows, l, err
	}}
}
