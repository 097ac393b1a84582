package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
)

// claimMost is the most tasks that one claim takes.
const claimMost = 100

// claimLoop claims until the agent stops and nothing runs, or until the server has not
// answered for too long.
func (a *Agent) claimLoop(ctx context.Context) error {
	id, failures := newID(), 0
	for {
		request, running := a.demand(id)
		if closed(a.drain) && running == 0 || closed(a.leave) {
			return nil
		}
		asked := uptime.Now()
		claimed, err := a.claim(ctx, request)
		switch {
		case err == nil:
			a.hear()
			failures = 0
			// The id changes only after an answer, because a repeated claim with the same
			// id returns the same leases.
			id = newID()
			// An answer never makes a lease longer than one that would begin now.
			a.begin(ctx, claimed.Tasks, min(asked+max(claimed.Waited, 0), uptime.Now()))
			if claimed.Look {
				a.lookAll.Store(true)
				signal(a.keeper.Look)
			}
			continue
		case interrupted(err):
			continue // the id stays, because an answer may have been lost on its way
		}
		failures++
		a.failed("claim", err)
		if revoked(err) {
			return err // this node gets no access again until an operator acts
		}
		if err := a.overdue(); err != nil {
			return err
		}
		loop.Wait(ctx, backoff(failures), a.leave)
	}
}

// claim asks for work until the request must change.
func (a *Agent) claim(ctx context.Context, r node.ClaimRequest) (node.Claimed, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Wait+a.config.Lease/2, errUnanswered)
	defer cancel()
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-a.kick:
			stop(errKicked)
		case <-a.leave:
			stop(errKicked)
		case <-over:
		}
	}()
	claimed, err := a.transport.Claim(inner, r)
	if err != nil && context.Cause(inner) != nil {
		err = context.Cause(inner)
	}
	return claimed, err
}

// demand returns a request for the work that there is room for.
func (a *Agent) demand(id string) (r node.ClaimRequest, running int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r = node.ClaimRequest{ID: id, Lease: a.config.Lease, Wait: a.config.Poll}
	used, now := map[string]int{}, uptime.Now()
	for _, at := range a.held {
		used[at.Service]++
		if at.cause == nil {
			r.Held = append(r.Held, at.Task)
		}
	}
	if a.orders.Mode != node.Active || closed(a.drain) {
		return r, len(a.held)
	}
	for _, service := range slices.Sorted(maps.Keys(a.config.Info.Capacity)) {
		if a.faults[service].rests(now) {
			continue // something is broken here that the work needs
		}
		slots := a.config.Info.Capacity[service]
		if told, ok := a.orders.Capacity[service]; ok {
			slots = told
		}
		if service == node.Fleet {
			if !a.survey.known {
				continue // the server does not know yet that this node is a PC
			}
			slots = cmp.Or(a.survey.slots, slots)
		}
		if free := slots - used[service]; free > 0 {
			r.Services = append(r.Services, service)
			r.Slots = append(r.Slots, free)
			r.N += free
		}
	}
	r.N = min(r.N, claimMost)
	return r, len(a.held)
}

// begin starts the claimed tasks. since is when they were taken, or earlier.
func (a *Agent) begin(ctx context.Context, tasks []node.Assignment, since time.Duration) {
	for _, task := range tasks {
		at := a.attempt(ctx, task, since)
		a.mu.Lock()
		if a.held[task.Holds()] != nil { // a repeated claim, whose first answer arrived after all
			a.mu.Unlock()
			continue
		}
		a.held[task.Holds()] = at
		delete(a.idle, task.Service)
		a.mu.Unlock()
		a.stats.claimed.Add(1)
		a.group.Go(func() { a.serve(at) })
	}
}

// release frees the slot of an ended attempt.
func (a *Agent) release(at *attempt) {
	a.mu.Lock()
	delete(a.held, at.Holds())
	last := true
	for _, other := range a.held {
		last = last && other.Service != at.Service
	}
	if last {
		a.idle[at.Service] = time.Now()
	}
	a.mu.Unlock()
	signal(a.kick)
}

// newID returns a random UUID.
func newID() string {
	var id weir.ID
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
