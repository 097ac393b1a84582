package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
)

// List is what a command shows: how to read its rows, and what to follow to
// hear that they may have changed.
type List[T any] struct {
	// Read also says how to show what it found: an empty list may have a reason.
	Read   func(ctx context.Context) ([]T, Listing[T], error)
	Follow weir.Filter
	// Page is how much of the list is shown; after names the last row of a page.
	Page  view.Page
	After func(T) string
}

// ListCommand is a verb that shows a list, once or until somebody has enough.
func ListCommand[T any](e *Env, c *cobra.Command, open func(ctx context.Context, s *app.Session, args []string) (List[T], error)) *cobra.Command {
	var watch bool
	if c.Use == "" {
		c.Use, c.Args = "list", e.NoArgs
	}
	if c.Name() == "list" {
		c.Aliases = []string{"ls"}
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "keep it up to date until q or Ctrl-C; off a terminal: print each row that is new or changed")
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		l, err := open(ctx, s, args)
		if err != nil {
			return err
		}
		o := e.Output()
		if watch {
			return watchList(ctx, o, s, l)
		}
		rows, listing, err := l.Read(ctx)
		if err != nil {
			return err
		}
		if err := listing.Print(o, rows); err != nil {
			return err
		}
		if o.Table() && len(rows) > 0 && len(rows) == l.Page.Limit && l.After != nil {
			o.Say("More with: --after %s", Clean(l.After(rows[len(rows)-1])))
		}
		return nil
	})
	return c
}

// PlainList is a list by name whose listing never changes.
func PlainList[T any](page view.Page, l Listing[T], read func(ctx context.Context, page view.Page) ([]T, error)) List[T] {
	return List[T]{Page: page, After: l.Name, Read: func(ctx context.Context) ([]T, Listing[T], error) {
		rows, err := read(ctx, page)
		return rows, l, err
	}}
}
