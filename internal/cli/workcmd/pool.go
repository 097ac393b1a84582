package workcmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// Pool is the command weir pool.
func Pool(e *command.Env) *cobra.Command {
	return e.Noun("pool", "Limits on how many tasks run at once, or in a time", []string{"pools"},
		command.Lists(e, work.ListPools, &cobra.Command{Short: "List pools and what uses them"}, poolListing), poolShow(e), poolSet(e),
		command.Told(e, work.NotePool, &cobra.Command{}, "Pool %s has its note."), poolDrop(e))
}

var poolListing = command.Listing[work.Pool]{
	Name:  func(p work.Pool) string { return p.Name },
	Empty: []string{"There are no pools.", "Make one with: weir pool set NAME --size 10"},
	Columns: []command.Column[work.Pool]{
		{Title: "NAME", Value: func(_ *command.Output, p work.Pool) string { return p.Name }},
		{Title: "SIZE", Value: func(_ *command.Output, p work.Pool) string { return poolSize(p) }},
		{Title: "RATE", Value: func(_ *command.Output, p work.Pool) string { return poolRate(p) }},
		{Title: "WAITING", Value: func(_ *command.Output, p work.Pool) string { return fmt.Sprint(p.Waiting) }},
		{Title: "AVAILABLE", Value: func(_ *command.Output, p work.Pool) string { return fmt.Sprint(p.Available) }},
		{Title: "RUNNING", Value: func(_ *command.Output, p work.Pool) string { return fmt.Sprint(p.Running) }},
		{Title: "CHANGED", Ages: true, Wide: true, Value: func(o *command.Output, p work.Pool) string { return o.Ago(p.ResizedAt) }},
		{Title: "NOTE", Value: func(_ *command.Output, p work.Pool) string { return p.Note }},
	},
}

// poolPage is everything about a pool.
type poolPage struct {
	work.Pool
	// Holders have a place, or are about to take it; Next wait for one.
	Holders []view.Task `json:"holders"`
	Next    []view.Task `json:"next"`
}

// poolShown is how many tasks of each sort a pool's page shows.
const poolShown = 20

func poolShow(e *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Show a pool, who has its places and who waits for one"}
	return command.Shows(e, c, readPool, func(p poolPage) string { return p.Name }, printPool)
}

func printPool(o *command.Output, p poolPage) error {
	if err := o.Details([]command.Field{
		{"Pool", p.Name},
		{"Size", poolSize(p.Pool)},
		{"Rate", poolRate(p.Pool)},
		{"Note", p.Note},
		{"Waiting", fmt.Sprint(p.Waiting)},
		{"Available", fmt.Sprint(p.Available)},
		{"Running", fmt.Sprint(p.Running)},
		{"Changed", o.Both(p.ResizedAt)},
	}); err != nil {
		return err
	}
	shown := TaskListing(&Served{})
	if err := shown.Below(o, "Have a place", p.Holders); err != nil {
		return err
	}
	return shown.Below(o, "Wait for one", p.Next)
}

func readPool(ctx context.Context, s *app.Session, name string) (page poolPage, err error) {
	if page.Pool, err = work.ShowPool.Call(ctx, s.Operations, &work.NamedPool{Pool: name}); err != nil {
		return page, err
	}
	page.Holders, page.Next = []view.Task{}, []view.Task{}
	for _, part := range []struct {
		state weir.State
		count int
		into  *[]view.Task
	}{{weir.Running, page.Running, &page.Holders}, {weir.Available, page.Available, &page.Holders}, {weir.Pending, page.Waiting, &page.Next}} {
		if part.count == 0 {
			continue
		}
		tasks, err := ListTasks(ctx, s, work.TaskFilter{State: part.state, Pool: name}, view.Page{Limit: poolShown})
		if err != nil {
			return page, err
		}
		*part.into = append(*part.into, tasks...)
	}
	return page, nil
}

func poolSize(p work.Pool) string {
	if p.Size == nil {
		return ""
	}
	return fmt.Sprint(*p.Size)
}

func poolRate(p work.Pool) string {
	if p.Rate == nil {
		return ""
	}
	return fmt.Sprintf("%d/%s", *p.Rate, command.Every(p.Seconds))
}

func poolSet(e *command.Env) *cobra.Command {
	var size int
	var rate, note string
	c := &cobra.Command{
		Use: "set NAME", Short: "Make a pool, or change its limits", Args: e.Args("NAME"),
		Example: "  weir pool set gpu --size 4\n  weir pool set mail --rate 10/1m\n  weir pool set gpu --size 0    # stops what is not running",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		in := work.PuttingPool{NamedPool: work.NamedPool{Pool: args[0]}, Body: work.PoolSpec{Note: note}}
		if c.Flags().Changed("size") {
			in.Body.Size = &size
		}
		var err error
		if in.Body.Rate, in.Body.Per, err = readRate(rate); err != nil {
			return err
		}
		if in.Body.Size == nil && in.Body.Rate == nil {
			return command.Invalid("give --size 10, --rate 10/1m, or both", "a pool needs a limit")
		}
		if _, err := op.Over(ctx, s.Operations, work.PutPool, &in, &in.Matched); err != nil {
			return err
		}
		return e.Output().Did(in.Pool, command.Bare{Name: in.Pool}, "Pool %s is set.", in.Pool)
	})
	c.Flags().IntVar(&size, "size", 0, "at most so many tasks at once")
	c.Flags().StringVar(&rate, "rate", "", "at most so many in a time, such as `10/1m`")
	c.Flags().StringVar(&note, "note", "", "what it is for")
	return c
}

// readRate reads 10/1m.
func readRate(s string) (*int, op.Period, error) {
	if s == "" {
		return nil, 0, nil
	}
	count, per, _ := strings.Cut(s, "/")
	n, err := strconv.Atoi(count)
	if per != "" && (per[0] < '0' || per[0] > '9') {
		per = "1" + per // 10/m
	}
	d, bad := app.ParseDuration(per)
	if err != nil || bad != nil || n < 1 || d == app.Forever {
		return nil, 0, command.Invalid("write it so: --rate 10/1m", "--rate: %q is not a number per time", s)
	}
	return &n, op.Period(d), nil
}

func poolDrop(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Aliases: []string{"drop", "rm"},
		Long: `Delete a pool. It is refused while tasks use it: let them end first.

With --force it is deleted all the same. Nothing bounds its tasks then: all that
waited for a place may start at once. Later tasks that name it are refused.`,
	}
	return command.Told(e, work.DropPool, c, "Pool %s is gone.")
}

// PoolNames are those of pools.
var PoolNames = command.Listed(work.ListPools, func(p work.Pool) (string, string) { return p.Name, p.Note })
