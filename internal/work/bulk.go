package work

import (
	"context"
	"net/http"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// BulkOrder is the common part of an order to many objects.
type BulkOrder struct {
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
	DryRun bool   `json:"dry_run,omitempty" doc:"Count and show some; change nothing."`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"1000" doc:"How many at most in this call. Default: 500."`
	After  string `json:"after,omitempty" maxLength:"64" doc:"The next of the call before."`
}

func (o BulkOrder) order(who auth.Subject, action string) bulk.Order {
	d := weir.Decision{By: who.By(), Reason: o.Reason, Names: who.Names()}
	return bulk.Order{Action: action, Decision: d, Limit: o.Limit, After: o.After, DryRun: o.DryRun}
}

// BulkOutput is the result of an order.
type BulkOutput struct {
	bulk.Result
	More bool `json:"more" doc:"There may be more: send the call again with next as after."`
}

func became(r bulk.Result, err error) (BulkOutput, error) { return BulkOutput{r, r.Next != ""}, err }

// ChangingTasks is an order to many tasks.
type ChangingTasks struct {
	Body struct {
		BulkOrder
		Action   string     `json:"action" enum:"cancel,retry,skip,hold,release,priority"`
		Filter   TaskFilter `json:"filter" doc:"Which tasks. It must not be empty."`
		Priority *int       `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"The new one, for the action priority."`
	}
}

// ChangingJobs is an order to many jobs.
type ChangingJobs struct {
	Body struct {
		BulkOrder
		Action string    `json:"action" enum:"cancel,retry"`
		Filter JobFilter `json:"filter" doc:"Which jobs. It must not be empty."`
	}
}

// OrderTasks returns an order to tasks. Its author is known from the call.
func OrderTasks(f TaskFilter, o bulk.Order) *ChangingTasks {
	in := new(ChangingTasks)
	in.Body.BulkOrder, in.Body.Action, in.Body.Filter = BulkOrder{o.Reason, o.DryRun, o.Limit, o.After}, o.Action, f
	if o.Action == bulk.Priority {
		in.Body.Priority = &o.Priority
	}
	return in
}

// OrderJobs returns an order to jobs.
func OrderJobs(f JobFilter, o bulk.Order) *ChangingJobs {
	in := new(ChangingJobs)
	in.Body.BulkOrder, in.Body.Action, in.Body.Filter = BulkOrder{o.Reason, o.DryRun, o.Limit, o.After}, o.Action, f
	return in
}

// Operations on all objects that match a filter.
var (
	ChangeTasks = op.New(on("task", http.MethodPost, "bulk", "/tasks/bulk", auth.Command,
		"Cancel, retry, hold, release or change the priority of all tasks of a filter; skip them, for who may override"),
		func(ctx context.Context, s *Store, who auth.Subject, in *ChangingTasks) (out BulkOutput, err error) {
			b := &in.Body
			// Skipping lets other tasks go on, so it takes a higher right, one by one or
			// all at once.
			if b.Action == bulk.Skip {
				if err := auth.Allow(who, SkipTask.Right, auth.Object{Kind: "task"}); err != nil {
					return out, err
				}
			}
			order := b.order(who, b.Action)
			switch {
			case b.Priority != nil:
				order.Priority = *b.Priority
			case b.Action == bulk.Priority:
				return out, problem.Refuse("priority", "give a number from -100 to 100", "is missing")
			}
			f, err := b.Filter.read(ctx, s)
			if err != nil {
				return out, err
			}
			return became(s.Bulk.ChangeTasks(ctx, f, order))
		})
	ChangeJobs = op.New(on("job", http.MethodPost, "bulk", "/jobs/bulk", auth.Command, "Cancel or retry all jobs of a filter"),
		func(ctx context.Context, s *Store, who auth.Subject, in *ChangingJobs) (out BulkOutput, err error) {
			f, err := in.Body.Filter.read(ctx, s)
			if err != nil {
				return out, err
			}
			return became(s.Bulk.ChangeJobs(ctx, f, in.Body.order(who, in.Body.Action)))
		})
)
