package node

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

const (
	// pollFirst is how soon a claim that found nothing looks again, because a hint may
	// have been under way.
	pollFirst = 50 * time.Millisecond
	// pollDeaf is the longest time between two looks while no hints arrive, and
	// pollHearing while they do.
	pollDeaf, pollHearing = time.Second, 15 * time.Second
	// claimMost is the timeout of one look.
	claimMost = 10 * time.Second
)

// Claim leases tasks to the node's agent. If there are none it waits for some, for as
// long as the request says.
func (d *Desk) Claim(ctx context.Context, r ClaimRequest) (Claimed, error) {
	// The claim subscribes before the first look, so that no hint is missed between look
	// and wait.
	w := d.hints.wait(r.Services, r.Held)
	defer w.leave()
	asked := time.Now()
	end := asked.Add(r.Wait)
	for pause := pollFirst; ; pause = min(2*pause, d.pollMost()) {
		if r.N > 0 && len(r.Services) > 0 {
			waited := time.Since(asked)
			tasks, err := d.claim(ctx, r)
			if err != nil || len(tasks) > 0 {
				return Claimed{Tasks: tasks, Waited: waited}, err
			}
		}
		if w.looks() {
			return Claimed{Look: true}, nil
		}
		left := time.Until(end)
		if left <= 0 || !loop.Wait(ctx, min(pause, left), w.c) {
			return Claimed{}, ctx.Err()
		}
		if d.hints.Hearing() && pause >= pollDeaf {
			pause = pollHearing
		}
	}
}

func (d *Desk) pollMost() time.Duration {
	if d.hints.Hearing() {
		return pollHearing
	}
	return pollDeaf
}

// claimColumns are the columns of weir.claim and weir.fleet_claim that [assignment]
// reads.
const claimColumns = `task, attempt, token::text, service, params, job, coalesce(key, ''), max_attempts, run, coalesce(trace, ''),
		greatest(extract(epoch from until - clock_timestamp()), 0)::float8, case when deadline is null then 0 else greatest(extract(epoch from deadline - clock_timestamp()), 0.001) end::float8,
		coalesce(extract(epoch from deadline - claimed_at), 0)::float8`

func (d *Desk) claim(ctx context.Context, r ClaimRequest) ([]Assignment, error) {
	id, err := weir.ParseID(r.ID)
	if err != nil {
		return nil, wrap("claim", err)
	}
	length := r.Lease
	if length <= 0 {
		length = leaseLength
	}
	// The statement ignores the caller's cancellation, because an aborted statement costs
	// the connection, and its leases a repeated claim.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimMost)
	defer cancel()
	if i := slices.Index(r.Services, Fleet); i >= 0 {
		// A worker has one last claim. So only one of the two parts of a claim returns
		// leases, and the same ID finds them again.
		tasks, err := d.claimDevices(ctx, id, room(r, i), length)
		if err != nil || len(tasks) > 0 {
			return tasks, err
		}
		if r = without(r, i); len(r.Services) == 0 {
			return nil, nil
		}
	}
	rows, err := d.pool.Query(ctx, `select `+claimColumns+`
		from weir.claim($1, $2, $3, weir.bound_slots($7, $2, $4, $3), $5, $6)`, d.worker, r.Services, r.N, r.Slots, id, length, d.node)
	if err != nil {
		return nil, wrap("claim", err)
	}
	tasks, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Assignment, error) { return assignment(row) })
	return tasks, wrap("claim", err)
}

// assignment reads a row of a claim, and the columns that follow its own.
func assignment(row pgx.CollectableRow, more ...any) (a Assignment, err error) {
	var lease, deadline, timeout float64
	err = row.Scan(append([]any{&a.Task, &a.Attempt, &a.Token, &a.Service, &a.Params, &a.Job, &a.Key, &a.MaxAttempts, &a.Run, &a.Trace, &lease, &deadline, &timeout}, more...)...)
	a.Lease, a.Deadline, a.Timeout = seconds(lease), seconds(deadline), seconds(timeout).Round(time.Millisecond)
	return a, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
