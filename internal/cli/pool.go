package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

func (e *env) pool() *cobra.Command {
	return e.noun("pool", "Limits on how many tasks run at once, or in a time", []string{"pools"},
		lists(e, work.ListPools, &cobra.Command{Short: "List pools and what uses them"}, poolListing), e.poolShow(), e.poolSet(), e.poolDrop())
}

var poolListing = listing[work.Pool]{
	name:  func(p work.Pool) string { return p.Name },
	empty: []string{"There are no pools.", "Make one with: weir pool set NAME --size 10"},
	columns: []column[work.Pool]{
		{title: "NAME", value: func(_ *output, p work.Pool) string { return p.Name }},
		{title: "SIZE", value: func(_ *output, p work.Pool) string { return poolSize(p) }},
		{title: "RATE", value: func(_ *output, p work.Pool) string { return poolRate(p) }},
		{title: "WAITING", value: func(_ *output, p work.Pool) string { return fmt.Sprint(p.Waiting) }},
		{title: "AVAILABLE", value: func(_ *output, p work.Pool) string { return fmt.Sprint(p.Available) }},
		{title: "RUNNING", value: func(_ *output, p work.Pool) string { return fmt.Sprint(p.Running) }},
		{title: "CHANGED", ages: true, wide: true, value: func(o *output, p work.Pool) string { return o.ago(p.ResizedAt) }},
		{title: "NOTE", value: func(_ *output, p work.Pool) string { return p.Note }},
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

func (e *env) poolShow() *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Show a pool, who has its places and who waits for one"}
	return shows(e, c, readPool, func(p poolPage) string { return p.Name }, printPool)
}

func printPool(o *output, p poolPage) error {
	if err := o.details([]field{
		{"Pool", p.Name},
		{"Size", poolSize(p.Pool)},
		{"Rate", poolRate(p.Pool)},
		{"Note", p.Note},
		{"Waiting", fmt.Sprint(p.Waiting)},
		{"Available", fmt.Sprint(p.Available)},
		{"Running", fmt.Sprint(p.Running)},
		{"Changed", o.both(p.ResizedAt)},
	}); err != nil {
		return err
	}
	shown := taskListing(&served{})
	if err := shown.below(o, "Have a place", p.Holders); err != nil {
		return err
	}
	return shown.below(o, "Wait for one", p.Next)
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
		tasks, err := listTasks(ctx, s, work.TaskFilter{State: part.state, Pool: name}, view.Page{Limit: poolShown})
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
	return fmt.Sprintf("%d/%s", *p.Rate, every(p.Seconds))
}

func (e *env) poolSet() *cobra.Command {
	var size int
	var rate, note string
	c := &cobra.Command{
		Use: "set NAME", Short: "Make a pool, or change its limits", Args: e.args("NAME"),
		Example: "  weir pool set gpu --size 4\n  weir pool set mail --rate 10/1m\n  weir pool set gpu --size 0    # stops what is not running",
	}
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		in := work.PuttingPool{NamedPool: work.NamedPool{Pool: args[0]}, Body: work.PoolSpec{Note: note}}
		if c.Flags().Changed("size") {
			in.Body.Size = &size
		}
		var err error
		if in.Body.Rate, in.Body.Per, err = readRate(rate); err != nil {
			return err
		}
		if in.Body.Size == nil && in.Body.Rate == nil {
			return invalid("give --size 10, --rate 10/1m, or both", "a pool needs a limit")
		}
		if _, err := op.Over(ctx, s.Operations, work.PutPool, &in, &in.Matched); err != nil {
			return err
		}
		return e.output().did(in.Pool, bare{in.Pool}, "Pool %s is set.", in.Pool)
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
		return nil, 0, invalid("write it so: --rate 10/1m", "--rate: %q is not a number per time", s)
	}
	return &n, op.Period(d), nil
}

func (e *env) poolDrop() *cobra.Command {
	c := &cobra.Command{
		Aliases: []string{"drop", "rm"},
		Long: `Delete a pool. It is refused while tasks use it: let them end first.

With --force it is deleted all the same. Nothing bounds its tasks then: all that
waited for a place may start at once. Later tasks that name it are refused.`,
	}
	return operation(e, work.DropPool, c, func(_ context.Context, _ *app.Session, in *work.DroppingPool, _ op.Nothing) error {
		return e.output().did(in.Pool, bare{in.Pool}, "Pool %s is gone.", in.Pool)
	})
}
